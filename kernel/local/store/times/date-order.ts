import { cut } from '../../../text.js';
import { type DateOrder, dateOrders, formatTime } from '../../../time.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { bareTime, orderBits, orderedNs } from '../../functions/function-date-order.js';
import { LocalError } from '../../local-errors.js';

/** Date order found in a column. `order` is undefined if no date needs one. */
export interface FoundOrder {
  readonly order?: DateOrder;
  readonly notes: readonly string[];
  /** Why the order is ambiguous, if so. */
  readonly refusal?: LocalError;
}

/** Dates that allow the same orders, with an example. */
interface Group {
  readonly bits: number;
  readonly example: string;
}

const orderNames = { dmy: 'day first', mdy: 'month first', ymd: 'year first' } as const;

/** Location of the dates, and whether this is a file import: an ingest request has other options. */
interface OrderOptions {
  readonly sample: string;
  readonly file: string;
  readonly whole: boolean;
  readonly inFile: boolean;
}

/**
 * Returns the date order of a column: from the sample if it is conclusive, otherwise from the whole file, in which each date may be the
 * first of a month. `text` is the SQL of the dates over both relations.
 */
export async function findOrder(
  connection: Connection,
  field: string,
  text: string,
  { sample, file, whole, inFile }: OrderOptions,
): Promise<FoundOrder> {
  if (!whole) {
    const found = orderOf(field, await groupsOf(connection, text, sample), inFile);
    if (found.refusal === undefined) return found;
  }
  const found = orderOf(field, await groupsOf(connection, text, file), inFile);
  if (found.refusal === undefined) return found;
  const order = await monthlyOrder(connection, text, file);
  if (order === undefined) return found;
  return {
    order,
    notes: [
      `Dates in \`${field}\` are read ${orderNames[order]}, which makes every date the first of a month.`,
    ],
  };
}

/**
 * Returns the order in which every date is the first of a month. With the other order, all dates would be in January, so three years with
 * three dates each are conclusive.
 */
async function monthlyOrder(
  connection: Connection,
  text: string,
  file: string,
): Promise<'dmy' | 'mdy' | undefined> {
  const part = (index: number) =>
    `coalesce(try_cast(regexp_extract(t, ${sqlText(longYear)}, ${index}) AS INTEGER), 0)`;
  const [row] = await connection.run(
    `SELECT bool_and(dmy), bool_and(mdy), count(*) FILTER (dates > 2) FROM (
       SELECT bool_and(a = 1) AS dmy, bool_and(b = 1) AS mdy, count(DISTINCT (a, b)) AS dates FROM (
         SELECT ${part(1)} AS a, ${part(2)} AS b, ${part(3)} AS y FROM (SELECT ${text} AS t FROM ${file})
         WHERE ${beginsWithNumbers('t')})
       GROUP BY y)`,
  );
  const [dmy, mdy, years] = row ?? [];
  if (Number(years) < 3) return undefined;
  return dmy === true ? 'dmy' : mdy === true ? 'mdy' : undefined;
}

/** A date with slashes or hyphens and a four-digit year. */
const longYear = '^\\s*\\[?(\\d{1,2})[-/](\\d{1,2})[-/](\\d{4})';

async function groupsOf(connection: Connection, text: string, relation: string): Promise<Group[]> {
  const rows = await connection.run(
    `SELECT b, coalesce(min(t) FILTER (${telling}), min(t)) FROM (
       SELECT t, apl_date_orders(t) AS b FROM (
         SELECT min(t) AS t FROM (SELECT ${text} AS t FROM ${relation}) WHERE ${beginsWithNumbers('t')}
         GROUP BY CASE WHEN regexp_full_match(t, ${sqlText(withClock)}) THEN regexp_extract(t, ${sqlText(withClock)}, 1) ELSE t END))
     WHERE b > 0 GROUP BY b ORDER BY 2`,
  );
  return rows.map(([bits, example]) => ({ bits: Number(bits), example: String(example) }));
}

/** Whether the readings of a date differ visibly: its first two numbers are different. */
const telling =
  "regexp_extract(t, '(\\d+)\\D+(\\d+)', 1)::INTEGER <> regexp_extract(t, '(\\d+)\\D+(\\d+)', 2)::INTEGER";

/** A date with a time of day, which is irrelevant to the order: one text per day suffices. */
const withClock =
  '(\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{4}) (?:(?:0\\d|1\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?|(?:0?[1-9]|1[0-2]):[0-5]\\d:[0-5]\\d [AP]M)';

/** Returns the SQL of whether a text may begin with a date of ambiguous order, to pass as few rows as possible to JavaScript. */
export function beginsWithNumbers(text: string): string {
  return `regexp_matches(${text}, ${sqlText('^\\s*\\[?\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2}')})`;
}

function orderOf(field: string, groups: readonly Group[], inFile: boolean): FoundOrder {
  const open = openIn(groups);
  const [first, second] = open;
  if (groups.length === 0) return { notes: [] };
  if (first === undefined) return { notes: [], refusal: mixedDates(field, groups, inFile) };
  if (second === undefined) {
    const proof = groups.find(({ bits }) => openIn([{ bits, example: '' }]).length === 1) ?? groups[0];
    const shown = proof === undefined ? '' : `, as in ${quoted(proof.example)}`;
    return { order: first, notes: [`Dates in \`${field}\` are read ${orderNames[first]}${shown}.`] };
  }
  if (first === 'dmy' && groups.some(({ bits }) => (bits & orderBits.dots) > 0))
    return { order: first, notes: [`Dates in \`${field}\` are read day first because they contain dots.`] };
  const unlike = groups.find(({ bits }) => (bits & orderBits.differ) > 0);
  if (unlike === undefined) return { order: first, notes: [] };
  return { notes: [], refusal: undecided(field, unlike, orderHint(open, inFile), open) };
}

function openIn(groups: readonly Group[]): DateOrder[] {
  return dateOrders.filter(order => groups.every(({ bits }) => (bits & orderBits[order]) > 0));
}

function undecided(field: string, { example }: Group, hint: string, open: readonly DateOrder[]): LocalError {
  const readings = open.map(order => {
    const time = orderedNs(bareTime(example), order);
    return `${time === null ? '' : formatTime(time)} (${orderNames[order]})`;
  });
  const message = `The order of the dates in \`${field}\` is ambiguous: ${quoted(example)} is ${readings.join(' or ')}.`;
  return new LocalError('invalid', 'date-order', message, { hint });
}

/** Returns the error with two dates that have no order in common. */
function mixedDates(field: string, groups: readonly Group[], inFile: boolean): LocalError {
  const last = groups.findIndex((_, index) => openIn(groups.slice(0, index + 1)).length === 0);
  const other = groups[last];
  const against =
    groups.slice(0, last).find(each => other && openIn([each, other]).length === 0) ?? groups[0];
  const shown = [against, other].map(group => quoted(group?.example ?? '')).join(' and ');
  return new LocalError(
    'invalid',
    'date-order',
    `The dates in \`${field}\` have no common order: ${shown}.`,
    {
      hint: `${orderHint(dateOrders, inFile)} Dates that do not match get the time of the import and are counted.`,
    },
  );
}

function orderHint(orders: readonly DateOrder[], inFile: boolean): string {
  if (!inFile) return 'Set their format in the request, such as `timestamp-format=02/01/2006`.';
  return `Import with ${orders.map(order => `\`--dates ${order}\``).join(' or ')}.`;
}

function quoted(text: string): string {
  return JSON.stringify(cut(text, 80));
}

/**
 * Returns the SQL of some time for every text that is a date in any order, so that a column of such dates counts as times although it is
 * refused.
 */
export function dateAtAll(text: string, nowNs: bigint): string {
  return `CASE WHEN apl_date_orders(${text}) > 0 THEN ${nowNs}::BIGINT END`;
}

const otherOrder = 'a date does not fit the order of the sample';

/**
 * Returns the SQL that ends the pass at a date that is invalid in the order of the sample but valid in another; `text` is the SQL of the
 * date.
 */
export function orderMismatch(text: string): string {
  return `CASE WHEN apl_date_orders(${text}) > 0 THEN error(${sqlText(`${otherOrder}: `)} || hex(left(${text}, 80)))::BIGINT END`;
}

/** Returns whether a pass ended at such a date, in which case all dates of the file determine the order. */
export function isOrderMismatch(failure: string | undefined): boolean {
  return failure?.startsWith(`Invalid Input Error: ${otherOrder}`) ?? false;
}
