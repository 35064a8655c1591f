import { createHash } from 'node:crypto';
import { type LegacyResult, noTime, type QueryRequest } from '../../../api/wire.js';
import type { TypeName } from '../../../apl/catalog/entry.js';
import { present } from '../../../present.js';
import { formatTime, parseTime } from '../../../time.js';
import { asJson } from '../../engine/engine-columns.js';
import type { QueryAnswer, RanTable } from '../../engine/engine-run.js';
import { type CompiledTable, cursorField } from '../../sql/compiled-query.js';
import { cursorId } from '../../sql/sql-cursor.js';
import { timeText } from './tabular.js';

/**
 * Returns the bytes of a response body in the older format (https://axiom.co/docs/restapi/endpoints/queryDataset), a {@link LegacyResult}:
 * events under `matches`, groups under `buckets`, with one entry of `series` per time bin and one of `totals` per group.
 */
export function legacyBody(answered: QueryAnswer, request: QueryRequest): readonly Buffer[] {
  const answer = withOwnCursors(answered, request);
  const members: Readonly<Record<keyof LegacyResult, string>> = {
    request: JSON.stringify({ ...rangeOf(answer.tables[0]), ...request }),
    status: JSON.stringify(answer.status),
    ...rowsIn(answer, request),
    datasetNames: JSON.stringify(answer.query.datasets),
  };
  return [Buffer.from(object(Object.entries(members)), 'utf8')];
}

/** Returns the body of a response to a structured query: strict clients accept no other members. */
export function structuredBody(answered: QueryAnswer, request: QueryRequest): readonly Buffer[] {
  const answer = withOwnCursors(answered, request);
  const { blocksCached: _, blocksMatched: __, cacheStatus: ___, messages = [], ...status } = answer.status;
  const known = { ...status, messages: messages.map(each => ({ ...each, code: structuredCode(each.code) })) };
  return [
    Buffer.from(
      object(Object.entries({ status: JSON.stringify(known), ...rowsIn(answer, request) })),
      'utf8',
    ),
  ];
}

/** Returns a request as it will run: event ids are cursors, from which clients continue. */
export function withRowCursors(request: QueryRequest): QueryRequest {
  return { ...request, includeCursorField: true };
}

/** Removes the notice about missing cursors unless the client asked for them, as {@link withRowCursors} always does. */
function withOwnCursors(answer: QueryAnswer, { includeCursorField = false }: QueryRequest): QueryAnswer {
  if (includeCursorField) return answer;
  const messages = answer.status.messages?.filter(({ code }) => code !== 'no_cursor_field') ?? [];
  const { messages: _, ...status } = answer.status;
  return {
    ...answer,
    status: { ...status, ...present({ messages: messages.length > 0 ? messages : undefined }) },
  };
}

/** Clients accept only these codes, and those of the compiler. */
function structuredCode(code: string): string {
  return /^(?:virtual_field_finalize_error|missing_column|license_limit_for_query_warning|default_limit_warning|apl_.*|)$/.test(
    code,
  )
    ? code
    : `apl_${code}`;
}

function rowsIn(
  { tables }: QueryAnswer,
  { includeCursorField = false }: QueryRequest,
): Readonly<Record<'matches' | 'buckets', string>> {
  const [first] = tables;
  const grouped = first !== undefined && isAggregated(first.table);
  return {
    matches: `[${first === undefined || grouped ? '' : matches(first, includeCursorField).join(',')}]`,
    buckets: buckets(grouped ? tables : []),
  };
}

/** Returns the range that was read: clients expect one even if they did not request it. */
function rangeOf(first: RanTable | undefined): Pick<QueryRequest, 'startTime' | 'endTime'> {
  const { range } = first?.table ?? {};
  if (range === undefined) return {};
  return { startTime: timeText(range.start), endTime: timeText(range.end) };
}

function isAggregated({ groups, buckets, fields }: CompiledTable): boolean {
  return groups.length > 0 || buckets !== undefined || fields.some(field => field.agg !== undefined);
}

/** Returns the rows of a table with their cells as JSON text, so no number loses digits. */
function rowsOf({ table, columns }: RanTable): Row[] {
  const cells = table.fields.map((_, index) => asJson(columns).cells(index));
  return Array.from({ length: columns.rows }, (_, row) =>
    Object.fromEntries(table.fields.map(({ name }, index) => [name, cells[index]?.[row] ?? 'null'])),
  );
}

/** JSON text by field. */
type Row = Readonly<Record<string, string>>;

const systemFields = ['_time', '_sysTime'];

/** Clients expect both times in each event, and strict ones do not accept null. */
const absentTime = JSON.stringify(noTime);

/**
 * Returns events with stable ids: the same event has the same id in every response. Equal events are numbered, or told apart by their
 * cursors if available.
 */
function matches(ran: RanTable, showsCursors: boolean): string[] {
  const hasCursors = ran.table.page?.ofRows === true;
  const apart = hasCursors && !showsCursors ? [...systemFields, cursorField] : systemFields;
  const fields = ran.table.fields.map(field => field.name).filter(name => !apart.includes(name));
  const seen = new Map<string, number>();
  const dataOf = nesting(fields);
  return rowsOf(ran).map(row => {
    const data = dataOf(row);
    const times = systemFields.map((name): Entry => [name, row[name] ?? 'null']);
    const content = object([...times, ['data', data]]);
    const told = times.map(([name, json]): Entry => [name, json === 'null' ? absentTime : json]);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 24);
    const before = seen.get(hash) ?? 0;
    seen.set(hash, before + 1);
    const cursor = hasCursors ? JSON.parse(row[cursorField] ?? 'null') : null;
    const numbered = before === 0 ? hash : `${hash}-${before}`;
    const id = cursor === null ? numbered : cursorId(cursor, hash);
    return object([...told, ['_rowId', JSON.stringify(id)], ['data', data]]);
  });
}

/** Members by name: the JSON of a value, or the members of a nested object. */
type Members = Map<string, string | Members>;

/** Maximum nesting: a name with more dots stays flat. */
const deepest = 64;

/** Returns a function that writes the fields of a row as an object, with dotted names as paths unless a value is in the way. */
function nesting(names: readonly string[]): (row: Row) => string {
  const known = new Set(names);
  const fields = names.map(name => {
    const split = name.split('.');
    const path = split.includes('') || split.length > deepest ? [name] : split;
    const above = path.slice(1).map((_, index) => path.slice(0, index + 1).join('.'));
    return { name, path, above: above.filter(each => known.has(each)) };
  });
  return row => {
    const members: Members = new Map();
    for (const { name, path, above } of fields) {
      const isBlocked = above.some(each => (row[each] ?? 'null') !== 'null');
      put(members, isBlocked ? [name] : path, row[name] ?? 'null');
    }
    return textOf(members);
  };
}

/** Adds a value at a path. Only a null can be in the place of an object, and gives way to it. */
function put(members: Members, [name = '', ...below]: readonly string[], json: string): void {
  const before = members.get(name);
  if (below.length > 0) {
    const inner: Members = before instanceof Map ? before : new Map();
    members.set(name, inner);
    put(inner, below, json);
  } else if (!(before instanceof Map)) members.set(name, json);
}

function textOf(members: Members): string {
  return object([...members].map(([name, value]) => [name, value instanceof Map ? textOf(value) : value]));
}

function buckets(tables: readonly RanTable[]): string {
  const [first] = tables;
  if (first === undefined) return '{"series":[],"totals":[]}';
  const ids = new Ids();
  const { field, size } = first.table.buckets ?? {};
  const time = first.table.fields.find(each => each.name === field && isTime(each.type));
  const totals =
    tables.find(each => each.table.name === '_totals') ?? (time === undefined ? first : undefined);
  const listed = totals === undefined ? [] : rowsOf(totals).map(row => group(totals.table, row, ids));
  const series = time === undefined ? [] : seriesOf(first, time.name, BigInt(size ?? 0), ids);
  return `{"series":[${series.join(',')}],"totals":[${listed.join(',')}]}`;
}

function isTime(type: TypeName): boolean {
  return type === 'datetime';
}

function seriesOf(ran: RanTable, time: string, size: bigint, ids: Ids): string[] {
  const bins = new Map<string, string[]>();
  for (const row of rowsOf(ran)) {
    const start = row[time] ?? 'null';
    const groups = bins.get(start) ?? [];
    groups.push(group(ran.table, row, ids));
    bins.set(start, groups);
  }
  return [...bins].map(([start, groups]) =>
    object([
      ['startTime', start === 'null' ? absentTime : start],
      ['endTime', later(start, size)],
      ['groups', `[${groups.join(',')}]`],
    ]),
  );
}

function group({ fields, groups, buckets: bins }: CompiledTable, row: Row, ids: Ids): string {
  const keys = object(groups.map(name => [name, row[name] ?? 'null']));
  const values = fields.filter(({ name }) => !groups.includes(name) && name !== bins?.field);
  const aggregations = values.map(({ name }) =>
    object([
      ['op', JSON.stringify(name)],
      ['value', row[name] ?? 'null'],
    ]),
  );
  return object([
    ['id', String(ids.of(keys))],
    ['group', keys],
    ['aggregations', `[${aggregations.join(',')}]`],
  ]);
}

/** Assigns numbers to the groups of a response, from 1 in the order of their totals. */
class Ids {
  readonly #known = new Map<string, number>();

  of(keys: string): number {
    const known = this.#known.get(keys) ?? this.#known.size + 1;
    this.#known.set(keys, known);
    return known;
  }
}

function later(start: string, size: bigint): string {
  const ns = start === 'null' ? undefined : parseTime(JSON.parse(start));
  return ns === undefined ? absentTime : JSON.stringify(formatTime(ns + size, 'fewest'));
}

type Entry = readonly [name: string, json: string];

function object(entries: readonly Entry[]): string {
  return `{${entries.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}
