import type { QueryRequest, StatusMessage } from '../api/wire.js';
import type { Diagnostic } from '../apl/ast.js';
import { bind } from '../apl/bind.js';
import { parseDatetime, parseTimespan } from '../apl/literals.js';
import { parseQuery } from '../apl/parse.js';
import type { Bound, Plan, Relation } from '../apl/plan.js';
import type { CompiledField, CompiledQuery, CompiledTable, DatasetCatalog } from './compiled.js';
import { autoBinWidth } from './functions/datetime.js';
import { TemplateError } from './functions/literal.js';
import { relationSql } from './sql.js';

export type CompileResult =
  | { readonly ok: true; readonly compiled: CompiledQuery }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

const defaultRowLimit = 1000;
/** The most rows that one request returns. */
const serverRowLimit = 1_000_000;
const hourNs = 3_600_000_000_000n;

/**
 * Compiles a request to SQL: parse, bind against the catalogue's schemas, plan, write. Times are nanoseconds since 1970;
 * without a time range the last hour is read. What cannot be compiled is refused by name and position.
 */
export function compileRequest(request: QueryRequest, catalog: DatasetCatalog, now: bigint): CompileResult {
  const window = requestWindow(request, now);
  if (!window.ok) return { ok: false, diagnostics: [window.diagnostic] };
  const { start, end } = window;
  const parsed = parseQuery(request.apl);
  const environment = {
    schema: (name: string) => catalog.schema(name),
    datasets: () => catalog.names(),
    now,
    start,
    end,
    variables: request.variables ?? {},
    autoBin: autoBinWidth(start, end),
  };
  const bound = bind(parsed.query, request.apl, environment);
  const diagnostics = [...parsed.diagnostics, ...bound.diagnostics].sort((a, b) => a.from - b.from);
  const unreadable = parsed.diagnostics.some(diagnostic => diagnostic.severity === 'error');
  if (bound.plan === undefined || unreadable)
    return { ok: false, diagnostics: diagnostics.filter(diagnostic => diagnostic.severity === 'error') };
  return write(bound.plan, request, { now, start, end }, catalog, notices(diagnostics));
}

interface Window {
  readonly now: bigint;
  readonly start: bigint;
  readonly end: bigint;
}

function write(
  plan: Plan,
  request: QueryRequest,
  window: Window,
  catalog: DatasetCatalog,
  messages: readonly StatusMessage[],
): CompileResult {
  const limited = limitRows(plan, request);
  try {
    const sql = relationSql(limited.relation, window, (...scan) => catalog.scan(...scan));
    const table: CompiledTable = {
      name: '0',
      sql,
      fields: plan.relation.columns.map(fieldOf),
      order: limited.order,
      groups: plan.groups,
      sources: plan.datasets,
      range: { field: '_time', start: window.start, end: window.end },
      ...(plan.bucket === undefined ? {} : { buckets: plan.bucket }),
      rowLimit: limited.rowLimit,
    };
    return {
      ok: true,
      compiled: {
        tables: [table],
        datasets: plan.datasets,
        notices: messages,
        ...(limited.implicit ? { implicitLimit: limited.rowLimit.rows } : {}),
      },
    };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return {
      ok: false,
      diagnostics: [
        {
          severity: 'error',
          code: error.code,
          from: error.span?.from ?? 0,
          to: error.span?.to ?? request.apl.length,
          message: error.message,
          ...(error.hint === undefined ? {} : { hint: error.hint }),
        },
      ],
    };
  }
}

function fieldOf(column: Plan['relation']['columns'][number]): CompiledField {
  const { name, type, unit, description, agg } = column;
  const meta =
    unit === undefined && description === undefined
      ? {}
      : { meta: { name, type, unit: unit ?? '', hidden: false, description: description ?? '' } };
  return { name, type, ...(agg === undefined ? {} : { agg }), ...meta };
}

interface Limited {
  readonly relation: Relation;
  readonly order: Plan['order'];
  readonly rowLimit: NonNullable<CompiledTable['rowLimit']>;
  readonly implicit: boolean;
}

/** Newest first and at most 1,000 rows where the query says nothing; one row more is fetched, to know whether any was cut. */
function limitRows(plan: Plan, request: QueryRequest): Limited {
  const sorted = implicitOrder(plan);
  const wanted = request.defaultLimit ?? defaultRowLimit;
  const implicit = !plan.bounded && wanted < serverRowLimit;
  const rows = implicit ? wanted : serverRowLimit;
  const reason = !implicit ? 'server' : request.defaultLimit === undefined ? 'default' : 'request';
  const count: Bound = { kind: 'constant', type: 'long', value: BigInt(rows) + 1n };
  const relation: Relation = { kind: 'limit', input: sorted.relation, count, columns: plan.relation.columns };
  return { relation, order: sorted.order, rowLimit: { rows, reason }, implicit };
}

function implicitOrder(plan: Plan): { relation: Relation; order: Plan['order'] } {
  const time = timeOf(plan.relation);
  if (plan.order.length > 0 || (plan.bounded && plan.bucket?.field !== '_time'))
    return { relation: plan.relation, order: plan.order };
  if (time === undefined) return { relation: newestFirst(plan.relation) ?? plan.relation, order: [] };
  const binned = plan.bucket?.field === '_time';
  const keys = [
    {
      value: { kind: 'column', id: time.id, type: time.type } as const,
      descending: !binned,
      nullsFirst: false,
    },
  ];
  return {
    relation: { kind: 'sort', input: plan.relation, keys, columns: plan.relation.columns },
    order: [{ field: '_time', desc: !binned }],
  };
}

function timeOf(relation: Relation): Relation['columns'][number] | undefined {
  return relation.columns.find(column => column.name === '_time' && column.type === 'datetime');
}

/** Sorts where the time still is, below what leaves it out; undefined where it never was. */
function newestFirst(relation: Relation): Relation | undefined {
  const time = timeOf(relation);
  if (time !== undefined) {
    const value = { kind: 'column', id: time.id, type: time.type } as const;
    const keys = [{ value, descending: true, nullsFirst: false }];
    return { kind: 'sort', input: relation, keys, columns: relation.columns };
  }
  if (relation.kind !== 'project' && relation.kind !== 'filter') return undefined;
  const input = newestFirst(relation.input);
  return input === undefined ? undefined : { ...relation, input };
}

type RequestWindow =
  | { readonly ok: true; readonly start: bigint; readonly end: bigint }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

function requestWindow(request: QueryRequest, now: bigint): RequestWindow {
  const end = request.endTime === undefined ? now : parseTime(request.endTime, now);
  const start = request.startTime === undefined ? (end ?? now) - hourNs : parseTime(request.startTime, now);
  if (start === undefined || end === undefined)
    return badTime(
      start === undefined ? 'startTime' : 'endTime',
      start === undefined ? request.startTime : request.endTime,
    );
  if (start > end) return badTime('startTime', request.startTime, 'it is after endTime');
  return { ok: true, start, end };
}

/** RFC 3339, `now`, `now-1h`, `now+5m`. */
function parseTime(text: string, now: bigint): bigint | undefined {
  const relative = /^now\s*(?:([+-])\s*(.+))?$/.exec(text.trim());
  if (relative === null) return parseDatetime(text);
  if (relative[2] === undefined) return now;
  const offset = parseTimespan(relative[2]);
  return offset === undefined ? undefined : relative[1] === '-' ? now - offset : now + offset;
}

function badTime(
  name: string,
  value: string | undefined,
  why = 'it is neither RFC 3339 nor relative',
): RequestWindow {
  const message = `${name} ${JSON.stringify(value)} cannot be used: ${why}`;
  return {
    ok: false,
    diagnostic: {
      severity: 'error',
      code: 'bad-time',
      from: 0,
      to: 0,
      message,
      hint: 'For example: 2026-01-02T03:04:05Z, now-1h.',
    },
  };
}

function notices(diagnostics: readonly Diagnostic[]): StatusMessage[] {
  return diagnostics
    .filter(diagnostic => diagnostic.severity === 'warning')
    .map(diagnostic => ({
      priority: 'warn',
      count: 1,
      code: diagnostic.code,
      msg: diagnostic.hint === undefined ? diagnostic.message : `${diagnostic.message}. ${diagnostic.hint}`,
    }));
}
