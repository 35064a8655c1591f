/** Runs one query of a cell, logs it, caches its result and shows its outputs. */
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

/** Runs one query of a cell without its `render`, logs it, caches its result and shows it. Throws the errors of the query. */
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

/** Runs a query and logs it as written, even if it fails; throws its errors. */
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

/** Removes tokens from a query before it is logged, and marks it if there were any, as it is not what ran. */
async function withoutSecrets(
  host: Pick<Session, 'withoutSecrets'>,
  query: LoggedQuery,
): Promise<LoggedQuery> {
  const apl = await host.withoutSecrets(query.apl);
  const variables = JSON.stringify(query.variables ?? {});
  const isSame = apl === query.apl && (await host.withoutSecrets(variables)) === variables;
  return isSame ? query : { ...query, apl, variables: {}, redacted: true };
}

/** Caches a result under its id and returns it as cached. */
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

/** Options for showing a result. */
export interface ShowOptions {
  /** Whether it is the result of the cell. */
  readonly last: boolean;
  /** Signal that stops it. */
  readonly signal: AbortSignal;
  /** Data of the chart, if other than the result. */
  readonly drawn?: QueryResult;
  /** Chart options of the query itself, which override the cell's. */
  readonly chart?: ChartOptions;
  /** Layout of the outputs, if the cell sets it. Default: a chart beside its table. */
  readonly beside?: Beside;
  /** The output that its table replaces. */
  readonly displayId?: string;
}

/**
 * Shows the table of the last query as the result of the cell, and other outputs as displays. A notice above it names results that
 * were dropped to free memory.
 */
export async function show(
  host: DrawHost,
  { id, result }: CachedResult,
  io: CellIo,
  plan: CellPlan,
  { last, drawn, chart, signal, beside = besideAt(0, 1), displayId }: ShowOptions,
): Promise<void> {
  const { toOutputWithoutData, toOutputs, SVG_MIME } = await import('../../result/mime.js');
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
          // An unattended run writes the same notebook, whatever terminal it was started on.
          width: consoleWidthFor(host.options, io),
          svgOnly: host.options.svgOnly,
        }),
      })
    : [toOutputWithoutData(shown)];
  signal.throwIfAborted();
  for (const output of outputs) {
    if (displayId !== undefined) io.updateDisplay({ ...output, displayId });
    else if (last && !(SVG_MIME in output.data)) io.result(output);
    else io.display(output);
  }
}

/**
 * Returns when a replayed query was recorded, in milliseconds since 1970; undefined for others, and for a frozen range, which has
 * its own window.
 */
function replayedAt(
  { recording }: Pick<Session, 'recording'>,
  { provenance }: QueryResult,
): number | undefined {
  return recording === undefined || provenance.frozen
    ? undefined
    : Number(recording.store.begunAt / 1_000_000n);
}
