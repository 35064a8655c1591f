import type { RequestOptions } from '../../../api/wire.js';
import { present } from '../../../present.js';
import { misuse } from '../arguments.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { say } from '../output.js';

/** The magic about what a request may say besides its query, its range, its limit and its parameters. */
export const requestMagics: readonly Magic[] = [
  {
    name: 'request',
    aliases: [],
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
        summary: 'the order of rows where the query gives none (`defaultOrder`)',
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
      'The local service obeys the order and the cursors. It has no cache, and says that it has no libraries.',
    ].join('\n'),
    arity: [0, 0],
    effects: [],
    perCell: true,
    run: request,
  },
];

/** Shows, sets or clears the options. */
function request(call: MagicCall, { session, io, plan }: MagicHost): void {
  const { options, cell, magic } = call;
  if (options.has('clear') && options.size > 1) throw misuse(magic, '--clear stands alone');
  if (!cell && (options.has('cursor') || options.has('include-cursor')))
    throw misuse(magic, 'a cursor is for one cell: write %%request');
  if (options.size > 0) plan.request = options.has('clear') ? {} : optionsIn(call);
  if (cell) return;
  session.request = plan.request;
  const set = Object.entries(plan.request).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  say(io, `Options of requests: ${set.length === 0 ? 'none' : set.join(', ')}`);
}

function optionsIn({ options, lists, magic }: MagicCall): RequestOptions {
  const named = (lists.get('option') ?? []).map(text => {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === '') throw misuse(magic, `${text} is not NAME=VALUE`);
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

/** JSON where the text is that, else the text. */
function optionValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
