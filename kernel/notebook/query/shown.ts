/** The way of one query of a cell: it runs and is logged, its result is kept, and its outputs are shown. */
import type { ChartOptions } from '../../apl/operators/drawing.js';
import { withoutRender } from '../../apl/syntax/readers/charting.js';
import { AplKernelError } from '../../errors.js';
import type { CellIo } from '../../jupyter/message.js';
import { present } from '../../present.js';
import { type Beside, besideAt } from '../../result/beside.js';
import type { QueryResult } from '../../result/result.js';
import { formatTime } from '../../time.js';
import { askAnnotations, hasAnnotations } from '../annotations/annotation-reader.js';
import type { CellPlan } from '../magics/magic.js';
import type { BoundQuery } from '../notebook-parameters.js';
import type { CachedResult, CacheOptions, ResultCache } from '../results/result-cache.js';
import { consoleWidthFor, type Session } from '../session.js';
import { storedRange } from '../time-range.js';
import { explainForgotten } from './forgotten.js';
import type { LoggedQuery } from './query-log.js';
import { type QueryHost, type QueryOrder, type RanQuery, runQuery } from './query-run.js';

/** The parts of a session that run a query and log it. */
type LogHost = QueryHost & Pick<Session, 'profileName' | 'withoutSecrets'>;

/** The parts of a session that draw a result. */
type DrawHost = Pick<Session, 'options' | 'results' | 'annotations' | 'annotates' | 'recording'>;

type ShownHost = LogHost & DrawHost;

/**
 * Runs one query of a cell: its `render` is taken off, it runs and is logged, and its result is kept and shown. Throws the errors of
 * the query.
 */
export async function runShown(
  host: ShownHost,
  io: CellIo,
  plan: CellPlan,
  query: BoundQuery,
  { index, count }: { readonly index: number; readonly count: number },
): Promise<CachedResult> {
  const { variables } = query;
  const sent = withoutRender(query.parsed);
  const chart = { ...query.chart, ...sent.chart };
  const options = { ...plan.chart, ...chart };
  const annotates = !query.silent && plan.retains && options.kind !== 'none' && hasAnnotations(host, options);
  const { result, signal } = await runLogged(
    host,
    { ...plan, query: sent.query, variables, annotates, ...present({ name: query.name }) },
    io,
    query.text,
  );
  const cached = await keep(host.results, result, signal, {
    ...present({ name: query.name }),
    query: sent.query,
  });
  const beside = besideAt(index, count);
  if (!query.silent) await show(host, cached, io, plan, { last: index === count - 1, chart, beside, signal });
  io.signal.throwIfAborted();
  return cached;
}

/** Runs a query and logs it as it is written, also when it fails; throws its errors. */
export async function runLogged(
  host: LogHost,
  order: QueryOrder,
  io: CellIo,
  written: string,
): Promise<RanQuery> {
  const { queryLog, now, log } = host.options;
  const began = now();
  const started = performance.now();
  const entry = (facts: Pick<LoggedQuery, 'startTime' | 'endTime' | 'elapsedMs'> & Partial<LoggedQuery>) => ({
    at: formatTime(began),
    profile: host.profileName,
    apl: written,
    ...present({ name: order.name }),
    ...facts,
  });
  const write = async (query: LoggedQuery) => {
    const error = await queryLog?.append(await withoutSecrets(host, query));
    if (error !== undefined) log(`the query was not logged: ${String(error)}`);
  };
  try {
    const ran = await runQuery(host, order, io);
    const { result } = ran;
    const { startTime, endTime, elapsedMs, traceId, variables } = result.provenance;
    const rows = result.tables[0]?.data.numRows ?? 0;
    await write(entry({ startTime, endTime, elapsedMs, rows, ...present({ traceId, variables }) }));
    return ran;
  } catch (error) {
    const code = error instanceof AplKernelError ? error.code : 'internal-error';
    const range = storedRange(order.range, began);
    const explained = await explainForgotten(error, order.query, host.options);
    await write(entry({ ...range, elapsedMs: performance.now() - started, error: code }));
    throw explained;
  }
}

/** The query as it is logged; one that held a token says so, as it is no longer what ran. */
async function withoutSecrets(
  host: Pick<Session, 'withoutSecrets'>,
  query: LoggedQuery,
): Promise<LoggedQuery> {
  const apl = await host.withoutSecrets(query.apl);
  const variables = JSON.stringify(query.variables ?? {});
  const isSame = apl === query.apl && (await host.withoutSecrets(variables)) === variables;
  return isSame ? query : { ...query, apl, variables: {}, redacted: true };
}

/** Keeps a result under its id and returns it as it is kept. */
export async function keep(
  results: ResultCache,
  result: QueryResult,
  signal: AbortSignal,
  as: CacheOptions = {},
): Promise<CachedResult> {
  const [{ resultId }, { inSlices }] = await Promise.all([
    import('../results/identity.js'),
    import('../../result/decode/decode-slices.js'),
  ]);
  return results.keep(await inSlices(resultId(result), signal), result, as);
}

/** How one result is shown. */
export interface ShowOptions {
  /** The result is that of the cell. */
  readonly last: boolean;
  /** What stops it. */
  readonly signal: AbortSignal;
  /** What the chart is drawn of, if that is not the result itself. */
  readonly drawn?: QueryResult;
  /** How the query itself asks for its chart; it precedes what the cell says. */
  readonly chart?: ChartOptions;
  /** What the outputs stand beside, if the cell asks for that. Default: a chart beside its table. */
  readonly beside?: Beside;
  /** The output that its table takes the place of. */
  readonly displayId?: string;
}

/**
 * The table of the last query is the result of the cell; other outputs are displayed. A notice above it names results that were dropped to
 * make room.
 */
export async function show(
  host: DrawHost,
  { id, result }: CachedResult,
  io: CellIo,
  plan: CellPlan,
  { last, drawn, chart, signal, beside = besideAt(0, 1), displayId }: ShowOptions,
): Promise<void> {
  const { toOutputWithoutData, toOutputs, VEGA_MIME } = await import('../../result/mime.js');
  const dropped = host.results.takeNotices().map(text => ({ level: 'warn' as const, text }));
  const shown = { ...result, notices: [...result.notices, ...dropped] };
  const options = { ...plan.chart, ...chart };
  const isBeside = options.beside ?? plan.queries.some(query => query.chart.beside);
  const outputs = plan.retains
    ? await toOutputs(shown, {
        resultId: id,
        chart: options,
        ...present({
          annotations: askAnnotations(host, result, options, signal),
          rows: plan.shownRows,
          drawn,
          beside: isBeside ? beside : undefined,
          now: replayedAt(host, result),
          // A run that nobody watches writes the same notebook whatever the terminal it was started on.
          width: consoleWidthFor(host.options, io),
        }),
      })
    : [toOutputWithoutData(shown)];
  signal.throwIfAborted();
  for (const output of outputs) {
    if (displayId !== undefined) io.updateDisplay({ ...output, displayId });
    else if (last && !(VEGA_MIME in output.data)) io.result(output);
    else io.display(output);
  }
}

/** When a replayed query was recorded, in milliseconds since 1970; absent for others, and for a frozen range, which has its own. */
function replayedAt(
  { recording }: Pick<Session, 'recording'>,
  { provenance }: QueryResult,
): number | undefined {
  return recording === undefined || provenance.frozen
    ? undefined
    : Number(recording.store.begunAt / 1_000_000n);
}
