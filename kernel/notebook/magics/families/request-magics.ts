import type { RequestOptions } from '../../../api/wire.js';
import { present } from '../../../present.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say } from '../output.js';
import { rowCount } from './setting-magics.js';

/** The magics about further request options, and about fetching in several requests. */
export const requestMagics: readonly Magic[] = [
  {
    name: 'request',
    usage:
      '%request [--nocache] [--option NAME=VALUE] [--order FIELD[:desc]] [--library ID] [--cursor CURSOR] [--include-cursor] [--cursor-field] [--clear]',
    options: [
      { name: 'nocache', summary: 'bypass the cache of the service' },
      {
        name: 'option',
        value: 'NAME=VALUE',
        repeats: true,
        summary: 'a member of `queryOptions`; VALUE is JSON or a string',
      },
      {
        name: 'order',
        value: 'FIELD[:desc]',
        repeats: true,
        summary: 'the order of rows if the query specifies none (`defaultOrder`)',
      },
      { name: 'library', value: 'ID', repeats: true, summary: 'a library that the query may use' },
      { name: 'cursor', value: 'CURSOR', summary: 'start after the row of this cursor; for one cell' },
      { name: 'include-cursor', summary: 'include the row of the cursor itself; for one cell' },
      { name: 'cursor-field', summary: 'add the field `_cursor`' },
      { name: 'clear', summary: 'reset all of these options' },
    ],
    summary: 'show or set further request options; `%%request` sets them for one cell',
    help: [
      '`%limit` sets the `defaultLimit` of a request, `%time` its range and `%param` its `variables`; this magic sets the remaining options of the API. Each call replaces all earlier options. `%show-query` and the metadata of the result show what was sent.',
      '',
      '- `%request --nocache` for a service that caches responses',
      '- `%%request --option caseSensitive=true --order status:desc`',
      '- `%%request --cursor 0aB…` continues after a row; `%fetch` pages on its own and takes no cursor',
      '',
      'The local service supports the order and cursors. It has no cache, and rejects libraries.',
    ].join('\n'),
    arity: [0, 0],
    effects: [],
    run: request,
  },
  {
    name: 'fetch',
    usage: '%fetch --all | %fetch --max N',
    options: [
      { name: 'all', summary: 'every row' },
      { name: 'max', value: 'N', summary: 'the first N rows' },
    ],
    summary: "fetch every row of the cell's queries, page by page, beyond the limit of one response",
    help: [
      'Works for queries that filter and transform the rows of one dataset, ordered by `_time`: `where`, `extend`, `project`, `parse` and similar operators. For operators that need all rows at once, such as `summarize`, name the result and query it in the next cell.',
      '',
      'The local service is paged with its cursors. On other services, the time range is split into parts, and parts that reach the limit are split again, so each row is fetched once. Requests that the service rejects temporarily are retried. After an interrupt, or a failure past the first page, the rows fetched so far are kept, and a notice above the result says so. Paging on the local service needs the field `_time`; a query that drops it fetches only the first 50,000 rows. The fetch stops with a notice before it exceeds the maximum size of a response, 512 MB to 2 GB depending on the memory of the machine. `%fetch` applies to its own cell only.',
      '',
      '    %fetch --all',
      '    errors << [\'sample-http-logs\'] | where status == "500"',
    ].join('\n'),
    arity: [0, 0],
    effects: ['query'],
    run: fetch,
  },
];

/** Shows, sets or clears the options. */
function request(call: MagicCall, { session, io, plan }: MagicHost): void {
  const { options, cell, magic } = call;
  if (options.has('clear') && options.size > 1)
    throw usageError(magic, '--clear cannot be combined with other options');
  if (!cell && (options.has('cursor') || options.has('include-cursor')))
    throw usageError(magic, 'a cursor is for one cell: write %%request');
  if (options.size > 0) plan.request = options.has('clear') ? {} : optionsIn(call);
  if (cell) return;
  session.request = plan.request;
  const set = Object.entries(plan.request).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  say(io, `Options of requests: ${set.length === 0 ? 'none' : set.join(', ')}`);
}

function optionsIn({ options, lists, magic }: MagicCall): RequestOptions {
  const named = (lists.get('option') ?? []).map(text => {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === '') throw usageError(magic, `${text} is not NAME=VALUE`);
    return [name, optionValue(value)] as const;
  });
  const order = (lists.get('order') ?? []).map(text => {
    const [, field = '', way] = /^(.+?)(?::(asc|desc))?$/s.exec(text) ?? [];
    return { field, desc: way === 'desc' };
  });
  return present({
    nocache: options.has('nocache') ? (true as const) : undefined,
    queryOptions: named.length === 0 ? undefined : Object.fromEntries(named),
    defaultOrder: order.length === 0 ? undefined : order,
    libraries: lists.get('library'),
    cursor: options.get('cursor'),
    includeCursor: options.has('include-cursor') ? (true as const) : undefined,
    includeCursorField: options.has('cursor-field') ? (true as const) : undefined,
  });
}

/** Parses an option as JSON, or returns it as a string. */
function optionValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** Fetches the results of the cell's queries page by page. */
function fetch({ options, magic }: MagicCall, { plan }: MagicHost): void {
  const max = options.get('max');
  if (options.has('all') === (max !== undefined)) throw usageError(magic, 'give --all, or --max N');
  if (plan.queries.length === 0)
    throw new MagicError('%fetch: the cell has no query', 'Write the query below this line.');
  plan.fetch = { most: max === undefined ? Number.POSITIVE_INFINITY : rowCount(max, magic) };
}
