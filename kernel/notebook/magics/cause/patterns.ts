import { writtenName } from '../../../apl/catalog/written.js';
import { lineField } from '../../../apl/editor/events.js';
import { quotedName, writtenText } from '../../../apl/syntax/tokens/quote.js';
import { rowTexts } from '../../../result/display/text.js';
import type { QueryResult } from '../../../result/result.js';
import { percent } from '../../../result/spotlight.js';
import { formatCount, plural } from '../../../text.js';
import { formatTime, parseTime } from '../../../time.js';
import { parseRange } from '../../time-range.js';
import { MagicError, usageError } from '../arguments.js';
import type { Magic, MagicCall, MagicHost, QuerySettings } from '../magic.js';
import { say, tableOutput } from '../output.js';
import { Drain, MASK, parseLine, type Template, WILD } from './drain.js';

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
      'Lists the templates of the lines in a field, the most frequent first: how many lines each has, the first and the last time it was seen, its levels, one of its lines, and whether it is new since the range of the same length before. Without FIELD it takes `message`, `msg`, `body`, `line`, `log` or `text`, whichever is there first. Below stands the `parse` line that splits the lines of a template into fields.',
      '',
      'Templates are found by [Drain](https://doi.org/10.1109/ICWS.2017.13) (He et al. 2017): numbers, ids and addresses are masked first, and lines of as many words that begin alike and have half of their other words in common share a template. Words of which a place has three at most, such as `started` and `stopped`, tell templates apart.',
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
/** Masked lines that are read; rarer ones are counted. */
const MOST_SHAPES = 20_000;
/** Templates that are listed. */
const LISTED = 100;

/** Lines that are the same once their numbers are masked. */
interface Shape {
  readonly lines: number;
  readonly first: string;
  readonly last: string;
  readonly example: string;
  readonly levels: readonly string[];
  readonly isBefore: boolean;
}

/** A source with the fields that are asked about. */
interface Asked {
  readonly source: string;
  readonly field: string;
  readonly level: string | undefined;
  readonly hasTime: boolean;
}

async function patterns({ words, options, magic }: MagicCall, host: MagicHost): Promise<void> {
  const [name = '', field] = words;
  const number = options.get('parse') ?? '1';
  if (!/^[1-9]\d{0,4}$/.test(number)) throw usageError(magic, `${number} is not the number of a template`);
  const asked = await askedOf(name, field, host);
  const { result, shapes } = await shapesOf(asked, {}, false, host);
  const earlier = asked.hasTime ? rangeBefore(result) : undefined;
  const before = earlier === undefined ? [] : (await shapesOf(asked, { range: earlier }, true, host)).shapes;
  const drain = new Drain<Shape>();
  for (const { text, shape } of [...shapes, ...before]) drain.add(text, shape, shape.lines);
  const found = drain
    .templates()
    .map(summed)
    .filter(({ lines }) => lines > 0);
  const sorted = found.toSorted((a, b) => b.lines - a.lines);
  const read = sorted.reduce((sum, { lines }) => sum + lines, 0);
  const rows = sorted.slice(0, LISTED).map((each, index) => rowOf(each, index, read, earlier !== undefined));
  const head = ['#', 'lines', 'share', 'template', 'first seen', 'last seen', 'levels', 'new', 'example'];
  host.io.display(tableOutput(head, rows, captionOf(asked, sorted.length, read, shapes.length)));
  const chosen = sorted[Number(number) - 1];
  if (chosen === undefined) {
    if (options.has('parse'))
      throw new MagicError(`%patterns: there is no template ${number}`, `There are ${sorted.length}.`);
    return;
  }
  const line = parseLine(writtenName(asked.field), chosen.template);
  if (line !== undefined) say(host.io, `Split the lines of template ${number}:\n${asked.source}\n| ${line}`);
}

function captionOf({ field }: Asked, templates: number, lines: number, shapes: number): string {
  const cut =
    shapes < MOST_SHAPES
      ? ''
      : `\nOnly the ${formatCount(MOST_SHAPES)} most frequent lines were read, numbers apart; rarer ones are left out.`;
  const more = templates > LISTED ? `; the first ${LISTED} are listed` : '';
  return `${plural(templates, 'template')} of ${plural(lines, 'line')} in ${field}${more}${cut}`;
}

async function askedOf(name: string, field: string | undefined, host: MagicHost): Promise<Asked> {
  const { session } = host;
  // The line is read without its quotes.
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
        ? `%patterns: no field of ${name} is known to hold lines`
        : `%patterns: ${name} has no text in a field ${chosen}`,
      texts.length === 0
        ? 'It has no fields of text.'
        : `Name one of its fields of text: ${texts.join(', ')}.`,
    );
  const level = LEVEL_FIELDS.find(each => texts.includes(each));
  return { source, field: chosen, level, hasTime: types.get('_time') === 'datetime' && !isResult };
}

async function shapesOf(
  { source, field, level, hasTime }: Asked,
  settings: QuerySettings,
  isBefore: boolean,
  { run }: MagicHost,
): Promise<{
  readonly result: QueryResult;
  readonly shapes: readonly { readonly text: string; readonly shape: Shape }[];
}> {
  const line = writtenName(field);
  const figures = [
    'lines = count()',
    hasTime ? 'first = min(_time), last = max(_time)' : 'first = "", last = ""',
    `example = min(${line})`,
    level === undefined ? 'levels = dynamic([])' : `levels = make_set(${writtenName(level)}, 9)`,
  ];
  const shape = `shape = replace_regex(${writtenText(MASK)}, ${writtenText(WILD)}, ${line})`;
  const query = `${source}\n| where isnotempty(${line})\n| summarize ${figures.join(', ')} by ${shape}\n| top ${MOST_SHAPES} by lines\n| project shape, lines, first, last, example, levels`;
  const result = await run(query, { rowLimit: MOST_SHAPES, ...settings });
  const shapes = rowTexts(result.tables[0]).map(([text, lines, first, last, example, levels]) => ({
    text: text ?? '',
    shape: {
      ...{ lines: Number(lines), first: first ?? '', last: last ?? '', example: example ?? '', isBefore },
      levels: JSON.parse(levels ?? '[]') as readonly string[],
    },
  }));
  return { result, shapes };
}

/** The range of the same length before that of a result. */
function rangeBefore({
  provenance: { startTime, endTime },
}: QueryResult): ReturnType<typeof parseRange> | undefined {
  const [start, end] = [parseTime(startTime), parseTime(endTime)];
  if (start === undefined || end === undefined || start - (end - start) < 0n) return undefined;
  return parseRange(`${formatTime(start - (end - start))}..${formatTime(start)}`);
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
    isNew: own.length === template.members.length,
  };
}

function rowOf(each: Summed, index: number, read: number, isCompared: boolean): readonly string[] {
  const { lines, first, last, levels, isNew, example, template } = each;
  return [
    String(index + 1),
    formatCount(lines),
    percent(lines / read),
    template.words.join(' '),
    first,
    last,
    levels.join(', '),
    isCompared && isNew ? 'new' : '',
    example,
  ];
}
