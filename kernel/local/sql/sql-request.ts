import type { QueryRequest, StatusMessage } from '../../api/wire.js';
import { bind } from '../../apl/bind/bind.js';
import { autoBinWidth } from '../../apl/plan/auto-bin.js';
import { isGrouped, madeRows, mostRows } from '../../apl/plan/effort.js';
import type { Column, Columns, Plan, Relation, Scalar } from '../../apl/plan/plan.js';
import { constant } from '../../apl/plan/scalars.js';
import type { Diagnostic } from '../../apl/syntax/ast.js';
import { mergeDiagnostics } from '../../apl/syntax/diagnostics.js';
import { parseQuery } from '../../apl/syntax/parse.js';
import { present } from '../../present.js';
import { HOUR, isBeyond, isBeyondTime, LATEST_TIME, parseTime, parseTimespan, SECOND } from '../../time.js';
import {
  type Compile,
  type CompiledField,
  type CompiledPage,
  type CompiledQuery,
  type CompiledTable,
  type DatasetCatalog,
  mostRowLimit,
  type RowGroupsOf,
  sharedTable,
} from './compiled-query.js';
import type { Dialect } from './dialect.js';
import { statementSql } from './pushed.js';
import { nothingKnown, type Source } from './relation.js';
import { rewrites, rewrittenQuery } from './rewrite/rewrite-list.js';
import { firstOf, type Page, type PageCursor, type SortedRows } from './rewrite/rewrite-pages.js';
import { type BinnedQuery, totalsSql } from './rewrite/totals.js';
import { readCursor } from './sql-cursor.js';
import { TemplateError } from './sql-template.js';

type CompileResult = ReturnType<Compile>;

const defaultRowLimit = 1000;
/** Number of columns from which the engine holds fewer rows if their times are read first, up to this many rows. */
const manyColumns = 200;
const mostTimes = 10_000;
/** Rows that the engine may hold regardless of their size. */
const fewRows = 1000;
/** Maximum rows of a request without any other limit. */
const usualRowLimit = 1_000_000;

/**
 * Returns the compiler of requests for an engine: parse, bind against the catalog's schemas, plan, write. Times are nanoseconds since 1970;
 * without a time range, the last hour is read. Anything that cannot be compiled is refused by name and position.
 */
export function compilerFor(dialect: Dialect): Compile {
  return (request, catalog, now, external) => {
    const window = requestWindow(request, now);
    if (!window.ok) return { ok: false, diagnostics: [window.diagnostic] };
    const { start, end, clock } = window;
    const parsed = parseQuery(request.apl);
    const environment = {
      schema: (name: string) => catalog.schema(name),
      datasets: () => catalog.names(),
      ...present({ results: catalog.results }),
      now: clock,
      start,
      end,
      variables: request.variables ?? {},
      autoBin: autoBinWidth(start, end),
      ...present({ external }),
    };
    const bound = bind(parsed.query, request.apl, environment);
    const diagnostics = mergeDiagnostics(request.apl, parsed.diagnostics, bound.diagnostics);
    const unreadable = parsed.diagnostics.some(diagnostic => diagnostic.severity === 'error');
    if (bound.plan === undefined || unreadable)
      return { ok: false, diagnostics: diagnostics.filter(diagnostic => diagnostic.severity === 'error') };
    const target = { window: { now: clock, start, end }, catalog, dialect };
    try {
      return write(bound.plan, request, target, notices(diagnostics));
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return { ok: false, diagnostics: [templateDiagnostic(error, request.apl)] };
    }
  };
}

/** The target of a request: its times, the datasets and the engine. */
interface Target {
  readonly window: Window;
  readonly catalog: DatasetCatalog;
  readonly dialect: Dialect;
}

interface Window {
  readonly now: bigint;
  readonly start: bigint;
  readonly end: bigint;
}

function write(
  plan: Plan,
  request: QueryRequest,
  target: Target,
  messages: readonly StatusMessage[],
): CompileResult {
  const { window, catalog, dialect } = target;
  const cursor = request.cursor === undefined ? undefined : readCursor(request.cursor);
  const query = rewrittenQuery({
    plan,
    defaultOrder: request.defaultOrder ?? [],
    placesOf: name => catalog.places?.(name),
    includeCursor: request.includeCursor ?? false,
    windowSeconds: Number(window.end - window.start) / Number(SECOND),
    dialect,
    ...present({ cursor }),
  });
  const { relation, page, sorted, apart } = query;
  const cursorError = request.cursor === undefined ? undefined : cursorProblem(cursor, page);
  if (cursorError !== undefined) return { ok: false, diagnostics: [cursorError] };
  const source: Source = {
    scan: (...asked) => catalog.scan(...asked),
    rowGroups: (...asked) => catalog.rowGroups?.(...asked) ?? [],
    rowCount: (...asked) => catalog.rowCount?.(...asked),
    textLists: name => catalog.textLists?.(name) ?? new Set(),
    bounds: name => catalog.bounds?.(name),
  };
  const statement = { window, source, dialect, columns: plan.columns, ...present({ far: catalog.far }) };
  const toSql = (rows: Relation, shown = rows.columns) => statementSql(rows, statement, shown);
  const rescan: Source['scan'] = (...asked) => catalog.rescan?.(...asked) ?? catalog.scan(...asked);
  const again = { ...statement, source: { ...source, scan: rescan } };
  const toSqlAgain = (rows: Relation, shown = rows.columns) => statementSql(rows, again, shown);
  const rowsToSql = (rows: Relation) => toSql(rows, query.shown);
  const most = mostRows(relation, name => catalog.mostRows?.(name));
  const limit = rowLimit(plan, request, most, apart === undefined ? sorted?.written : undefined);
  const about = {
    ...describe(plan, window),
    fields: plan.relation.columns.map(fieldOf),
    order: query.order,
    rowLimit: limit,
    whole: isGrouped(plan.relation) || Math.min(limit.rows, most) <= fewRows,
  };
  const common = {
    datasets: plan.datasets,
    notices: [...messages, ...ignored(request, query.unknown, page !== undefined)],
    made: madeRows(plan.relation),
  };
  if (apart !== undefined) {
    const compiled = withTotals(common, about, apart, { target, columns: plan.columns }, toSql(apart.binned));
    return { ok: true, compiled };
  }
  const rows = page?.rest ?? sorted;
  const skipped = page?.skipped?.rows ?? 0;
  const statements =
    rows === undefined
      ? { sql: rowsToSql(firstOfAtMost(relation, limit.rows, most)) }
      : sortedStatements(
          { ...rows, count: limit.rows + skipped, shown: query.shown },
          {
            groupsOf: source.rowGroups,
            now: window.now,
            toSql: rowsToSql,
            ...present({ toSqlAgain: catalog.far === undefined ? toSqlAgain : undefined }),
          },
        );

  const paged = page === undefined ? {} : { page: compiledPage(page, limit.rows, rowsToSql, request) };
  const table = { ...about, ...statements, ...paged, name: '0' };
  return { ok: true, compiled: { ...common, tables: [table] } };
}

function templateDiagnostic({ message, hint, span }: TemplateError, apl: string): Diagnostic {
  const { from, to } = span ?? { from: 0, to: apl.length };
  return { severity: 'error', code: 'invalid-argument', from, to, message, ...present({ hint }) };
}

/** Returns the parts of a table that do not depend on its rows. */
function describe(
  plan: Plan,
  { start, end }: Window,
): Pick<CompiledTable, 'groups' | 'sources' | 'range' | 'buckets'> {
  return {
    groups: plan.groups,
    sources: plan.datasets,
    range: { field: '_time', start, end },
    ...present({ buckets: plan.bucket }),
  };
}

type RowLimit = NonNullable<CompiledTable['rowLimit']>;

/**
 * Returns the lowest limit. A request's limit does not thin out a time series: with time bins it is ignored. A request for many rows, or
 * for a result that has many, gets them; `most` is the maximum possible.
 */
function rowLimit(
  plan: Plan,
  { defaultLimit }: QueryRequest,
  most: number,
  written: number | undefined,
): RowLimit {
  const wanted = plan.bucket === undefined ? defaultLimit : undefined;
  const asked = Math.max(usualRowLimit, wanted ?? 0, Number.isFinite(most) ? most : 0);
  const limits: RowLimit[] = [{ rows: Math.min(asked, mostRowLimit), reason: 'server' }];
  if (wanted !== undefined) limits.push({ rows: wanted, reason: 'request' });
  else if (!plan.bounded) limits.push({ rows: defaultRowLimit, reason: 'default' });
  if (written !== undefined) limits.push({ rows: written, reason: 'query' });
  return limits.reduce((lowest, each) => (each.rows <= lowest.rows ? each : lowest));
}

/** Fetches one row more than it returns, to detect whether any was cut. */
function firstRows(relation: Relation, rows: number): Relation {
  const count: Scalar = constant('long', BigInt(rows) + 1n);
  return { kind: 'limit', input: relation, count, columns: relation.columns };
}

/**
 * Like {@link firstRows}, but without a limit if the tables are known to have few enough rows: up to a large limit, the engine uses one
 * thread.
 */
function firstOfAtMost(relation: Relation, rows: number, most: number): Relation {
  return most <= rows ? relation : firstRows(relation, rows);
}

type ToSql = (relation: Relation) => string;

/** Sorted rows, of which `count` are requested, with the shown columns. */
interface WantedRows extends SortedRows {
  readonly count: number;
  readonly shown: readonly Column[];
}

interface StatementContext {
  readonly groupsOf: RowGroupsOf;
  readonly now: bigint;
  readonly toSql: ToSql;
  /** SQL that reads the same rows again; absent if that takes long. */
  readonly toSqlAgain?: (relation: Relation, shown?: readonly Column[]) => string;
}

/** Returns the statements for the first `count` + 1 sorted rows; further ones run only while rows are missing. */
function sortedStatements(
  sorted: WantedRows,
  { groupsOf, now, toSql, toSqlAgain }: StatementContext,
): Pick<CompiledTable, 'sql' | 'times' | 'further'> {
  const { count, shown } = sorted;
  const [first = sorted.sort, ...others] = rewrites.windows(sorted.sort, count, groupsOf, now);
  const wanted = (sort: SortedRows['sort']): Relation => firstOf(sorted, sort, count + 1);
  const isWide = shown.length >= manyColumns && count < mostTimes;
  const found = isWide ? rewrites.times(first, count + 1) : undefined;
  const times = found &&
    toSqlAgain && {
      sql: toSqlAgain(found.times),
      between: (start: bigint, end: bigint) =>
        toSqlAgain(wanted(found.within({ start, end: end + 1n })), shown),
    };
  return {
    sql: toSql(wanted(first)),
    ...present({ times }),
    further: others.map(sort => () => toSql(wanted(sort))),
  };
}

function compiledPage(
  page: Page,
  rows: number,
  toSql: ToSql,
  { cursor, includeCursorField }: QueryRequest,
): CompiledPage {
  const exactSql = (last: bigint | undefined): string => toSql(page.exact(rows, last));
  return { page, exactSql, ofRows: includeCursorField ?? false, ...present({ cursor }) };
}

function cursorProblem(cursor: PageCursor | undefined, page: Page | undefined): Diagnostic | undefined {
  if (cursor !== undefined && page !== undefined) return undefined;
  const message =
    cursor === undefined
      ? '`cursor` is not from this service'
      : '`cursor` requires rows sorted by `_time`, with `_time` among the fields';
  const hint =
    cursor === undefined
      ? 'Send minCursor or maxCursor of an earlier result unchanged.'
      : 'Sort by _time, and do not aggregate in this query.';
  return { severity: 'error', code: 'bad-cursor', from: 0, to: 0, message, hint };
}

/** Compiles a time-binned query and its totals: both read the bins, which are aggregated once. */
function withTotals(
  common: Pick<CompiledQuery, 'datasets' | 'notices' | 'made'>,
  about: Omit<CompiledTable, 'name' | 'sql'> & { readonly rowLimit: RowLimit },
  apart: BinnedQuery,
  { target, columns }: { readonly target: Target; readonly columns: Columns },
  shared: string,
): CompiledQuery {
  const { rows } = about.rowLimit;
  const { window, dialect } = target;
  const temporary = dialect.temporary(sharedTable);
  const over = (table: string) => {
    const scan: Source['scan'] = (dataset, fields, _start, _end, filter) =>
      apart.scanSql(dataset, fields, table, filter);
    const source: Source = { ...nothingKnown, scan };
    return (relation: Relation) => statementSql(relation, { window, source, dialect, columns });
  };
  const tableSql = (source: string): string => over(source)(firstRows(apart.table, rows));
  const table = { ...about, name: '0', sql: tableSql(`(${shared})`), sharedSql: tableSql(temporary) };
  if (apart.totals.columns.length === apart.groups.length) return { ...common, shared, tables: [table] };
  const notices = [...common.notices, ...leftOut(apart.leftOut)];
  const totalsOf = (source: string): string =>
    totalsSql(apart, over(source)(apart.totals), over(source)(apart.table), rows + 1, dialect);
  const { buckets: _, ...rest } = about;
  const totals: CompiledTable = {
    ...rest,
    name: '_totals',
    fields: apart.totals.columns.map(fieldOf),
    order: apart.groups.map(({ name }) => ({ field: name, desc: false })),
    sql: totalsOf(`(${shared})`),
    sharedSql: totalsOf(temporary),
  };
  return { ...common, notices, shared, tables: [table, totals] };
}

function leftOut(names: readonly string[]): StatusMessage[] {
  if (names.length === 0) return [];
  const list = names.map(name => `\`${name}\``).join(', ');
  const msg = `The totals omit ${list}, which cannot be derived from the time bins. Summarize without the bin to get them.`;
  return [{ priority: 'info', count: 1, code: 'totals_left_out', msg }];
}

/** Notices about the parts of a request that have no effect. */
function ignored(
  { includeCursorField }: QueryRequest,
  unknownOrder: readonly string[],
  hasCursors: boolean,
): StatusMessage[] {
  const warn = (code: string, msg: string): StatusMessage => ({ priority: 'warn', count: 1, code, msg });
  return [
    ...unknownOrder.map(field =>
      warn('unknown_order', `The order in the request uses \`${field}\`, which is not in the result.`),
    ),
    ...(includeCursorField && !hasCursors
      ? [
          warn(
            'no_cursor_field',
            '`includeCursorField` has no effect: cursors require rows sorted by `_time`, with `_time` among the fields.',
          ),
        ]
      : []),
  ];
}

function fieldOf(column: Plan['relation']['columns'][number]): CompiledField {
  const { name, type, unit, description, agg } = column;
  const meta =
    unit === undefined && description === undefined
      ? undefined
      : { name, type, unit: unit ?? '', hidden: false, description: description ?? '' };
  return { name, type, ...present({ agg, meta }) };
}

type RequestWindow =
  | {
      readonly ok: true;
      readonly start: bigint;
      readonly end: bigint;
      /** The value of `now()`. */
      readonly clock: bigint;
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

function requestWindow(request: QueryRequest, now: bigint): RequestWindow {
  const end = request.endTime === undefined ? now : endOfWindow(request.endTime, now);
  const start = request.startTime === undefined ? (end ?? now) - HOUR : requestTime(request.startTime, now);
  if (start === undefined || end === undefined)
    return start === undefined
      ? badTime('startTime', request.startTime)
      : badTime('endTime', request.endTime);
  if (start > end) return badTime('startTime', request.startTime, 'it is after endTime');
  const { now: asked } = request.queryOptions ?? {};
  const clock = typeof asked === 'string' ? requestTime(asked, now) : now;
  if (clock === undefined) return badTime('queryOptions.now', String(asked));
  return { ok: true, start, end, clock };
}

/** Returns the exclusive end of a window. The last possible time means the one after it, which cannot be written. */
function endOfWindow(text: string, now: bigint): bigint | undefined {
  const end = requestTime(text, now);
  return end === LATEST_TIME ? LATEST_TIME + 1n : end;
}

/** Parses RFC 3339, `now`, `now-1h` or `now+5m`; undefined for anything else, and beyond 64-bit nanoseconds. */
function requestTime(text: string, now: bigint): bigint | undefined {
  const time = writtenTime(text, now);
  return time === undefined || isBeyond(time) ? undefined : time;
}

function writtenTime(text: string, now: bigint): bigint | undefined {
  const relative = /^now\s*(?:([+-])\s*(.+))?$/.exec(text.trim());
  if (relative === null) return parseTime(text);
  if (relative[2] === undefined) return now;
  const offset = parseTimespan(relative[2]);
  return offset === undefined ? undefined : relative[1] === '-' ? now - offset : now + offset;
}

/** Returns whether a time is valid but beyond 64-bit nanoseconds; includes any offset from now. */
function isOutside(text: string): boolean {
  return isBeyondTime(text) || writtenTime(text, 0n) !== undefined;
}

function badTime(
  name: string,
  value = '',
  why = isOutside(value)
    ? 'it is outside of 1677-09-22 to 2262-04-11'
    : 'it is neither RFC 3339 nor relative',
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
