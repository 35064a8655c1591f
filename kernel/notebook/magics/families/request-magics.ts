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
      { name: 'nocache', summary: 'do not answer from the cache of the service' },
      {
        name: 'option',
        value: 'NAME=VALUE',
        repeats: true,
        summary: 'a member of `queryOptions`; VALUE is JSON, or a string',
      },
      {
        name: 'order',
        value: 'FIELD[:desc]',
        repeats: true,
        summary: 'the order of rows if the query gives none (`defaultOrder`)',
      },
      { name: 'library', value: 'ID', repeats: true, summary: 'a library that the query may use' },
      { name: 'cursor', value: 'CURSOR', summary: 'the row behind which to begin; for one cell' },
      { name: 'include-cursor', summary: 'begin with the row of the cursor itself; for one cell' },
      { name: 'cursor-field', summary: 'add the field `_cursor`' },
      { name: 'clear', summary: 'send none of these any more' },
    ],
    summary: 'show or set further options of the requests; `%%request` for one cell',
    help: [
      'What the API takes beside the query: `%limit` sets its `defaultLimit`, `%time` its range, `%param` its `variables`; this magic the rest. Options replace those of before. What was sent stands below `%show-query`, and in the metadata of the result.',
      '',
      '- `%request --nocache` for a service that answers from a cache',
      '- `%%request --option caseSensitive=true --order status:desc`',
      '- `%%request --cursor 0aB…` continues behind a row; `%fetch` pages by itself and takes none',
      '',
      'The local service supports the order and the cursors. It has no cache, and refuses libraries.',
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
    summary: 'fetch every row of the queries of the cell, page by page, past the limit of one answer',
    help: [
      'For queries that filter and shape the rows of one dataset: `where`, `extend`, `project`, `parse` and the like, in the order of `_time`. What needs all rows at once, such as `summarize`, is written over the named result in the next cell.',
      '',
      'The local service is read by its cursors, any other by parts of the time range, which are divided when they reach the limit: each row comes once. A request that the service refuses for now is sent again. An interrupt, and a failure after the first page, keep the rows that have come, and a line above the result says so. Pages of the local service need `_time` among the fields: of a query that drops it the first 50,000 rows come. The fetch ends, and says so, before it is larger than one answer may be: 512 MB to 2 GB by the memory of the machine. `%fetch` of one cell ends with that cell.',
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
