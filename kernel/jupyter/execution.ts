import { setImmediate as nextTurn } from 'node:timers/promises';
import { AplKernelError } from '../errors.js';
import { present } from '../present.js';
import type { History } from './history.js';
import type { ExecuteFields } from './jupyter-requests.js';
import type { JsonObject } from './jupyter-wire.js';
import type { CellIo, CellOrigin, DisplayData, ExecuteOutcome, KernelHandler } from './message.js';
import type { Outbox, Received } from './outbox.js';
import { type InputExchange, InputUnavailableError } from './stdin.js';
import { Transcript } from './transcript.js';

/** The abort reason of an interrupted cell (`interrupted`). */
class InterruptedError extends AplKernelError {
  constructor() {
    super('interrupted', 'The cell was interrupted');
  }
}

/** The parts of the kernel that a cell needs. */
export interface ExecutionParts {
  readonly outbox: Outbox;
  handler(): Promise<KernelHandler>;
  readonly history: History;
  readonly input: InputExchange;
  readonly log: (line: string) => void;
}

/** Maximum rounds of gathering: a client that never pauses must not delay an error forever. */
const MAX_GATHERING_ROUNDS = 100;

/** Runs cells one at a time, in order of arrival; an error or an interrupt aborts the waiting ones. */
export class ExecutionQueue {
  readonly #parts: ExecutionParts;
  readonly #waiting: QueuedCell[] = [];
  #running: AbortController | undefined;
  #pumping = false;
  #idle: Promise<void> = Promise.resolve();
  #interrupting: Promise<void> = Promise.resolve();
  #gathering = 0;
  /** A cell that arrives by then is interrupted, because an interrupt found none running. */
  #dueUntil = Number.NEGATIVE_INFINITY;
  #submitted = 0;
  #count = 0;
  #closed = false;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  /** The execution count of the last cell in the history. */
  get count(): number {
    return this.#count;
  }

  submit(request: Received, fields: ExecuteFields): void {
    this.#submitted += 1;
    this.#waiting.push({ request, fields, arrivedAt: performance.now() });
    this.#pump();
  }

  /**
   * Interrupts the running cell and aborts the waiting ones; resolves once the waiting ones have their replies. If none is running,
   * interrupts the first cell still in the socket, else one that arrives within `leadMs`.
   */
  interrupt(leadMs = 0): Promise<void> {
    if (this.#running === undefined) this.#dueUntil = Number.POSITIVE_INFINITY;
    else this.#running.abort(new InterruptedError());
    const latest = leadMs === 0 ? Number.NEGATIVE_INFINITY : performance.now() + leadMs;
    this.#gathering += 1;
    this.#interrupting = this.#gather().then(() => this.#abortGathered(latest));
    return this.#interrupting;
  }

  /** Cells that arrive in the meantime wait in the queue, so that none of them runs. */
  #abortGathered(latest: number): void {
    this.#gathering -= 1;
    const isDue = this.#dueUntil === Number.POSITIVE_INFINITY;
    const first = isDue ? this.#waiting.shift() : undefined;
    this.#abortWaiting();
    if (first !== undefined) this.#waiting.push(first);
    else if (isDue) this.#dueUntil = latest;
    this.#pump();
  }

  #pump(): void {
    if (this.#pumping || this.#gathering > 0 || this.#waiting.length === 0) return;
    this.#pumping = true;
    this.#idle = this.#runAll();
  }

  /** Aborts all cells from now on; resolves once none is running. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#running?.abort(new InterruptedError());
    await this.#idle;
  }

  async #runAll(): Promise<void> {
    for (let cell = this.#waiting.shift(); cell; cell = this.#waiting.shift()) {
      if (this.#closed) this.#answerAborted(cell);
      else await this.#run(cell);
    }
    // In the same turn as the last check of the queue, so that no cell is missed.
    this.#pumping = false;
  }

  /**
   * Resolves once the cells already in the socket are in the queue. An abort must include them, but not what a client sends after
   * seeing the error, so they are gathered before the reply that reports it.
   */
  async #gather(): Promise<void> {
    for (let round = 0, known = -1; known !== this.#submitted && round < MAX_GATHERING_ROUNDS; round += 1) {
      known = this.#submitted;
      await nextTurn();
      await nextTurn();
    }
  }

  #abortWaiting(): void {
    for (const cell of this.#waiting.splice(0)) this.#answerAborted(cell);
  }

  #answerAborted({ request }: QueuedCell): void {
    const { outbox } = this.#parts;
    const parent = request.message.header;
    outbox.status(parent, 'busy');
    // Without an execution count, as in ipykernel: front ends would show it as if the cell had run.
    outbox.reply(request, 'execute_reply', { status: 'aborted' });
    outbox.status(parent, 'idle');
  }

  async #run(cell: QueuedCell): Promise<void> {
    const { request, fields } = cell;
    const { outbox } = this.#parts;
    const parent = request.message.header;
    const started = new Date().toISOString();
    outbox.status(parent, 'busy');
    // As the protocol specifies: silent cells, and those that leave no history, do not advance the prompt.
    if (fields.storeHistory) this.#count += 1;
    const execution_count = this.#count;
    if (!fields.silent) outbox.publish(parent, 'execute_input', { code: fields.code, execution_count });
    const { outcome, payload, isInterrupted } = await this.#outcome(cell, execution_count);
    const metadata = { started, status: outcome.status };
    // An interrupt has aborted the cells that were waiting; a client may have seen that and sent more since.
    const abortsOthers = outcome.status === 'error' && !isInterrupted && !fields.silent && fields.stopOnError;
    if (abortsOthers) await this.#gather();
    await this.#interrupting;
    if (outcome.status === 'error' && !fields.silent) outbox.publish(parent, 'error', errorContent(outcome));
    outbox.reply(request, 'execute_reply', { ...replyContent(outcome), execution_count, payload }, metadata);
    outbox.status(parent, 'idle');
    if (abortsOthers) this.#abortWaiting();
  }

  async #outcome(
    cell: QueuedCell,
    executionCount: number,
  ): Promise<{
    readonly outcome: ExecuteOutcome;
    readonly payload: readonly JsonObject[];
    readonly isInterrupted: boolean;
  }> {
    const abort = new AbortController();
    this.#running = abort;
    if (this.#takeDue(cell)) abort.abort(new InterruptedError());
    const io = new CellOutput(this.#parts, cell, executionCount, abort.signal);
    try {
      const handler = await this.#parts.handler();
      const { code, userExpressions, storeHistory } = cell.fields;
      // Without a working handler, nothing is stored in the history: only the handler recognizes secrets.
      if (storeHistory) this.#parts.history.append(executionCount, await handler.withoutSecrets(code));
      abort.signal.throwIfAborted();
      const outcome = await handler.execute({ code, userExpressions }, io);
      // Output that cannot be written as JSON fails here, while it can still be reported as the cell's error.
      JSON.stringify(outcome);
      return { outcome, payload: io.payload, isInterrupted: abort.signal.aborted };
    } catch (cause) {
      const isInterrupted = abort.signal.aborted;
      const outcome = this.#failure(isInterrupted ? abort.signal.reason : cause);
      return { outcome, payload: [], isInterrupted };
    } finally {
      io.end();
      this.#running = undefined;
    }
  }

  /** Returns whether a pending interrupt is meant for this cell, and clears it: it applies to one cell only. */
  #takeDue({ arrivedAt }: QueuedCell): boolean {
    const isDue = arrivedAt <= this.#dueUntil;
    this.#dueUntil = Number.NEGATIVE_INFINITY;
    return isDue;
  }

  #failure(cause: unknown): ExecuteOutcome {
    const { ename, evalue } = describeFailure(cause);
    if (!(cause instanceof AplKernelError)) {
      this.#parts.log(`a cell failed: ${cause instanceof Error ? cause.stack : String(cause)}`);
    }
    const hint = cause instanceof AplKernelError && cause.hint !== undefined ? [cause.hint] : [];
    return { status: 'error', ename, evalue, traceback: [`${ename}: ${evalue}`, ...hint] };
  }
}

/** Returns the error name and message to show to the user. */
export function describeFailure(cause: unknown): { readonly ename: string; readonly evalue: string } {
  if (cause instanceof Error) return { ename: cause.name, evalue: cause.message };
  return { ename: 'Error', evalue: String(cause) };
}

interface QueuedCell {
  readonly request: Received;
  readonly fields: ExecuteFields;
  /** Milliseconds on the clock of `performance`. */
  readonly arrivedAt: number;
}

class CellOutput implements CellIo {
  readonly executionCount: number;
  readonly silent: boolean;
  readonly storeHistory: boolean;
  readonly allowStdin: boolean;
  readonly origin?: CellOrigin;
  readonly signal: AbortSignal;
  /** The deprecated payload of the reply: https://jupyter-client.readthedocs.io/en/stable/messaging.html#payloads-deprecated */
  payload: readonly JsonObject[] = [];
  readonly #parts: ExecutionParts;
  readonly #request: Received;
  readonly #transcript = new Transcript((type, content) => this.#publish(type, content));
  #ended = false;

  constructor(parts: ExecutionParts, cell: QueuedCell, executionCount: number, signal: AbortSignal) {
    this.executionCount = executionCount;
    this.silent = cell.fields.silent;
    this.storeHistory = cell.fields.storeHistory;
    this.allowStdin = cell.fields.allowStdin;
    const { header, metadata } = cell.request.message;
    if (typeof metadata.cellId === 'string') this.origin = { client: header.session, cell: metadata.cellId };
    this.signal = signal;
    this.#parts = parts;
    this.#request = cell.request;
  }

  stream(name: 'stdout' | 'stderr', text: string): void {
    this.#transcript.output('stream', { name, text });
  }

  display(output: DisplayData): void {
    this.#transcript.output('display_data', displayContent(output));
  }

  updateDisplay(output: DisplayData & { readonly displayId: string }): void {
    this.#transcript.update(output.displayId, displayContent(output));
  }

  result(output: DisplayData): void {
    const content = { ...displayContent(output), execution_count: this.executionCount };
    this.#transcript.output('execute_result', content);
    const plain = output.data['text/plain'];
    if (this.storeHistory && typeof plain === 'string') {
      this.#parts.history.recordOutput(this.executionCount, plain);
    }
  }

  clearOutput(wait: boolean): void {
    this.#transcript.clear(wait);
  }

  passing(output: DisplayData): void {
    this.#transcript.passing(displayContent(output));
  }

  nextInput(text: string, replace: boolean): void {
    this.payload = [{ source: 'set_next_input', text, replace }];
  }

  leave(): void {
    this.payload = [{ source: 'ask_exit', keepkernel: false }];
  }

  async input(prompt: string, password: boolean): Promise<string> {
    if (!this.allowStdin) throw new InputUnavailableError();
    return this.#parts.input.ask(this.#request, prompt, password, this.signal);
  }

  end(): void {
    this.#transcript.end();
    this.#ended = true;
  }

  #publish(type: string, content: JsonObject): void {
    // Idle has been published, and clients have stopped listening for this cell.
    if (this.#ended) this.#parts.log(`dropped a ${type} of a cell that has ended`);
    else if (!this.silent) this.#parts.outbox.publish(this.#request.message.header, type, content);
  }
}

function displayContent({ data, metadata, displayId }: DisplayData): JsonObject {
  return { data, metadata, transient: present({ display_id: displayId }) };
}

type Failed = Extract<ExecuteOutcome, { readonly status: 'error' }>;

function errorContent({ ename, evalue, traceback }: Failed): JsonObject {
  return { ename, evalue, traceback };
}

function replyContent(outcome: ExecuteOutcome): JsonObject {
  if (outcome.status === 'ok') return { status: 'ok', user_expressions: outcome.userExpressions };
  return { status: 'error', ...errorContent(outcome), user_expressions: {} };
}
