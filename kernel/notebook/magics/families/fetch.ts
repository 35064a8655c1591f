import { MagicError, misuse } from '../arguments.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { rowCount } from './settings.js';

/** The magic that fetches more rows than a service gives at once. */
export const fetchMagics: readonly Magic[] = [
  {
    name: 'fetch',
    aliases: [],
    usage: '%fetch --all | %fetch --max N',
    options: [
      { name: 'all', summary: 'every row' },
      { name: 'max', value: 'N', summary: 'the first N rows' },
    ],
    summary: 'fetch every row of the queries of the cell, page by page, past the limit of one answer',
    help: [
      'For queries that filter and shape the rows of one dataset: `where`, `extend`, `project`, `parse` and the like, in the order of `_time`. What needs all rows at once, such as `summarize`, is written over the named result in the next cell.',
      '',
      'The local service is read by its cursors, any other by parts of the time range, which are divided where they reach the limit: each row comes once. A request that the service refuses for now is sent again. An interrupt, and a failure after the first page, keep the rows that have come, and a line above the result says so. Pages of the local service need `_time` among the fields: of a query that drops it the first 50,000 rows come. `%fetch` of one cell ends with that cell.',
      '',
      '    %fetch --all',
      '    errors << [\'sample-http-logs\'] | where status == "500"',
    ].join('\n'),
    arity: [0, 0],
    effects: ['query'],
    perCell: true,
    run: fetch,
  },
];

function fetch({ options, magic }: MagicCall, { plan }: MagicHost): void {
  const max = options.get('max');
  if (options.has('all') === (max !== undefined)) throw misuse(magic, 'give --all, or --max N');
  if (plan.queries.length === 0)
    throw new MagicError('%fetch: the cell has no query', 'Write the query below this line.');
  plan.fetch = { most: max === undefined ? Number.POSITIVE_INFINITY : rowCount(max, magic) };
}
