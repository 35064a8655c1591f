/** The events behind a selection in a result: rows, or an interval on a chart's axis. */

import { present } from '../../present.js';
import { inheritedName } from '../bind/bind-names.js';
import { aggregateName } from '../bind/expressions/aggregate.js';
import { writtenName } from '../catalog/catalog-written.js';
import { autoBinWidth } from '../plan/auto-bin.js';
import type { Assignment, Expr, Operator } from '../syntax/ast.js';
import type { QueryText } from '../syntax/parse.js';
import { withoutDirectives } from '../syntax/readers/charting.js';
import { conditionFor, conditionOn, isExact, type ResultColumn } from './condition.js';
import { endOfEvents } from './editor-events.js';
import { keeps } from './where-line.js';

/** Ends of a query's time range, in nanoseconds since 1970. */
export interface Window {
  readonly start: bigint;
  readonly end: bigint;
}

/** A row as exact strings by column; null for a null. */
export type ChosenRow = ReadonlyMap<string, string | null>;

/** A condition on the events of a query, or why there is none. */
export type Chosen = { readonly condition: string } | { readonly problem: string };

/** Maximum number of rows selected at once. */
const MOST_ROWS = 20;

/**
 * Returns the condition on the events behind rows of a result: those with the value of `column`, or, for a grouped result, those in the
 * groups.
 */
export function chosenRows(
  query: QueryText,
  columns: readonly ResultColumn[],
  column: string,
  rows: readonly ChosenRow[],
  window: Window | undefined,
): Chosen {
  if (rows.length > MOST_ROWS) return { problem: `Choose at most ${MOST_ROWS} rows.` };
  const { groups, after } = groupsOf(query, window);
  const keys = groups === 'none' ? [keyOfField(column)] : groups;
  if (keys === undefined || keys.length === 0) return { problem: NO_PART };
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const lost = keys.find(({ name }) => !types.has(name) || !after.every(each => keeps(each, name)));
  if (lost !== undefined) return { problem: computedLater(lost.name) };
  const conditions = rows.map(row =>
    keys.map(({ name, text }) => {
      const type = types.get(name) ?? '';
      return conditionOn({ field: text, type }, row.get(name) ?? null, true);
    }),
  );
  return { condition: anyOf(conditions) };
}

/** A value of a column that the result is grouped by, as an exact string. */
export interface ChosenValue {
  readonly column: string;
  readonly type: string;
  readonly value: string | null;
}

/** A histogram bucket: its column in the result, and its ends; only the last bucket includes its upper end. */
export interface ChosenBucket {
  readonly column: string;
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

/** A mark of a chart: its groups in the result, the ends of its time bin as literals or `all` for a series, and its bucket. */
export interface ChosenMark {
  readonly values: readonly ChosenValue[];
  readonly span?: readonly [from: string, to: string] | 'all';
  readonly bucket?: ChosenBucket;
}

/** Returns the condition on the events behind a bar, a heatmap cell or a series: those of all groups that it sums. */
export function chosenMark(
  query: QueryText,
  { values, span, bucket }: ChosenMark,
  window: Window | undefined,
): Chosen {
  const { groups, after } = groupsOf(query, window);
  if (groups === undefined) return { problem: NO_PART };
  const isShown = ({ name, isBin }: Key) =>
    values.some(({ column }) => column === name) ||
    (span !== undefined && (isBin === true || name === '_time'));
  const hidden = groups === 'none' ? undefined : groups.find(key => !isShown(key));
  if (hidden !== undefined)
    return { problem: `The result is also grouped by ${hidden.name}, which the chart does not show.` };
  const conditions: string[] = [];
  if (span !== undefined && span !== 'all') {
    const part = chosenPart(query, ...span, true);
    if ('problem' in part) return part;
    conditions.push(part.condition);
  }
  for (const { column, type, value } of values) {
    const key = groups === 'none' ? keyOfField(column) : groups.find(({ name }) => name === column);
    if (key === undefined || !after.every(each => keeps(each, column)))
      return { problem: computedLater(column) };
    if (value !== null && !isExact(type, value)) return { problem: NO_PART };
    conditions.push(conditionOn({ field: key.text, type }, value, true));
  }
  if (bucket !== undefined) {
    const part = bucketOf(query, bucket);
    if ('problem' in part) return part;
    conditions.push(part.condition);
  }
  return conditions.length === 0 ? { problem: NO_PART } : { condition: conditions.join(' and ') };
}

/** Returns the condition on the events counted in a histogram bucket. */
function bucketOf({ text, pipeline }: QueryText, { column, from, to, isLast }: ChosenBucket): Chosen {
  const { operators = [] } = pipeline ?? {};
  const at = operators.findIndex(({ kind }) => kind in grouping);
  const group = operators[at];
  const items = group?.kind === 'summarize' ? group.aggregates : [];
  const [value, , condition] = items.flatMap(item => histogramIn(item, column) ?? []);
  if (value === undefined || !operators.slice(at + 1).every(each => keeps(each, column)))
    return { problem: computedLater(column) };
  const field = operandText(value, text);
  const ends = `${field} >= ${from} and ${field} ${isLast ? '<=' : '<'} ${to}`;
  return {
    condition: condition === undefined ? ends : `${ends} and (${text.slice(condition.from, condition.to)})`,
  };
}

/** Returns the arguments of the histogram in a column; undefined if the item is not a histogram, or is another column. */
function histogramIn({ names, value }: Assignment, column: string): readonly Expr[] | undefined {
  if (value.kind !== 'call' || !/^histogram(?:if)?$/.test(value.callee.name)) return undefined;
  const name = names[0]?.name ?? aggregateName(value, value.callee.name);
  return name === column ? value.args.map(each => each.value) : undefined;
}

const NO_PART = 'Rows of this result do not correspond to a subset of the events.';

function computedLater(name: string): string {
  return `The events do not have this ${name}: the query computes it later.`;
}

function keyOfField(name: string): Key {
  return { name, text: writtenName(name) };
}

/**
 * Returns what groups a result (`none` if its rows are events, undefined if an event does not determine it), and the operators after that.
 */
function groupsOf(
  query: QueryText,
  window: Window | undefined,
): { readonly groups: readonly Key[] | 'none' | undefined; readonly after: readonly Operator[] } {
  const { operators = [] } = query.pipeline ?? {};
  const at = operators.findIndex(({ kind }) => kind in grouping);
  if (at < 0) return { groups: 'none', after: operators.slice(endOfEvents(operators)) };
  return { groups: keysOf(operators[at], query.text, window), after: operators.slice(at + 1) };
}

/**
 * Returns the source that an event of a result is from, with the statements before it, and the condition for events with the same value of
 * `column`, if the source has that field; undefined if the result's rows are not events with their `_time`.
 */
export function sourceOfRow(
  { text, pipeline }: QueryText,
  column: ResultColumn,
  value: string | null,
): { readonly source: string; readonly condition?: string } | undefined {
  if (pipeline === undefined || pipeline.source.kind !== 'dataset') return undefined;
  const { source, operators } = pipeline;
  const isThere = (field: string) => operators.every(each => keeps(each, field));
  if (!isThere('_time') || operators.some(({ kind }) => kind in grouping)) return undefined;
  const hasField = column.name !== '_time' && isThere(column.name);
  return {
    source: withoutDirectives(text.slice(0, source.to)),
    ...present({ condition: hasField ? conditionFor(column, value, true) : undefined }),
  };
}

/** Returns the condition on the events in an interval of a chart's axis; its ends are literals, the upper one exclusive. */
export function chosenPart(query: QueryText, from: string, to: string, isTime: boolean): Chosen {
  const { operators = [] } = query.pipeline ?? {};
  const group = operators.slice(endOfEvents(operators)).find(({ kind }) => kind in grouping);
  const axes = group === undefined ? [] : axesOf(group);
  const field = axes[0] === undefined ? '_time' : query.text.slice(axes[0].from, axes[0].to);
  const isSure = axes.length === 1 || (isTime && axes.length === 0 && isOfTime(group));
  if (!isSure) return { problem: 'The query does not determine which field is on the axis of this chart.' };
  return { condition: `${field} >= ${from} and ${field} < ${to}` };
}

/** Operators whose output rows are groups of their input rows. */
const grouping = { summarize: true, 'make-series': true, distinct: true };

interface Key {
  readonly name: string;
  /** Expression over the events. */
  readonly text: string;
  readonly isBin?: true;
}

/** Returns the keys of a grouping operator; undefined if one cannot be computed from an event alone. */
function keysOf(
  operator: Operator | undefined,
  text: string,
  window: Window | undefined,
): readonly Key[] | undefined {
  const keys = itemsOf(operator).map(item => keyOf(item, text, window));
  return keys.every(key => key !== undefined) ? keys : undefined;
}

function itemsOf(operator: Operator | undefined): readonly Assignment[] {
  if (operator?.kind === 'summarize' || operator?.kind === 'make-series') return operator.by;
  return operator?.kind === 'distinct' ? operator.items : [];
}

function keyOf({ names, value }: Assignment, text: string, window: Window | undefined): Key | undefined {
  const bin = binOf(value);
  const name = names[0]?.name ?? inheritedName(value) ?? (bin && inheritedName(bin.field));
  if (name === undefined || value.kind === 'star' || isOfAll(value)) return undefined;
  const isBin = bin === undefined ? {} : { isBin: true as const };
  if (bin?.word !== 'bin_auto') return { name, text: operandText(value, text), ...isBin };
  if (window === undefined) return undefined;
  const width = autoBinWidth(window.start, window.end) / 1_000_000_000n;
  return { name, text: `bin(${text.slice(bin.field.from, bin.field.to)}, ${width}s)`, ...isBin };
}

/** Returns the source of an expression as an operand of a comparison. */
function operandText({ kind, from, to }: Expr, text: string): string {
  const written = text.slice(from, to);
  return kind === 'binary' || kind === 'between' || kind === 'unary' ? `(${written})` : written;
}

/** True for a key computed from all events, such as a histogram's bins. */
function isOfAll(value: Expr): boolean {
  return value.kind === 'call' && value.callee.name === 'histogram';
}

const binning: ReadonlySet<string> = new Set(['bin', 'bin_auto', 'floor']);

function binOf(value: Expr): { readonly word: string; readonly field: Expr } | undefined {
  if (value.kind !== 'call' || !binning.has(value.callee.name)) return undefined;
  const field = value.args[0]?.value;
  return field && { word: value.callee.name, field };
}

/** Returns the binned expressions: one of them is the axis of the chart. */
function axesOf(operator: Operator): readonly Expr[] {
  if (operator.kind === 'make-series') return [operator.on];
  return itemsOf(operator).flatMap(({ value }) => binOf(value)?.field ?? []);
}

/** True for events, and for groups by time. */
function isOfTime(group: Operator | undefined): boolean {
  return group === undefined || itemsOf(group).some(({ value }) => inheritedName(value) === '_time');
}

function anyOf(conditions: readonly (readonly string[])[]): string {
  const each = [...new Set(conditions.map(parts => parts.join(' and ')))];
  if (each.length === 1) return each[0] ?? '';
  const isOne = conditions.every(parts => parts.length === 1);
  return each.map(condition => (isOne ? condition : `(${condition})`)).join(' or ');
}
