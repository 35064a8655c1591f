import { writtenName } from '../../../apl/catalog/catalog-written.js';
import { lineField } from '../../../apl/editor/editor-events.js';
import { NUMBER, PATTERNS_MIME, type PatternsReference } from '../../../apl/editor/editor-patterns.js';
import { parseFields, parseLine, templateCondition, WILD } from '../../../apl/editor/editor-template.js';
import { quotedName, writtenText } from '../../../apl/syntax/tokens/quote.js';
import { LEVELS } from '../../../result/chart/draw/draw-terminal.js';
import { rowTexts } from '../../../result/display/display-text.js';
import type { QueryResult } from '../../../result/result.js';
import { percent } from '../../../result/spotlight.js';
import { formatCount, plural, withoutTokens } from '../../../text.js';
import { formatTime, isBeyond, parseTime } from '../../../time.js';
import { everything, parseRange, resolveRange } from '../../time-range.js';
import type { Magic, MagicCall, MagicHost, QuerySettings } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say, tableOutput } from '../output.js';
import { Drain, MASK, type Template } from './drain.js';

/** The magic that finds the templates of log lines. */
export const patternMagics: readonly Magic[] = [
  {
    name: 'patterns',
    usage: '%patterns DATASET|RESULT [FIELD] [--parse N]',
    options: [
      { name: 'parse', value: 'N', summary: 'the template whose `parse` line is printed (default: 1)' },
    ],
    summary: 'group log lines by their templates',
    help: [
      'Lists the templates of the lines in a field, most frequent first. Each has its number of lines, in total and in each twelfth of the range, the first and last time it was seen, its levels, an example line, and whether it is new compared with the preceding range of the same length. Without FIELD, uses the first of `message`, `msg`, `body`, `line`, `log` and `text` that exists. Below the list, prints the `parse` line that splits the lines of a template into fields, with numbers as numeric fields. In JupyterLab, buttons beside each template add a cell that splits its lines, shows only its lines, or excludes them.',
      '',
      'Templates are found by [Drain](https://doi.org/10.1109/ICWS.2017.13) (He et al. 2017): numbers, ids and addresses are masked first, and lines that have the same number of words, begin alike and have half of their other words in common share a template. If a position has at most three different words, such as `started` and `stopped`, each has its own template.',
      '',
      "    %patterns ['app'] message",
    ].join('\n'),
    arity: [1, 2],
    effects: ['query'],
    argument: 'dataset',
    run: patterns,
  },
];

const LEVEL_FIELDS = ['level', 'severity', 'severity_text', 'log.level'];
/** Maximum masked lines to read; rarer ones are not. */
const MOST_SHAPES = 20_000;
/** Maximum templates to list. */
const LISTED = 100;

/** Lines that are identical once their numbers are masked. */
interface Shape {
  readonly lines: number;
  readonly first: string;
  readonly last: string;
  readonly example: string;
  readonly levels: readonly string[];
  /** Lines in each interval of the range; empty if unknown. */
  readonly trend: readonly number[];
  readonly isBefore: boolean;
}

/** A source with the fields to analyze. */
export interface Asked {
  /** A dataset or a cached result, as written in a query. */
  readonly source: string;
  readonly field: string;
  readonly level: string | undefined;
  readonly hasTime: boolean;
}

async function patterns({ words, options, magic }: MagicCall, host: MagicHost): Promise<void> {
  const [name = '', field] = words;
  const number = options.get('parse') ?? '1';
  if (!/^[1-9]\d{0,4}$/.test(number)) throw usageError(magic, `${number} is not the number of a template`);
  const { asked, ...from } = await askedOf(name, field, host);
  const { result, shapes } = await shapesOf(asked, { edges: edgesOf(asked, host) }, host);
  // With an unlimited range nothing comes before, and everything would be new.
  const earlier = asked.hasTime && host.plan.range !== everything ? rangeBefore(result) : undefined;
  const before = earlier === undefined ? [] : (await shapesOf(asked, { range: earlier }, host)).shapes;
  const drain = new Drain<Shape>();
  for (const { text, shape } of [...shapes, ...before]) drain.add(text, shape, shape.lines);
  const found = drain
    .templates()
    .map(summed)
    .filter(({ lines }) => lines > 0);
  const sorted = found.toSorted((a, b) => b.lines - a.lines);
  const place = Number(number) - 1;
  const chosen = sorted[place];
  const types =
    chosen === undefined ? new Map<string, string>() : await typesOf(asked, textOf(chosen.template), host);
  const read = sorted.reduce((sum, { lines }) => sum + lines, 0);
  const rows = sorted.slice(0, LISTED).map((each, index) => rowOf(each, index, read, earlier !== undefined));
  const isShown = (head: string, at: number) =>
    at < ALWAYS || rows.some(row => row[at] !== '') || (head === 'new' && earlier !== undefined);
  const shown = HEADS.flatMap((head, at) => (isShown(head, at) ? [at] : []));
  const cellsOf = (row: readonly string[]) => shown.map(at => row[at] ?? '');
  const cuts = [shapes, before].map(({ length }) => length === MOST_SHAPES);
  const caption = captionOf(asked, sorted.length, read, cuts);
  const { data, metadata } = tableOutput(cellsOf(HEADS), rows.map(cellsOf), caption);
  const { query, startTime, endTime, profile } = result.provenance;
  const reference: PatternsReference = {
    ...{ ...from, field: asked.field, query, startTime, endTime, profile },
    templates: sorted.slice(0, LISTED).map(({ template }) => textOf(template)),
    typed: { place, types: Object.fromEntries(types) },
  };
  // A token in a template is hidden in the list, and must not leak through a button.
  const isSafe = withoutTokens(reference.templates.join('\n')) === reference.templates.join('\n');
  const buttons = isSafe && host.plan.retains ? { [PATTERNS_MIME]: reference } : {};
  host.io.display({ data: { ...buttons, ...data }, metadata });
  if (chosen === undefined) {
    if (options.has('parse'))
      throw new MagicError(
        `%patterns: there is no template ${number}`,
        `The highest number is ${sorted.length}.`,
      );
    return;
  }
  const line = parseLine(writtenName(asked.field), textOf(chosen.template), types);
  if (line !== undefined) say(host.io, `Split the lines of template ${number}:\n${asked.source}\n| ${line}`);
}

const HEADS = [
  '#',
  'lines',
  'template',
  'share',
  'trend',
  'new',
  'levels',
  'example',
  'first seen',
  'last seen',
];
/** Number of columns always shown; later ones are omitted if empty, such as times of lines without any. */
const ALWAYS = 4;

/** Describes a list; `cuts` tells whether rarer lines may be missing, of the range and of the one before. */
function captionOf(
  { field }: Asked,
  templates: number,
  lines: number,
  [isCut, isCutBefore]: readonly boolean[],
): string {
  const most = `the ${formatCount(MOST_SHAPES)} most frequent lines`;
  const cut = [
    ...(isCut ? [`\nOnly ${most} were read, ignoring numbers; rarer ones, if any, are left out.`] : []),
    ...(isCutBefore
      ? [`\nOnly ${most} of the range before were read: a template marked new may be among rarer ones.`]
      : []),
  ].join('');
  const more = templates > LISTED ? `; the first ${LISTED} are listed` : '';
  return `${plural(templates, 'template')} of ${plural(lines, 'line')} in ${field}${more}${cut}`;
}

/** The fields to analyze, and the name of their source. */
interface Named extends Pick<PatternsReference, 'source' | 'isResult'> {
  readonly asked: Asked;
}

async function askedOf(name: string, field: string | undefined, host: MagicHost): Promise<Named> {
  const { session } = host;
  // The line has been read without its quotes.
  const bare = /^\[(.*)\]$/.exec(name)?.[1];
  const isResult = bare === undefined && session.results.named(name) !== undefined;
  const source = isResult ? name : quotedName(bare ?? name);
  const { tables } = await host.run(`${source}\n| getschema\n| project ColumnName, ColumnType`);
  const types = new Map(rowTexts(tables[0]).map(([column = '', type = '']) => [column, type]));
  const texts = [...types.keys()].filter(each => types.get(each) === 'string');
  const chosen = field ?? lineField(texts);
  if (chosen === undefined || !texts.includes(chosen))
    throw new MagicError(
      chosen === undefined
        ? `%patterns: no field of ${name} is known to contain log lines`
        : `%patterns: ${name} has no string field ${chosen}`,
      texts.length === 0 ? 'It has no string fields.' : `Name one of its string fields: ${texts.join(', ')}.`,
    );
  const level = LEVEL_FIELDS.find(each => texts.includes(each));
  const hasTime = types.get('_time') === 'datetime' && !isResult;
  return { source: bare ?? name, isResult, asked: { source, field: chosen, level, hasTime } };
}

/** Returns the query for the masked lines of a field, most frequent first, with counts before each of the edges. */
export function shapesQuery(
  { source, field, level, hasTime }: Asked,
  edges: readonly string[] | undefined = undefined,
): string {
  const line = writtenName(field);
  const parts = edges?.map(edge => `countif(_time < datetime(${edge}))`) ?? [];
  const figures = [
    'lines = count()',
    hasTime ? 'first = min(_time), last = max(_time)' : 'first = "", last = ""',
    `example = min(${line})`,
    level === undefined ? 'levels = dynamic([])' : `levels = make_set(${writtenName(level)}, 9)`,
    ...parts.map((part, at) => `until${at} = ${part}`),
  ];
  const shape = `shape = replace_regex(${writtenText(MASK)}, ${writtenText(WILD)}, ${line})`;
  const until = parts.map((_, at) => `, until${at}`).join('');
  return `${source}\n| where isnotempty(${line})\n| summarize ${figures.join(', ')} by ${shape}\n| top ${MOST_SHAPES} by lines\n| project shape, lines, first, last, example, levels${until}`;
}

/** Number of intervals of a range in which lines are counted. */
const PARTS = 12;

/**
 * Returns the times between the intervals of a cell's range; undefined without times, and for an unlimited range, most of which is
 * empty.
 */
function edgesOf({ hasTime }: Asked, { plan, session }: MagicHost): readonly string[] | undefined {
  if (!hasTime || plan.range === everything) return undefined;
  const { startTime, endTime } = resolveRange(plan.range, session.now());
  const [start, end] = [parseTime(startTime), parseTime(endTime)];
  if (start === undefined || end === undefined) return undefined;
  return Array.from({ length: PARTS - 1 }, (_, at) =>
    formatTime(start + ((end - start) * BigInt(at + 1)) / BigInt(PARTS)),
  );
}

async function shapesOf(
  asked: Asked,
  { edges, ...settings }: QuerySettings & { readonly edges?: readonly string[] | undefined },
  { run }: MagicHost,
): Promise<{
  readonly result: QueryResult;
  readonly shapes: readonly { readonly text: string; readonly shape: Shape }[];
}> {
  const result = await run(shapesQuery(asked, edges), { rowLimit: MOST_SHAPES, ...settings });
  const shapes = rowTexts(result.tables[0]).map(([text, lines, first, last, example, levels, ...until]) => ({
    text: text ?? '',
    shape: {
      ...{ lines: Number(lines), first: first ?? '', last: last ?? '', example: example ?? '' },
      levels: JSON.parse(levels ?? '[]') as readonly string[],
      trend: edges === undefined ? [] : differences([...until, lines].map(Number)),
      isBefore: settings.range !== undefined,
    },
  }));
  return { result, shapes };
}

function differences(counts: readonly number[]): readonly number[] {
  return counts.map((count, at) => count - (counts[at - 1] ?? 0));
}

/** Maximum fields of a `parse` line whose values are examined. */
const MOST_TYPED = 20;

/** Returns the types of the non-string fields in a template's `parse` line: a number if every value is its canonical spelling. */
async function typesOf(
  { source, field }: Asked,
  template: string,
  { run }: MagicHost,
): Promise<ReadonlyMap<string, string>> {
  const name = writtenName(field);
  const line = parseLine(name, template);
  const fields = parseFields(template).slice(0, MOST_TYPED);
  if (line === undefined) return new Map();
  const others = fields.map(
    each => `countif(isnull(tolong(${each})) or tostring(tolong(${each})) != ${each})`,
  );
  const { tables } = await run(
    `${source}\n| where ${templateCondition(name, template)}\n| ${line}\n| summarize ${others.join(', ')}`,
  );
  const counts = rowTexts(tables[0])[0] ?? [];
  return new Map(fields.flatMap((each, at) => (counts[at] === '0' ? [[each, NUMBER] as const] : [])));
}

/** Returns the range of the same length before a result's range. */
function rangeBefore({
  provenance: { startTime, endTime },
}: QueryResult): ReturnType<typeof parseRange> | undefined {
  const [start, end] = [parseTime(startTime), parseTime(endTime)];
  if (start === undefined || end === undefined) return undefined;
  const before = start - (end - start);
  return isBeyond(before) ? undefined : parseRange(`${formatTime(before)}..${formatTime(start)}`);
}

function textOf({ words }: Template<unknown>): string {
  return words.join(' ');
}

interface Summed extends Omit<Shape, 'isBefore'> {
  readonly template: Template<Shape>;
  readonly isNew: boolean;
}

function summed(template: Template<Shape>): Summed {
  const own = template.members.filter(({ isBefore }) => !isBefore);
  return {
    template,
    lines: own.reduce((sum, { lines }) => sum + lines, 0),
    first: own.map(({ first }) => first).reduce((a, b) => (b < a ? b : a), own[0]?.first ?? ''),
    last: own.map(({ last }) => last).reduce((a, b) => (b > a ? b : a), ''),
    example: own[0]?.example ?? '',
    levels: [...new Set(own.flatMap(({ levels }) => levels))].toSorted(),
    trend: (own[0]?.trend ?? []).map((_, at) => own.reduce((sum, { trend }) => sum + (trend[at] ?? 0), 0)),
    isNew: own.length === template.members.length,
  };
}

function rowOf(each: Summed, index: number, read: number, isCompared: boolean): readonly string[] {
  const { lines, first, last, levels, trend, isNew, example, template } = each;
  return [
    String(index + 1),
    formatCount(lines),
    textOf(template),
    percent(lines / read),
    trendText(trend),
    isCompared && isNew ? 'new' : '',
    levels.join(', '),
    example,
    first,
    last,
  ];
}

/** Formats counts as a row of bars: the highest for the largest count, the lowest for zero. */
function trendText(counts: readonly number[]): string {
  const most = Math.max(1, ...counts);
  return counts.map(count => LEVELS.charAt(Math.ceil((count / most) * (LEVELS.length - 1)))).join('');
}
