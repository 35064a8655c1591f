import { aggregates } from '../../catalog/aggregates.js';
import { everyFunction } from '../../catalog/all-functions.js';
import type { ElementEntry, Example, FunctionEntry } from '../../catalog/entry.js';
import { elements } from '../../catalog/operator-entries.js';
import { limits } from '../../syntax/syntax-limits.js';
import { code, nullsOf, signatureOf } from './help-describe.js';

/** Returns the reference page of the language in Markdown: every element of the catalog, by group. */
export function referencePage(): string {
  const groups = new Map<string, readonly (ElementEntry | FunctionEntry)[]>([
    ...elementGroups.map(([kind, title]) => [title, elements.filter(entry => entry.kind === kind)] as const),
    ['Aggregates', aggregates],
    ...[...new Set(everyFunction.map(entry => entry.group))].map(
      group => [`Functions: ${group}`, everyFunction.filter(entry => entry.group === group)] as const,
    ),
  ]);
  return [
    '# Reference',
    'Generated from the catalog by `npx tsx scripts/reference.ts`. Each example is a complete query, followed by the first row of its result. The types are bool, long, real, string, datetime, timespan (nanoseconds) and dynamic; `number` is long or real, `any` is any type, `same` is the type of the first argument, and `common` is the common type of the arguments.',
    contents(groups),
    ...[...groups].flatMap(([title, entries]) => [`## ${title}`, ...entries.map(describe)]),
    '## Limits',
    'A query that exceeds a limit is rejected, with the position in the query.',
    limitTable(),
  ]
    .join('\n\n')
    .concat('\n');
}

function limitTable(): string {
  const rows = Object.values(limits).map(({ most, what }) => `| ${most.toLocaleString('en-US')} | ${what} |`);
  return ['| maximum | of |', '|---|---|', ...rows].join('\n');
}

const elementGroups: readonly (readonly [ElementEntry['kind'], string])[] = [
  ['operator', 'Operators'],
  ['source', 'Sources'],
  ['statement', 'Statements'],
  ['syntax', 'Names and literals'],
  ['scalar', 'Scalar operators'],
];

function contents(groups: ReadonlyMap<string, readonly { readonly name: string }[]>): string {
  const sections = [...groups].map(
    ([title, entries]) =>
      `- [${title}](#${anchor(title)}): ${entries.map(({ name }) => code(name)).join(' ')}`,
  );
  return [...sections, '- [Limits](#limits)'].join('\n');
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w ]/g, '')
    .replaceAll(' ', '-');
}

function describe(entry: ElementEntry | FunctionEntry): string {
  const aliases = entry.aliases ?? [];
  const usage = 'params' in entry ? [signatureOf(entry)] : entry.usage;
  const parameters =
    'params' in entry
      ? entry.params.filter(each => each.doc !== undefined).map(each => `- ${code(each.name)}: ${each.doc}`)
      : [];
  const unavailable = 'unavailable' in entry ? entry.unavailable : undefined;
  return [
    `### ${code(entry.name)}`,
    fenced(usage.join('\n')),
    entry.doc,
    ...(parameters.length === 0 ? [] : [parameters.join('\n')]),
    ...(aliases.length === 0 ? [] : [`Also ${aliases.map(code).join(', ')}.`]),
    ...(unavailable === undefined ? [] : [`Not available in the local service: ${unavailable}`]),
    ...(entry.example === undefined ? [] : [example(entry.example)]),
    ...('params' in entry ? nullsOf(entry) : []),
  ].join('\n\n');
}

function example({ apl, result }: Example): string {
  return fenced(`${apl}\n// ${result}`);
}

/** Returns a code block; the fence is longer than any in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(run => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}apl\n${text}\n${fence}`;
}
