import { AplKernelError } from '../errors.js';
import type { Message } from './jupyter-wire.js';
import type { Outbox, Received } from './outbox.js';

/**
 * The front end does not support input (`no-input`):
 * https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-stdin-router-dealer-channel
 */
export class InputUnavailableError extends AplKernelError {
  constructor() {
    super('no-input', 'This front end does not allow a cell to ask for input', {
      hint: 'Run the cell in a notebook or a console, or give the value in the cell.',
    });
  }
}

/** Exchanges input over stdin: one request at a time, answered only by the client that received it. */
export class InputExchange {
  readonly #outbox: Outbox;
  readonly #log: (line: string) => void;
  #pending: Pending | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(outbox: Outbox, log: (line: string) => void) {
    this.#outbox = outbox;
    this.#log = log;
  }

  /** Returns the line that the client of `request` enters; rejects with the signal's reason on abort. */
  ask(request: Received, prompt: string, password: boolean, signal: AbortSignal): Promise<string> {
    const answer = this.#turn.then(() => this.#askNow(request, prompt, password, signal));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** Handles an input_reply from the stdin channel; drops and logs one that nobody waits for. */
  receive(message: Message): void {
    const value = message.content.value;
    const problem = this.#problemWith(message, value);
    if (problem !== undefined) this.#log(`ignored an input_reply: ${problem}`);
    else this.#pending?.settle(value as string);
  }

  #askNow(request: Received, prompt: string, password: boolean, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#pending = undefined;
        reject(signal.reason);
      };
      const settle = (value: string) => {
        this.#pending = undefined;
        signal.removeEventListener('abort', abort);
        resolve(value);
      };
      signal.addEventListener('abort', abort, { once: true });
      const questionId = this.#outbox.ask(request, prompt, password);
      this.#pending = { questionId, asked: request.message.identities, settle };
    });
  }

  #problemWith(message: Message, value: unknown): string | undefined {
    const pending = this.#pending;
    if (!pending) return 'no cell is asking';
    if (!sameFrames(message.identities, pending.asked)) return 'it comes from a client that was not asked';
    // Some clients omit the parent; if present, it must match the pending request.
    const answers = message.parentHeader.msg_id ?? pending.questionId;
    if (answers !== pending.questionId) return 'it answers an earlier question';
    return typeof value === 'string' ? undefined : 'its value is not a string';
  }
}

interface Pending {
  readonly questionId: string;
  readonly asked: readonly Uint8Array[];
  settle(value: string): void;
}

function sameFrames(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((frame, i) => Buffer.compare(frame, b[i] ?? frame) === 0);
}
