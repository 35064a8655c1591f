import { randomUUID } from 'node:crypto';
import { localProfile } from '../../../api/profile.js';
import { AplKernelError } from '../../../errors.js';
import type { CellIo, CellOrigin, ExecuteOutcome } from '../../../jupyter/message.js';
import { systemRefusal } from '../../../machine.js';
import { isLate, underLimit } from '../../../signals.js';
import { failureOf, interruptedFailure } from '../../cell-error.js';
import { lastName } from '../../results/result-cache.js';
import type { Session } from '../../session.js';
import { parseRange } from '../../time-range.js';
import { MagicError } from '../magic-arguments.js';
import { type AgentReply, type AgentRequest, refused } from './agent-link.js';
import { fitted } from './agent-report.js';
import { Heard } from './heard.js';
import type { Listener } from './listener.js';

/** A page that shows a notebook of the kernel and can add cells to it. */
export interface Page {
  /** Session id of its client. */
  readonly client: string;
  /** Path of the notebook. */
  readonly name: string;
}

/** The pages connected to the kernel. */
export interface Pages {
  /** Returns the page that runs a cell; undefined if that page cannot add cells. */
  pageOf(origin: CellOrigin | undefined): Page | undefined;
  /** Offers a cell to the pages that show this notebook, and the first one takes it; returns false if there is none. */
  offer(notebook: Page, cell: string): boolean;
  /** Notifies every page whether agents may add cells. */
  tell(): void;
}

/** A cell from an agent's request until the end of its run. */
interface AskedCell {
  readonly id: string;
  readonly source: string;
  readonly rows: number;
  isTaken: boolean;
  readonly settle: (reply: AgentReply) => void;
}

/** Maximum cells added in a minute, and waiting to run. */
const mostAMinute = 10;
const mostWaiting = 5;
/** How long an agent waits for a cell, and the timeout of the cell, in milliseconds. */
const usualMs = { wait: 25_000, run: 30_000 };

/** Adds cells of agents to a notebook while its user allows it. */
export class Agents {
  readonly #session: Session;
  readonly #check: (source: string) => void;
  readonly #pages: () => Pages;
  #on: { readonly page: Page; readonly listener: Listener } | undefined;
  readonly #cells = new Map<string, AskedCell>();
  #added: readonly number[] = [];

  /** `check` throws an AplKernelError for a source that agents may not run. */
  constructor(session: Session, check: (source: string) => void, pages: () => Pages) {
    this.#session = session;
    this.#check = check;
    this.#pages = pages;
  }

  get #ms(): typeof usualMs {
    return this.#session.options.agentMs ?? usualMs;
  }

  /** The notebook that agents may add cells to; undefined while off. */
  get notebook(): Page | undefined {
    return this.#on?.page;
  }

  /** Like {@link Pages.pageOf}. */
  pageOf(origin: CellOrigin | undefined): Page | undefined {
    return this.#pages().pageOf(origin);
  }

  /** Lets agents add cells to the notebook of a page; throws MagicError if the runtime file cannot be written. */
  async turnOn(page: Page): Promise<void> {
    const { agentsDir } = this.#session.options;
    if (agentsDir === undefined) throw new MagicError('%agents: this kernel has no data directory');
    const listener = this.#on?.listener ?? (await this.#listen(agentsDir));
    this.#on = { page, listener };
    this.#pages().tell();
  }

  /** Updates the notebook's name when its page reports it. */
  follow(page: Page): void {
    if (this.#on?.page.client === page.client) this.#on = { ...this.#on, page };
  }

  /** Turns it off at once, ending pending calls of agents; turning it on again needs consent. */
  async turnOff(): Promise<void> {
    const listener = this.#on?.listener;
    this.#on = undefined;
    this.#session.consents.withdraw('agents');
    if (listener === undefined) return;
    this.#pages().tell();
    await listener.close();
  }

  /** Returns an offered cell to the first page that requests it; undefined otherwise. */
  take(id: string): { readonly cell: string; readonly source: string } | undefined {
    const cell = this.#cells.get(id);
    if (cell === undefined || cell.isTaken || this.#on === undefined) return undefined;
    cell.isTaken = true;
    return { cell: id, source: cell.source };
  }

  /** Ends the wait for a cell that the page did not run. */
  giveUp(id: string): void {
    const reply = refused(
      'the cell was added to the notebook but has not run',
      'a cell before it failed, or was stopped',
    );
    this.#cells.get(id)?.settle(reply);
    this.#cells.delete(id);
  }

  /** Returns the agent's cell that is about to run; undefined for a user's cell, which an edited one becomes. */
  asked(source: string, origin: CellOrigin | undefined): AskedCell | undefined {
    const cell = this.#cells.get(origin?.cell ?? '');
    if (cell === undefined || cell.source === source) return cell;
    this.#cells.delete(cell.id);
    cell.settle(refused('the user changed the cell before it ran'));
    return undefined;
  }

  /** Runs an agent's cell through `work`, within its limits; the user's last result stays the last. */
  async run(
    cell: AskedCell,
    io: CellIo,
    work: (io: CellIo) => Promise<ExecuteOutcome>,
  ): Promise<ExecuteOutcome> {
    this.#cells.delete(cell.id);
    const { results } = this.#session;
    const last = results.named(lastName);
    const refusal = this.#refusal();
    const { heard, ended, late } = await underLimit(io.signal, this.#ms.run, async signal => {
      const heard = new Heard(io, signal);
      const ended = refusal === undefined ? await work(heard.io) : failureOf(refusal, cell.source, undefined);
      return { heard, ended, late: isLate(signal) };
    });
    const outcome =
      late && ended.status === 'error'
        ? interruptedFailure(`a cell of an agent runs for at most ${this.#ms.run / 1000} s`)
        : ended;
    cell.settle(fitted(heard.reply(outcome, results, cell.rows)));
    results.makeLast(last);
    return outcome;
  }

  async #listen(directory: string): Promise<Listener> {
    const { listen } = await import('./listener.js');
    try {
      return await listen(directory, (...each) => this.#answer(...each));
    } catch (error) {
      const { reason = (error as Error).message, hint } = systemRefusal(error) ?? {};
      throw new MagicError(`%agents: ${directory} cannot be written: ${reason}`, hint);
    }
  }

  async #answer(request: AgentRequest, signal: AbortSignal): Promise<AgentReply> {
    try {
      return request.ask === 'state' ? this.#state() : await this.#append(request, signal);
    } catch (error) {
      if (error instanceof AplKernelError) return refused(error.message, error.hint);
      this.#session.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return refused('the kernel failed');
    }
  }

  #state(): AgentReply {
    const { range, profileName: profile } = this.#session;
    const { page, listener } = this.#on ?? {};
    const state = { notebook: listener?.id, name: page?.name, range: range.label, profile };
    return { sentences: [], lines: [JSON.stringify(state)] };
  }

  async #append(
    { query, range, rows }: Extract<AgentRequest, { readonly ask: 'append' }>,
    signal: AbortSignal,
  ): Promise<AgentReply> {
    if (range !== undefined) parseRange(range);
    const source = ['// Added by an agent', ...(range === undefined ? [] : [`%%time ${range}`]), query].join(
      '\n',
    );
    this.#check(source);
    const refusal = this.#refusal() ?? this.#tooMany();
    if (refusal !== undefined) throw refusal;
    let settle: AskedCell['settle'] = () => undefined;
    const ended = new Promise<AgentReply>(resolve => {
      settle = resolve;
    });
    const cell: AskedCell = { id: randomUUID(), source, rows, isTaken: false, settle };
    this.#cells.set(cell.id, cell);
    const isOffered = this.#on !== undefined && this.#pages().offer(this.#on.page, cell.id);
    const reply = isOffered
      ? await underLimit(signal, this.#ms.wait, over => Promise.race([ended, whenAborted(over)]))
      : undefined;
    if (reply !== undefined) return reply;
    if (cell.isTaken)
      return {
        sentences: ['The cell was added to the notebook and waits for earlier cells to finish.'],
        lines: [],
      };
    this.#cells.delete(cell.id);
    throw new MagicError(
      'no page that can add cells to the notebook responded, so no cell was added',
      'Ask its user to open the notebook and run `%agents on` in it.',
    );
  }

  /** Returns the reason why agents may not add or run a cell now. */
  #refusal(): MagicError | undefined {
    if (this.#on === undefined) return new MagicError('agents were turned off before the cell ran');
    const { profileName } = this.#session;
    if (profileName === localProfile) return undefined;
    return new MagicError(
      `the notebook uses the profile ${profileName}, where agents may not run cells`,
      'Ask its user to switch the profile to `local`.',
    );
  }

  /** Counts the cell; returns an error if it exceeds a limit. */
  #tooMany(): MagicError | undefined {
    const now = performance.now();
    const lately = this.#added.filter(at => at > now - 60_000);
    if (lately.length >= mostAMinute)
      return new MagicError(
        `agents may add at most ${mostAMinute} cells per minute`,
        'Wait, or use a tool that does not add cells.',
      );
    if (this.#cells.size >= mostWaiting)
      return new MagicError(
        `${mostWaiting} cells of agents are waiting to run`,
        'Wait, or use a tool that does not add cells.',
      );
    this.#added = [...lately, now];
    return undefined;
  }
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise(resolve => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
