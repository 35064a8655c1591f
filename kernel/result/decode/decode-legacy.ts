/**
 * Converts responses in the older format, of events and groups, to tabular ones: services may send them, and they are displayed the same
 * way. Cells remain the received bytes, so that no digit is lost.
 */
import { isNoTime } from '../../api/wire.js';
import { formatTime, parseTime } from '../../time.js';
import type { Steps } from './decode-slices.js';
import {
  CLOSE_OBJECT,
  DOT,
  JsonBytes,
  MINUS,
  NINE,
  NULL_START,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  ZERO,
} from './json-bytes.js';

/** Returns a response in the older format as a tabular one, and any other body unchanged; throws a DecodeError. */
export function* asTabular(body: Uint8Array): Steps<Uint8Array> {
  const json = new JsonBytes(body);
  if (!(yield* isOlderFormat(json))) return body;
  json.pos = 0;
  json.skipBom();
  return yield* converted(json);
}

/** Returns whether events or groups come before any tables. */
export function* isOlderFormat(json: JsonBytes): Steps<boolean> {
  yield* json.part(() => json.skipBom());
  if ((yield* json.part(() => json.peek())) !== OPEN_OBJECT) return false;
  json.pos++;
  if (yield* json.part(() => json.accept(CLOSE_OBJECT))) return false;
  do {
    const key = yield* json.part(() => json.key());
    const opens = yield* json.part(() => json.peek());
    if (key === 'tables') return false;
    if ((key === 'matches' && opens === OPEN_ARRAY) || (key === 'buckets' && opens === OPEN_OBJECT))
      return true;
    yield* json.part(() => json.skip());
  } while (yield* json.part(() => json.another(CLOSE_OBJECT)));
  return false;
}

function* converted(json: JsonBytes): Steps<Uint8Array> {
  const rest: Record<string, unknown> = {};
  const events = new Rows();
  let buckets: Buckets | undefined;
  for (const key of json.keys()) {
    const opens = json.peek();
    if (key === 'matches' && opens === OPEN_ARRAY) yield* readEvents(json, events);
    else if (key === 'buckets' && opens === OPEN_OBJECT) buckets = yield* readBuckets(json);
    else rest[key] = json.value();
  }
  if (!Number.isNaN(json.peek())) json.fail(`expected the end of the response, found ${json.found()}`);
  const { startTime, endTime } = (rest.request ?? {}) as Readonly<Record<string, unknown>>;
  const range =
    isText(startTime) && isText(endTime) ? { field: '_time', start: startTime, end: endTime } : undefined;
  const tables =
    events.count > 0 || buckets === undefined ? [events.table('0', { range })] : buckets.tables(range);
  const head = JSON.stringify({ ...rest, format: 'tabular' }).slice(0, -1);
  return Buffer.concat([Buffer.from(`${head},"tables":[`), ...between(tables), Buffer.from(']}')]);
}

/** Rows whose cells arrive by name; names that a row lacks are null. */
class Rows {
  count = 0;
  readonly #columns = new Map<
    string,
    { type: string | undefined; filled: number; readonly cells: Uint8Array[] }
  >();

  /** Adds the value at the position of the reader to the last row. */
  take(name: string, json: JsonBytes, type?: string): void {
    const kind = json.peek();
    const from = json.pos;
    json.skip();
    const found = typeOf(kind, json.bytes, from, json.pos);
    this.add(name, json.bytes.subarray(from, json.pos), found && (type ?? found));
  }

  add(name: string, cell: Uint8Array, type: string | undefined): void {
    const column = this.#columns.get(name) ?? { type: undefined, filled: 0, cells: [] };
    this.#columns.set(name, column);
    // If an object has a name twice, only its first value counts.
    if (column.filled >= this.count) return;
    while (column.filled++ < this.count - 1) column.cells.push(NULL);
    column.filled = this.count;
    column.cells.push(cell);
    column.type = together(column.type, type);
  }

  table(name: string, members: object): Buffer {
    // Events have both times even if the query has neither.
    const isShown = (field: string, type: string | undefined) =>
      type !== undefined || !SYSTEM_TIMES.includes(field);
    const shown = [...this.#columns].filter(([field, { type }]) => isShown(field, type));
    const columns = shown.map(([, column]) => column);
    const fields = shown.map(([field, { type }]) => ({ name: field, type: type ?? 'unknown' }));
    const head = JSON.stringify({ name, fields, ...members }).slice(0, -1);
    const cells = columns.map(column => {
      const missing = Array(this.count - column.filled).fill(NULL);
      return Buffer.concat([Buffer.from('['), ...between([...column.cells, ...missing]), Buffer.from(']')]);
    });
    return Buffer.concat([Buffer.from(`${head},"columns":[`), ...between(cells), Buffer.from(']}')]);
  }
}

function* readEvents(json: JsonBytes, events: Rows): Steps<void> {
  for (const index of json.elements()) {
    if (index % STEP_ROWS === 0) yield;
    events.count += 1;
    for (const key of json.keys()) {
      if (SYSTEM_TIMES.includes(key)) readTime(key, json, events);
      else if (key !== 'data' || json.peek() !== OPEN_OBJECT) json.skip();
      else for (const name of json.keys()) events.take(name, json);
    }
  }
}

/** Reads a time. An event without one has a placeholder time, which becomes null. */
function readTime(key: string, json: JsonBytes, events: Rows): void {
  const from = json.pos;
  if (json.peek() === QUOTE && isNoTime(json.value())) events.add(key, NULL, undefined);
  else {
    json.pos = from;
    events.take(key, json, 'datetime');
  }
}

/** Groups of time bins, and groups of the whole range. */
class Buckets {
  readonly series = new Rows();
  readonly totals = new Rows();
  readonly keys = new Set<string>();
  size: bigint | undefined;

  tables(range: object | undefined): readonly Buffer[] {
    const groups = [...this.keys].map(name => ({ name }));
    if (this.series.count === 0) return [this.totals.table('0', { groups, range })];
    const buckets = this.size === undefined ? undefined : { field: '_time', size: Number(this.size) };
    const bins = this.series.table('0', { groups, range, buckets });
    return this.totals.count === 0 ? [bins] : [bins, this.totals.table('_totals', { groups, range })];
  }
}

function* readBuckets(json: JsonBytes): Steps<Buckets> {
  const buckets = new Buckets();
  for (const key of json.keys()) {
    if (json.peek() !== OPEN_ARRAY) json.skip();
    else if (key === 'totals')
      for (const _ of json.elements()) readGroup(json, buckets, buckets.totals, undefined);
    else if (key === 'series')
      for (const _ of json.elements()) {
        yield;
        readBin(json, buckets);
      }
    else json.skip();
  }
  return buckets;
}

/** Reads a bin. Its groups may come before its times. */
function readBin(json: JsonBytes, buckets: Buckets): void {
  let groupsAt: number | undefined;
  const times: Record<string, unknown> = {};
  for (const key of json.keys()) {
    if (key === 'groups' && json.peek() === OPEN_ARRAY) {
      groupsAt = json.pos;
      json.skip();
    } else times[key] = json.value();
  }
  const [start, end] = [timeOf(times.startTime), timeOf(times.endTime)];
  if (start !== undefined && end !== undefined && end > start) buckets.size ??= end - start;
  if (groupsAt === undefined) return;
  const groups = new JsonBytes(json.bytes, groupsAt);
  const time = start === undefined ? NULL : Buffer.from(JSON.stringify(formatTime(start, 'fewest')));
  for (const _ of groups.elements()) readGroup(groups, buckets, buckets.series, time);
}

function readGroup(json: JsonBytes, buckets: Buckets, rows: Rows, time: Uint8Array | undefined): void {
  rows.count += 1;
  if (time !== undefined) rows.add('_time', time, 'datetime');
  let listAt: number | undefined;
  for (const key of json.keys()) {
    const opens = json.peek();
    if (key === 'group' && opens === OPEN_OBJECT) {
      for (const name of json.keys()) {
        buckets.keys.add(name);
        rows.take(name, json);
      }
      continue;
    }
    if (key === 'aggregations' && opens === OPEN_ARRAY) listAt = json.pos;
    json.skip();
  }
  if (listAt === undefined) return;
  const list = new JsonBytes(json.bytes, listAt);
  const taken = new Set(buckets.keys);
  for (const _ of list.elements()) readAggregation(list, rows, taken);
}

/** Reads an aggregation. If its name is taken, by a group or an earlier one, it is numbered. */
function readAggregation(json: JsonBytes, rows: Rows, taken: Set<string>): void {
  let op = '';
  let valueAt: number | undefined;
  for (const key of json.keys()) {
    json.peek();
    if (key === 'value') valueAt = json.pos;
    if (key === 'op' && json.peek() === QUOTE) op = String(json.value());
    else json.skip();
  }
  let name = op;
  for (let number = 1; taken.has(name); number++) name = `${op}_${number}`;
  taken.add(name);
  if (valueAt !== undefined) rows.take(name, new JsonBytes(json.bytes, valueAt));
}

/** Returns the type of a cell, by its first byte and contents; undefined for null. */
function typeOf(kind: number, bytes: Uint8Array, from: number, to: number): string | undefined {
  if (kind === NULL_START) return undefined;
  if (kind === QUOTE) return 'string';
  if (kind === MINUS || (kind >= ZERO && kind <= NINE)) {
    const isWhole = bytes.subarray(from, to).every(byte => byte !== DOT && (byte | 0x20) !== 0x65);
    return isWhole ? 'integer' : 'float';
  }
  return kind === OPEN_ARRAY || kind === OPEN_OBJECT ? 'dynamic' : 'boolean';
}

function together(known: string | undefined, other: string | undefined): string | undefined {
  if (known === undefined || other === undefined || known === other) return known ?? other;
  const areNumbers = [known, other].every(type => type === 'integer' || type === 'float');
  return areNumbers ? 'float' : 'dynamic';
}

function timeOf(value: unknown): bigint | undefined {
  return isText(value) ? parseTime(value) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function between(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [COMMA, part]));
}

const SYSTEM_TIMES = ['_time', '_sysTime'];
const NULL = Buffer.from('null');
const COMMA = Buffer.from(',');
const STEP_ROWS = 1024;
