import type { Shortfall } from '../../../result/result.js';
import { shortfallsOf } from '../../../result/shortfall.js';
import { formatBytes, formatCount, oneLine, plural, visibleLines } from '../../../text.js';
import { type CachedResult, rowsOf } from '../../results/result-cache.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { tableOutput } from '../output.js';

/** The magic about cached results. */
export const resultMagics: readonly Magic[] = [
  {
    name: 'results',
    usage: '%results [NAME] [--drop] [--budget SIZE]',
    options: [
      { name: 'drop', summary: 'drop the named result, or all results if no name is given' },
      { name: 'budget', value: 'SIZE', summary: 'how much memory results may take, such as 512MB or 2GB' },
    ],
    summary: 'list the results that the kernel keeps',
    help: [
      '`name << query` names a result, and `_` is the last one. Queries can read both like datasets, with all of their rows, regardless of the time range and the profile: `errs | summarize count() by uri`. A name in brackets and quotes is always a dataset.',
      '',
      'Results stay in memory until the kernel ends. If they would take more than a quarter of the memory of the machine, unnamed results are dropped first, then named ones, least recently used first; a notice above the next output says so. At most the last 500 unnamed results are kept.',
    ].join('\n'),
    arity: [0, 1],
    effects: [],
    argument: 'result',
    run: results,
  },
];

/** Lists the cached results, drops one or all, or sets their memory budget. */
function results({ words, options, magic }: MagicCall, host: MagicHost): void {
  const [name] = words;
  const budget = options.get('budget');
  if (budget !== undefined && (options.has('drop') || name !== undefined))
    throw usageError(magic, '--budget cannot be combined with other options');
  if (options.has('drop')) drop(name, host);
  else if (budget !== undefined) setBudget(budget, host);
  else list(name, host);
}

function drop(name: string | undefined, { session: { results: cached }, io }: MagicHost): void {
  if (name !== undefined) {
    if (!cached.drop(name)) throw unknown(name, cached.names());
    io.stream('stdout', `Dropped the result ${visibleLines(name)}.\n`);
    return;
  }
  io.stream('stdout', `Dropped ${plural(cached.clear(), 'result')}.\n`);
}

function setBudget(text: string, { session: { results: cached }, io }: MagicHost): void {
  cached.budgetBytes = readBytes(text);
  for (const notice of cached.takeNotices()) io.stream('stdout', `${visibleLines(notice)}\n`);
  io.stream('stdout', `Results may take ${formatBytes(cached.budgetBytes)}; ${used(cached.bytes)}.\n`);
}

function used(bytes: number): string {
  return `${formatBytes(bytes)} used`;
}

/** Parses a size such as `512MB`, `1.5 GB` or `200 MiB` to bytes; throws MagicError. */
function readBytes(text: string): number {
  const [, digits, prefix, binary] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b$/i.exec(text.trim()) ?? [];
  const power = ['', 'k', 'm', 'g', 't'].indexOf((prefix ?? '').toLowerCase());
  const bytes = Math.floor(Number(digits) * (binary ? 1024 : 1000) ** power);
  if (digits !== undefined && Number.isSafeInteger(bytes)) return bytes;
  throw new MagicError(`${text} is not an amount of memory`, 'Write it as `512MB`, `2GB` or `1GiB`.');
}

function list(name: string | undefined, { session: { results: cached }, io }: MagicHost): void {
  const found = cached.all().filter(({ names }) => name === undefined || names.includes(name));
  if (name !== undefined && found.length === 0) throw unknown(name, cached.names());
  const rows = found.map(({ names, cached: each }) => row(names, each)).reverse();
  const budget = `${formatBytes(cached.bytes)} of ${formatBytes(cached.budgetBytes)} used`;
  const caption =
    found.length === 0
      ? 'No results yet. `name << query` names one; `_` is the last one.'
      : `${plural(found.length, 'result')}; ${budget}`;
  const head = ['name', 'rows', 'columns', 'memory', 'time range', 'contents', 'query'];
  io.display(tableOutput(head, rows, caption));
}

function row(names: readonly string[], cached: CachedResult): readonly string[] {
  const { tables, provenance } = cached.result;
  const { startTime, endTime, profile, isLocal, query } = provenance;
  return [
    names.join(', '),
    formatCount(rowsOf(cached)),
    formatCount(tables[0]?.data.numCols ?? 0),
    formatBytes(cached.bytes),
    `${startTime} .. ${endTime}`,
    shortfallsOf(cached.result).length === 0 ? 'all' : shortfallsOf(cached.result).map(limitText).join('; '),
    oneLine(isLocal ? query : `${profile}: ${query}`, longestQuery),
  ];
}

function limitText({ through, holds }: Shortfall): string {
  return through === undefined ? holds : `${through}: ${holds}`;
}

/** Maximum length of a query in the list. */
const longestQuery = 200;

function unknown(name: string, names: readonly string[]): MagicError {
  const known = names.length === 0 ? 'No result has a name yet.' : `Named results: ${names.join(', ')}.`;
  return new MagicError(`there is no result ${name}`, known);
}
