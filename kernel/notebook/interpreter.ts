import { LEAVING } from '../apl/hints/habits.js';
import {
  type CellQuery,
  completeness,
  declares,
  type MagicLine,
  parseCell,
  splitCell,
  withoutPrefix,
} from '../apl/syntax/cell.js';
import { QueryText } from '../apl/syntax/parse.js';
import { withoutRender } from '../apl/syntax/readers/charting.js';
import { tokenize } from '../apl/syntax/tokens/lexer.js';
import { AplKernelError } from '../errors.js';
import type {
  CellIo,
  Comm,
  CommHandler,
  ExecuteOutcome,
  ExecuteRequest,
  KernelHandler,
} from '../jupyter/message.js';
import type { QueryResult } from '../result/result.js';
import { visibleLines } from '../text.js';
import {
  type CellFailure,
  diagnosticFailure,
  expressionError,
  failureOf,
  interruptedFailure,
} from './cell-error.js';
import { completeCell, inspectCell } from './editor/completion.js';
import { Editors } from './editor/editor-comm.js';
import { describeElement, elementNames } from './editor/language.js';
import { kernelInfo } from './kernel-info.js';
import { checkCell } from './magics/agents/agent-rules.js';
import { Agents } from './magics/agents/agents.js';
import type { CellHost, CellPlan, QuerySettings, Rewrite } from './magics/magic.js';
import { runMagic } from './magics/magic-table.js';
import { runQuery } from './query/query-run.js';
import { keep, runLogged, runShown, type ShowOptions, show } from './query/shown.js';
import type { CachedResult } from './results/result-cache.js';
import { RESULTS_TARGET } from './results/result-protocol.js';
import { consoleWidthFor, Session, type SessionOptions } from './session.js';
import { applySettings } from './settings.js';

/** The dependencies of the interpreter. */
export interface InterpreterOptions extends SessionOptions {
  /** Problems with how the kernel was started, as sentences that the first cell shows. */
  readonly problems?: readonly string[];
}

/** Returns the handler of one kernel: it runs cells one at a time and answers editors concurrently. */
export function createInterpreter(options: InterpreterOptions): KernelHandler {
  const session = new Session(options);
  const agents = new Agents(session, checkCell, () => editors);
  const editors: Editors = new Editors(session, agents);
  let settling: Promise<readonly string[]> | undefined;
  /** Applies the settings files before the first cell; returns their problems the first time only. */
  const settled = async () => {
    const isFirst = settling === undefined;
    settling ??= applySettings(session);
    const problems = await settling;
    return isFirst ? [...(options.problems ?? []), ...problems] : [];
  };
  return {
    info: kernelInfo(options.version),
    execute: (request, io) =>
      editors.during(async () => {
        for (const problem of await settled()) io.stream('stderr', `${visibleLines(problem)}\n`);
        const asked = agents.asked(request.code, io.origin);
        const writeCells: CellHost['writeCells'] = cells => editors.write(io.origin, cells);
        if (asked === undefined)
          return execute(session, request, { io, agents, writeCells, isForAgent: false });
        const nowhere = { agents, writeCells: () => false, isForAgent: true };
        return agents.run(asked, io, heard => execute(session, request, { io: heard, ...nowhere }));
      }),
    complete: (code, cursor) => completeCell(session, code, cursor),
    inspect: (code, cursor) => inspectCell(session, code, cursor),
    isComplete,
    withoutSecrets: code => session.withoutSecrets(code),
    commOpen: (comm, data) =>
      comm.target === RESULTS_TARGET ? openResult(session, comm, data) : editors.open(comm),
    shutdown: async () => {
      await agents.turnOff();
      await session.close();
    },
  };
}

/** Opens a reader of a result; messages wait until its code has loaded. */
function openResult(session: Session, comm: Comm, data: unknown): CommHandler {
  const opening = import('./results/result-comm.js').then(({ openReader }) =>
    openReader(session, comm, data),
  );
  return {
    message: async (...each) => (await opening).message(...each),
    close: each => void opening.then(handler => handler.close(each)),
  };
}

/** The environment of a running cell. */
interface Surroundings extends Pick<CellHost, 'io' | 'agents' | 'writeCells'>, Pick<CellPlan, 'isForAgent'> {}

async function execute(
  session: Session,
  { code, userExpressions }: ExecuteRequest,
  around: Surroundings,
): Promise<ExecuteOutcome> {
  const { io } = around;
  const { failure, isStopped } = await runCell(session, code, around).finally(() => session.endCell());
  if (io.signal.aborted && !isStopped) {
    return interruptedFailure(
      'the cell was stopped and its query canceled; settings and earlier results are kept',
    );
  }
  return failure ?? { status: 'ok', userExpressions: await evaluateAll(session, userExpressions) };
}

interface CellEnd {
  readonly failure?: CellFailure;
  /** Whether an interrupt ended the cell as intended. */
  readonly isStopped?: boolean;
}

/** Runs the magics, then the queries; the first error ends the cell. */
async function runCell(session: Session, code: string, around: Surroundings): Promise<CellEnd> {
  const { io } = around;
  if (LEAVING.test(code.trim()) && consoleWidthFor(session.options, io) !== undefined) {
    io.leave();
    return {};
  }
  const cell = parseCell(withoutPrefix(code));
  const error = cell.diagnostics.find(diagnostic => diagnostic.severity === 'error');
  if (error !== undefined) return remembered(session, diagnosticFailure(error, code));
  const plan: CellPlan = {
    queries: cell.queries,
    range: session.range,
    rowLimit: session.rowLimit,
    request: session.request,
    fetch: undefined,
    shownRows: session.shownRows,
    retains: session.retains,
    isForAgent: around.isForAgent,
    chart: cell.chart,
    run: true,
    isStopped: false,
    rewrites: [],
    afterRun: [],
  };
  const host = magicHost(session, plan, around);
  let origin: CellQuery | MagicLine | undefined;
  try {
    for (origin of cell.magics) await runMagic(origin, host);
    session.parameters.declare(code, cell.shared);
    if (cell.queries.length === 0 && cell.shared.length > 0) explainNames(code, io);
    const results: CachedResult[] = [];
    const shown = cell.queries.filter(each => !each.silent);
    for (const query of plan.run ? cell.queries : []) {
      const bound = session.parameters.bind(query);
      origin = bound;
      const place = { index: shown.indexOf(query), count: shown.length };
      results.push(await runShown(session, io, plan, bound, place));
    }
    origin = cell.magics.at(-1);
    for (const after of plan.afterRun) await after(results);
    if (plan.rewrites.length > 0) io.nextInput(rewritten(code, plan.rewrites), true);
  } catch (error) {
    if (!(error instanceof AplKernelError) && !io.signal.aborted) {
      session.options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    return remembered(session, failureOf(error, code, origin));
  }
  return { isStopped: plan.isStopped };
}

function remembered(session: Pick<Session, 'lastFailure'>, failure: CellFailure): CellEnd {
  session.lastFailure = { code: failure.ename, message: failure.evalue };
  return { failure };
}

/** Explains a cell of definitions only: parameters apply to the notebook, other names end with the cell. */
function explainNames(code: string, io: CellIo): void {
  if (splitCell(code).statements.every(declares)) return;
  io.stream(
    'stdout',
    'Names that `let` and `set` define apply to the queries below them in the cell. `%param NAME = LITERAL` applies to the notebook.\n',
  );
}

/** Returns the source with each span replaced; spans do not overlap. */
function rewritten(code: string, rewrites: readonly Rewrite[]): string {
  const backwards = rewrites.toSorted((a, b) => b.from - a.from);
  return backwards.reduce((text, { from, to, text: by }) => text.slice(0, from) + by + text.slice(to), code);
}

function magicHost(session: Session, plan: CellPlan, { io, agents, writeCells }: Surroundings): CellHost {
  const orderOf = (text: string, settings: QuerySettings = {}) => {
    const { query, chart } = withoutRender(new QueryText(text));
    return { chart, order: { ...plan, fetch: undefined, ...settings, query } };
  };
  const runDrawn = async (text: string, settings?: QuerySettings) => {
    const { chart, order } = orderOf(text, settings);
    return { chart, result: (await runLogged(session, order, io, text)).result };
  };
  const { signal } = io;
  const showCached = async (
    result: QueryResult,
    options: Omit<ShowOptions, 'last' | 'signal'>,
    until = signal,
  ) =>
    show(session, await keep(session.results, result, until), io, plan, {
      last: plan.queries.length === 0,
      signal: until,
      ...options,
    });
  const quiet = { signal, passing: () => undefined };
  const unstopped = new AbortController().signal;
  return {
    session,
    io,
    plan,
    agents,
    writeCells,
    describe: describeElement,
    languageNames: elementNames,
    show: async (text, settings) => {
      const { result, chart } = await runDrawn(text, settings);
      await showCached(result, { chart });
    },
    run: async (text, settings) => (await runDrawn(text, settings)).result,
    ask: async (text, settings) => (await runQuery(session, orderOf(text, settings).order, quiet)).result,
    keepLast: result => keep(session.results, result, unstopped),
    showInstead: (displayId, result) => showCached(result, { chart: { kind: 'none' }, displayId }, unstopped),
    showResult: (result, drawn) => {
      const asked = { ...plan.chart, ...plan.queries.at(-1)?.chart };
      return showCached(
        result,
        drawn === undefined ? { chart: { kind: 'none', ...asked } } : { chart: asked, drawn },
      );
    },
  };
}

/** Evaluates names of cached results; any other expression yields an error, which does not fail the cell. */
async function evaluateAll(
  session: Pick<Session, 'results'>,
  expressions: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const answers: [key: string, answer: unknown][] = [];
  for (const [key, expression] of Object.entries(expressions)) {
    const cached = session.results.named(expression.trim());
    if (cached === undefined) {
      answers.push([key, expressionError('unknown-result', `there is no result named ${expression.trim()}`)]);
      continue;
    }
    const { toBundle } = await import('../result/mime.js');
    answers.push([key, { status: 'ok', ...toBundle(cached.result, { resultId: cached.id }) }]);
  }
  return Object.fromEntries(answers);
}

function isComplete(code: string): ReturnType<KernelHandler['isComplete']> {
  if (parseCell(code).queries.some(query => closesTooMuch(query.text))) return { status: 'invalid' };
  const status = completeness(code);
  return status === 'incomplete' ? { status, indent: '' } : { status };
}

/** Returns whether a bracket closes one of another kind, which more text cannot fix. */
function closesTooMuch(text: string): boolean {
  const opening: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
  const open: string[] = [];
  for (const token of tokenize(text)) {
    if (token.kind !== 'symbol') continue;
    if ('([{'.includes(token.text)) open.push(token.text);
    else if (token.text in opening && open.pop() !== opening[token.text]) return true;
  }
  return false;
}
