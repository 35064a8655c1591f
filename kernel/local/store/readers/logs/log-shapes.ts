import type { Cut, LogReading, Shape } from '../../../../api/logs/log-format.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Connection } from '../../../engine/duckdb.js';
import { timeInLine } from './line-times.js';
import { lineBreak } from './log-events.js';
import { keysOf, otherTokens, pairValue, withPairs } from './log-pairs.js';
import type { Parts } from './parts.js';

type Lines = Extract<LogReading, { kind: 'lines' }>;

/** A cut of a shape: the usual one, or the one for all its lines. */
interface Tried {
  readonly shape: Shape;
  readonly cut: Cut;
}

/** A cut, and its results in the rows of {@link matched}. */
interface Fitted extends Tried {
  /** Each splits a text into parts: the event, then some of its groups. */
  readonly steps: readonly Step[];
  /** Columns of its groups, by name. */
  readonly columns: ReadonlyMap<string, string>;
  /** Column of whether a line matches; earlier cuts are tried first. */
  readonly fits: string;
  /** SQL of this over the parts. */
  readonly isFit: string;
  /** SQL of whether every part of a matching line is in a group. */
  readonly spans: string;
}

interface Step {
  readonly text: string;
  readonly pattern: string;
  /** Column of the parts. */
  readonly parts: string;
}

/** Returns the fields of the shapes found in the table `raw`, which may be the whole file; undefined if there are none. */
export async function shapeParts(
  connection: Connection,
  reading: Lines,
  isWhole: boolean,
): Promise<Parts | undefined> {
  const text = reading.begins === undefined ? 'l' : withBreaks;
  const { tried, unfit } = await usedShapes(connection, text, reading.shapes);
  if (tried.length === 0) return undefined;
  const otherTime = isWhole && unfit === 0 ? '' : `ELSE ${timeInLine}`;
  const fitted = tried.map(fittedTo);
  const rows = (from: string) => paired(matched(from, text, fitted), fitted);
  const sample = rows('(SELECT l, rowid AS n FROM raw)');
  const keys = fitted.some(({ shape }) => shape.pairs) ? [...(await keysOf(connection, sample)).keys()] : [];
  const groups = [...new Set(fitted.filter(isOfAll).flatMap(({ columns }) => [...columns.keys()]))];
  const values = new Map(groups.map(name => [name, textOf(name, fitted, keys, reading, otherTime)]));
  const unused = await withoutValues(connection, sample, optionalIn(fitted), values);
  const kept = groups.filter(name => !unused.includes(name));
  return {
    names: [...kept, ...keys, 'line'],
    columns: [
      ...kept.map(name => values.get(name) ?? 'NULL'),
      ...keys.map(name => absentIn(pairValue(name), reading.absent?.text)),
      `CASE WHEN NOT ${complete(fitted, unused, values)} THEN ${text} END`,
    ],
    rows,
    whole: 'line',
  };
}

/** SQL of the event in a line, with its line breaks. */
const withBreaks = `replace(l, ${sqlText(lineBreak)}, chr(10))`;

function isOfAll({ shape, cut }: Tried): boolean {
  return cut === shape;
}

/**
 * Returns the cuts to try for the shapes found in the table `raw`, including the usual cut of a shape if most of its lines have it, and the
 * number of lines without a shape.
 */
async function usedShapes(
  connection: Connection,
  text: string,
  shapes: readonly Shape[],
): Promise<{ readonly tried: readonly Tried[]; readonly unfit: number }> {
  const all = shapes.flatMap(shape => [shape.usual ?? [], shape].flat().map(cut => ({ shape, cut })));
  const fitted = all.map(fittedTo);
  const counts = fitted.map(({ fits }) => `count(*) FILTER (${fits})`);
  const sql = `SELECT count(*), ${counts.join(', ')} FROM (${matched('raw', text, fitted)})`;
  const [[lines, ...found] = []] = await connection.run(sql);
  const linesOf = (isCounted: (each: Tried) => boolean) =>
    all.reduce((sum, each, index) => sum + (isCounted(each) ? Number(found[index]) : 0), 0);
  const isUsed = ({ shape, cut }: Tried) => {
    const ofShape = linesOf(each => each.shape === shape);
    return cut === shape ? ofShape > 0 : 2 * linesOf(each => each.cut === cut) > ofShape;
  };
  return { tried: all.filter(isUsed), unfit: Number(lines) - linesOf(() => true) };
}

function fittedTo(tried: Tried, index: number): Fitted {
  const { pattern, splits = [] } = tried.cut;
  const first = { text: 'e', pattern, parts: `s${index}` };
  const steps: Step[] = [first];
  let columns = groupColumns(first);
  for (const [place, { group, pattern }] of splits.entries()) {
    const text = columns.find(([name]) => name === group)?.[1] ?? 'NULL';
    const step = { text, pattern, parts: `s${index}p${place}` };
    steps.push(step);
    columns = columns.flatMap(each => (each[0] === group ? groupColumns(step) : [each]));
  }
  const [isFound = '', ...areSplit] = steps.map(isFoundIn);
  const isAll = [isFound, ...areSplit].join(' AND ');
  return {
    ...tried,
    steps,
    columns: new Map(columns),
    fits: `f${index}`,
    isFit: isOfAll(tried) ? isFound : isAll,
    spans: isOfWhole(pattern) ? isAll : `${isAll} AND s${index}.g0 = e`,
  };
}

function groupColumns({ pattern, parts }: Step): readonly (readonly [name: string, column: string])[] {
  return groupsOf(pattern).map((name, place) => [name, `${parts}.g${place + 1}`]);
}

function groupsOf(pattern: string): readonly string[] {
  return [...pattern.matchAll(/\(\?<([^>]+)>/g)].map(([, name = '']) => name);
}

/** Returns the SQL of the parts of a text, as the struct {g0: full match, g1, …}; g0 is omitted if redundant. */
function extracted(text: string, pattern: string): string {
  const groups = pattern.replace(/\(\?<[^>]+>/g, '(');
  const isWhole = isOfWhole(pattern);
  const plain = isWhole ? groups : `(${groups})`;
  const names = [...(isWhole ? [] : ['g0']), ...groupsOf(pattern).map((_, place) => `g${place + 1}`)];
  return `regexp_extract(${text}, ${sqlText(plain)}, [${names.map(sqlText).join(', ')}])`;
}

/**
 * Whether a pattern matches only whole texts, its first group is never empty, and it has so few groups that the engine matches in one pass:
 * one more group, for the full match, would take three times as long.
 */
function isOfWhole(pattern: string): boolean {
  const [, first] = firstGroup.exec(pattern) ?? [];
  if (first === undefined || groupsOf(pattern).length > mostInOnePass) return false;
  const outer = pattern.replace(escapesAndClasses, '').replace(outerGroups, '');
  const isSimple = /^\^[^|()]*\$$/.test(outer) && !/\(\?(?![:<])|\\[bBAzQC]/.test(pattern);
  return isSimple && !mayBeEmpty(first);
}

const mostInOnePass = 4;
const firstGroup = /^\^\(\?<[^>]+>((?:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^()|\\[])+)\)(?![?*{])/;
const escapesAndClasses = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/g;
const outerGroups = /\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g;

function mayBeEmpty(pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test('');
  } catch {
    // A user's pattern may be valid only in the engine.
    return true;
  }
}

/** Returns the SQL of whether a step matched. */
function isFoundIn({ pattern, parts }: Step): string {
  return `coalesce(${parts}.${isOfWhole(pattern) ? 'g1' : 'g0'}, '') <> ''`;
}

/** Returns the rows of `from` with `text` as the event e, the parts from the steps of the first matching cut, and which cut matched. */
function matched(from: string, text: string, cuts: readonly Fitted[]): string {
  const lines = `SELECT *, ${text} AS e FROM ${from} WHERE l IS NOT NULL`;
  return cuts.reduce((rows, { steps, fits, isFit }, index) => {
    const others = cuts.slice(0, index).map(before => `NOT ${before.fits}`);
    const parts = steps.reduce((from, step, place) => {
      const found = extracted(step.text, step.pattern);
      const isTried = place === 0 && others.length > 0;
      const sql = isTried ? `CASE WHEN ${others.join(' AND ')} THEN ${found} END` : found;
      return `SELECT *, ${sql} AS ${step.parts} FROM (${from})`;
    }, rows);
    return `SELECT *, ${isFit} AS ${fits} FROM (${parts})`;
  }, lines);
}

/** Adds the pairs of the group that contains them. */
function paired(rows: string, cuts: readonly Fitted[]): string {
  const style = cuts.find(({ shape }) => shape.pairs)?.shape.pairs?.style;
  if (style === undefined) return rows;
  const cases = cuts.map(
    ({ fits, shape, columns }) => `WHEN ${fits} THEN ${columns.get(shape.pairs?.group ?? '') ?? 'NULL'}`,
  );
  // Most lines have none, which takes no time this way.
  return withPairs(rows, `nullif(CASE ${cases.join(' ')} END, '')`, style);
}

/** Returns the SQL of a field; `otherTime` finds the time of a line without a shape, and is optional as its pattern is slow to compile. */
function textOf(
  name: string,
  cuts: readonly Fitted[],
  keys: readonly string[],
  { absent, escaped }: Lines,
  otherTime: string,
): string {
  const cases = cuts.flatMap(({ columns, fits, shape: { pairs } }) => {
    const column = columns.get(name);
    if (column === undefined) return [];
    return [`WHEN ${fits} THEN ${pairs?.group === name ? otherTokens(keys, pairs.style) : column}`];
  });
  const value = `CASE ${cases.join(' ')} ${name === 'time' ? otherTime : ''} END`;
  if (escaped?.includes(name)) return `regexp_replace(${value}, ${sqlText('\\\\(.)')}, '\\1', 'g')`;
  return absent?.fields.includes(name) ? absentIn(value, absent.text) : value;
}

function absentIn(value: string, text: string | undefined): string {
  return text === undefined ? value : `nullif(${value}, ${sqlText(text)})`;
}

function optionalIn(cuts: readonly Fitted[]): readonly string[] {
  return [...new Set(cuts.flatMap(({ shape }) => shape.optional ?? []))];
}

/** Returns the optional fields without values in the sample. */
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

/** Returns the SQL of whether every part of a line is in a field. */
function complete(
  cuts: readonly Fitted[],
  unused: readonly string[],
  values: ReadonlyMap<string, string>,
): string {
  const cases = cuts.map(({ fits, spans, columns }) => {
    const rest = unused.filter(name => columns.has(name));
    const isEmpty = rest.map(name => `coalesce(${values.get(name)}, '') = ''`);
    return `WHEN ${fits} THEN ${[spans, ...isEmpty].join(' AND ')}`;
  });
  return `CASE ${cases.join(' ')} ELSE false END`;
}
