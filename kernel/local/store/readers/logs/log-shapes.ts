import type { LogReading, Shape } from '../../../../api/logs/log-format.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Connection } from '../../../engine/duckdb.js';
import { timeInLine } from './line-times.js';
import { lineBreak } from './log-events.js';
import { keysOf, otherTokens, pairValue, withPairs } from './log-pairs.js';
import type { Parts } from './parts.js';

type Lines = Extract<LogReading, { kind: 'lines' }>;

/** A shape, and the groups of its patterns in their order. */
interface Fitted extends Shape {
  /** The columns of its groups in the rows of {@link matched}. */
  readonly columns: ReadonlyMap<string, string>;
  /** SQL of whether a line has this shape; the shapes before it are tried first. */
  readonly fits: string;
  /** SQL of whether it does from its beginning to its end. */
  readonly spans: string;
}

/** Returns the fields of the shapes that lines of the table `raw`, which may be all, have; undefined if none has one. */
export async function shapeParts(
  connection: Connection,
  reading: Lines,
  isWhole: boolean,
): Promise<Parts | undefined> {
  const text = reading.begins === undefined ? 'l' : withBreaks;
  const { shapes, unfit } = await usedShapes(connection, text, reading.shapes);
  if (shapes.length === 0) return undefined;
  const otherTime = isWhole && unfit === 0 ? '' : `ELSE ${timeInLine}`;
  const fitted = shapes.map(columnsOf);
  const rows = (from: string) => paired(matched(from, text, fitted), fitted);
  const sample = rows('(SELECT l, rowid AS n FROM raw)');
  const keys = fitted.some(({ pairs }) => pairs) ? [...(await keysOf(connection, sample)).keys()] : [];
  const groups = [...new Set(fitted.flatMap(({ columns }) => [...columns.keys()]))];
  const values = new Map(groups.map(name => [name, textOf(name, fitted, keys, reading, otherTime)]));
  const unused = await withoutValues(connection, sample, optionalIn(fitted), values);
  const kept = groups.filter(name => !unused.includes(name));
  return {
    names: [...kept, ...keys, 'line'],
    columns: [
      ...kept.map(name => values.get(name) ?? 'NULL'),
      ...keys.map(name => absentIn(pairValue(name), reading.absent?.text)),
      `CASE WHEN NOT (${complete(fitted, unused, values)}) THEN ${text} END`,
    ],
    rows,
    whole: 'line',
  };
}

/** SQL of the event that a line holds, with its line breaks. */
const withBreaks = `replace(l, ${sqlText(lineBreak)}, chr(10))`;

/** The shapes that lines of the table `raw` have, and how many have none. */
async function usedShapes(
  connection: Connection,
  text: string,
  shapes: readonly Shape[],
): Promise<{ readonly shapes: readonly Shape[]; readonly unfit: number }> {
  const fitted = shapes.map(columnsOf);
  const counts = fitted.map(({ fits }) => `count(*) FILTER (${fits})`);
  const sql = `SELECT count(*), ${counts.join(', ')} FROM (${matched('raw', text, fitted)})`;
  const [[lines, ...found] = []] = await connection.run(sql);
  const unfit = found.reduce<number>((left, count) => left - Number(count), Number(lines));
  return { shapes: shapes.filter((_, index) => Number(found[index]) > 0), unfit };
}

function columnsOf(shape: Shape, index: number): Fitted {
  const { split } = shape;
  const placed = (pattern: string, parts: string): [string, string][] =>
    groupsOf(pattern).map((name, place) => [name, `${parts}.g${place + 1}`]);
  const columns = placed(shape.pattern, `s${index}`).flatMap(([name, column]) =>
    name === split?.group ? placed(split.pattern, `p${index}`) : [[name, column] satisfies [string, string]],
  );
  const fits = isFound(`s${index}`, shape.pattern);
  const spans = isOfWhole(shape.pattern) ? fits : `${fits} AND s${index}.g0 = e`;
  return { ...shape, columns: new Map(columns), fits, spans };
}

function groupsOf(pattern: string): readonly string[] {
  return [...pattern.matchAll(/\(\?<([^>]+)>/g)].map(([, name = '']) => name);
}

/** SQL of the parts of a text, as the struct {g0: all that fits, g1, …}; without g0 if it is known. */
function extracted(text: string, pattern: string): string {
  const groups = pattern.replace(/\(\?<[^>]+>/g, '(');
  const isWhole = isOfWhole(pattern);
  const plain = isWhole ? groups : `(${groups})`;
  const names = [...(isWhole ? [] : ['g0']), ...groupsOf(pattern).map((_, place) => `g${place + 1}`)];
  return `regexp_extract(${text}, ${sqlText(plain)}, [${names.map(sqlText).join(', ')}])`;
}

/**
 * Whether a pattern fits whole texts alone, its first group is never empty, and it has so few groups that the engine finds them in one pass of
 * the text: with one more, for all that fits, it takes three times as long.
 */
function isOfWhole(pattern: string): boolean {
  const [, first] = firstGroup.exec(pattern) ?? [];
  if (first === undefined || groupsOf(pattern).length > mostInOnePass) return false;
  const outer = pattern.replace(escapesAndClasses, '').replace(outerGroups, '');
  const isSimple = /^\^[^|()]*\$$/.test(outer) && !/\(\?(?![:<])|\\[bBAzQC]/.test(pattern);
  return isSimple && !mayBeEmpty(first);
}

const mostInOnePass = 4;
const firstGroup = /^\^\(\?<[^>]+>((?:\\.|\[\^?\]?(?:\\.|[^\]])*\]|[^()|\\[])+)\)(?![?*{])/;
const escapesAndClasses = /\\.|\[\^?\]?(?:\\.|[^\]])*\]/g;
const outerGroups = /\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g;

function mayBeEmpty(pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test('');
  } catch {
    // A pattern of a user may be one for the engine alone.
    return true;
  }
}

/** SQL of whether parts were found. */
function isFound(parts: string, pattern: string): string {
  return `coalesce(${parts}.${isOfWhole(pattern) ? 'g1' : 'g0'}, '') <> ''`;
}

/** The rows of `from` with `text` as the event e, and its parts: s0 by the first shape that fits, else s1, …, and p0, p1 of what is split. */
function matched(from: string, text: string, shapes: readonly Fitted[]): string {
  const lines = `SELECT *, ${text} AS e FROM ${from} WHERE l IS NOT NULL`;
  return shapes.reduce((rows, { pattern, split }, index) => {
    const before = shapes.slice(0, index).map(({ fits }) => `NOT ${fits}`);
    const parts = `CASE WHEN ${['true', ...before].join(' AND ')} THEN ${extracted('e', pattern)} END AS s${index}`;
    const shaped = `SELECT *, ${parts} FROM (${rows})`;
    if (split === undefined) return shaped;
    const group = groupsOf(pattern).indexOf(split.group) + 1;
    return `SELECT *, ${extracted(`s${index}.g${group}`, split.pattern)} AS p${index} FROM (${shaped})`;
  }, lines);
}

/** Adds the pairs of the group that holds some. */
function paired(rows: string, shapes: readonly Fitted[]): string {
  const style = shapes.find(({ pairs }) => pairs)?.pairs?.style;
  if (style === undefined) return rows;
  const cases = shapes.map(
    ({ fits, pairs, columns }) => `WHEN ${fits} THEN ${columns.get(pairs?.group ?? '') ?? 'NULL'}`,
  );
  // Most lines have none, which takes no time then.
  return withPairs(rows, `nullif(CASE ${cases.join(' ')} END, '')`, style);
}

/** `otherTime` is what is read for a time of a line without a shape: its pattern takes long to compile. */
function textOf(
  name: string,
  shapes: readonly Fitted[],
  keys: readonly string[],
  { absent, escaped }: Lines,
  otherTime: string,
): string {
  const cases = shapes.flatMap(({ columns, fits, pairs }) => {
    const column = pairs?.group === name ? otherTokens(keys, pairs.style) : columns.get(name);
    return column === undefined ? [] : [`WHEN ${fits} THEN ${column}`];
  });
  const value = `CASE ${cases.join(' ')} ${name === 'time' ? otherTime : ''} END`;
  if (escaped?.includes(name)) return `regexp_replace(${value}, ${sqlText('\\\\(.)')}, '\\1', 'g')`;
  return absent?.fields.includes(name) ? absentIn(value, absent.text) : value;
}

function absentIn(value: string, text: string | undefined): string {
  return text === undefined ? value : `nullif(${value}, ${sqlText(text)})`;
}

function optionalIn(shapes: readonly Fitted[]): readonly string[] {
  return [...new Set(shapes.flatMap(({ optional = [] }) => optional))];
}

/** Returns the optional fields that no line of the sample has. */
async function withoutValues(
  connection: Connection,
  sample: string,
  optional: readonly string[],
  values: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const present = optional.filter(name => values.has(name));
  if (present.length === 0) return [];
  const counts = present.map(name => `count(nullif(${values.get(name)}, ''))`).join(', ');
  const [row = []] = await connection.run(`SELECT ${counts} FROM (${sample})`);
  return present.filter((_, index) => Number(row[index]) === 0);
}

/** SQL of whether every part of a line is in a field. */
function complete(
  shapes: readonly Fitted[],
  unused: readonly string[],
  values: ReadonlyMap<string, string>,
): string {
  const fits = shapes.map(({ spans, split }, index) => {
    return split === undefined ? `(${spans})` : `(${spans} AND ${isFound(`p${index}`, split.pattern)})`;
  });
  const rest = unused.map(name => `coalesce(${values.get(name)}, '') = ''`);
  return [`(${fits.join(' OR ')})`, ...rest].join(' AND ');
}
