import { localProfile } from '../../api/profile.js';
import {
  type Answer,
  type DataQuestion,
  type EditorQuestion,
  type EditorUpdate,
  editorTarget,
  readMessage,
  type SessionFacts,
  type WrittenCell,
} from '../../apl/editor/editor-link.js';
import type { KernelFacts, MagicFacts } from '../../apl/editor/known.js';
import { AplKernelError } from '../../errors.js';
import type { CellOrigin, Comm, CommHandler } from '../../jupyter/message.js';
import { present } from '../../present.js';
import type { Agents, Page, Pages } from '../magics/agents/agents.js';
import { magicLines } from '../magics/magic-lines.js';
import { magicHelp } from '../magics/magic-reference.js';
import { magics } from '../magics/magic-table.js';
import type { Session } from '../session.js';
import { isFrozen, resolveForDisplay } from '../time-range.js';
import { fieldSchema, resultSchemas, seenBy } from './completion.js';
import { listOf } from './editor-lists.js';

/** Maximum editors; beyond that they belong to closed pages, and the oldest is dropped. */
const maxEditors = 16;
/** Timeout of a first response from the service, in milliseconds. */
const timeoutMs = 10_000;
/** Timeout of a list, in milliseconds: the local service may have to start first. */
const listMs = 60_000;

/** The editors, toolbars and panels connected to a session: each receives the session's facts, at once and after each cell. */
export class Editors implements Pages {
  readonly #session: Session;
  readonly #comms = new Set<Comm>();
  /** The datasets last sent to each. */
  readonly #told = new WeakMap<Comm, string>();
  /** The page whose notebook each writes cells into. */
  readonly #writers = new WeakMap<Comm, Page>();
  readonly #agents: Agents;
  #isRunning = false;

  constructor(session: Session, agents: Agents) {
    this.#session = session;
    this.#agents = agents;
  }

  /** Connects an editor; returns undefined for a comm with another target. */
  open(comm: Comm): CommHandler | undefined {
    if (comm.target !== editorTarget) return undefined;
    this.#comms.add(comm);
    const [oldest] = this.#comms;
    if (oldest !== undefined && this.#comms.size > maxEditors) {
      this.#comms.delete(oldest);
      oldest.close();
    }
    void this.#tell([comm]);
    return {
      message: async data => {
        const message = readMessage(data);
        if (message === undefined) return;
        if (message.ask === 'renew') return this.#renew(comm);
        if (message.ask === 'write') return this.#meet(comm, message);
        if (message.ask === 'take') return this.#give(comm, message.cell);
        if (message.ask === 'give up') return this.#agents.giveUp(message.cell);
        if (message.ask === 'no agents') return this.#agents.turnOff();
        if (message.ask !== 'refresh') return send(comm, await this.#ofProfile(() => this.#answer(message)));
        this.#session.schema.clear();
        await this.#tell([comm]);
      },
      close: () => void this.#comms.delete(comm),
    };
  }

  /** Asks the front end to write cells below a running one; returns false if it cannot. */
  write(origin: CellOrigin | undefined, cells: readonly WrittenCell[]): boolean {
    const writer = [...this.#comms].find(comm => this.#writers.get(comm)?.client === origin?.client);
    if (origin === undefined || writer === undefined) return false;
    send(writer, { tell: 'cells', below: origin.cell, cells });
    return true;
  }

  pageOf(origin: CellOrigin | undefined): Page | undefined {
    return [...this.#comms]
      .map(comm => this.#writers.get(comm))
      .find(page => page?.client === origin?.client);
  }

  /** A reloaded page is another client, but shows the same notebook. */
  offer({ client, name }: Page, cell: string): boolean {
    const isOf = (page: Page | undefined) => page?.client === client || page?.name === name;
    const writers = [...this.#comms].filter(comm => isOf(this.#writers.get(comm)));
    for (const comm of writers) send(comm, { tell: 'offer', cell });
    return writers.length > 0;
  }

  tell(): void {
    this.#tellSession([...this.#comms]);
  }

  #meet(comm: Comm, page: Page): void {
    this.#writers.set(comm, page);
    this.#agents.follow(page);
  }

  #give(comm: Comm, id: string): void {
    const cell = this.#agents.take(id);
    if (cell !== undefined) send(comm, { tell: 'add', ...cell });
  }

  /** Notifies an editor if datasets were created or deleted elsewhere. */
  async #renew(comm: Comm): Promise<void> {
    const datasets = await this.#session.schema.renewedDatasets(timeoutMs);
    if (namesOf(datasets) === this.#told.get(comm)) return;
    await this.#tell([comm]);
  }

  /** Runs a cell; notifies every editor that it is running, and sends the new facts afterwards. */
  async during<T>(cell: () => Promise<T>): Promise<T> {
    this.#isRunning = true;
    this.#tellSession([...this.#comms]);
    try {
      return await cell();
    } finally {
      this.#isRunning = false;
      void this.#tell([...this.#comms]);
    }
  }

  /** Sends the state of the session first, as it does not depend on a service. */
  async #tell(comms: readonly Comm[]): Promise<void> {
    if (comms.length === 0) return;
    this.#tellSession(comms);
    const facts = await this.#ofProfile(() => factsOf(this.#session, timeoutMs));
    for (const comm of comms) {
      this.#told.set(comm, facts.datasets.join('\n'));
      send(comm, { tell: 'facts', facts });
    }
  }

  #tellSession(comms: readonly Comm[]): void {
    const takesAgents = this.#agents.notebook !== undefined;
    const session = { ...sessionFacts(this.#session), isRunning: this.#isRunning, takesAgents };
    for (const comm of comms) send(comm, { tell: 'session', session });
  }

  /** Looks something up in the active profile, again if a cell has changed the profile in the meantime. */
  async #ofProfile<T>(look: () => Promise<T>): Promise<T> {
    for (;;) {
      const { profileName } = this.#session;
      const found = await look();
      if (this.#session.profileName === profileName) return found;
    }
  }

  async #answer(question: EditorQuestion): Promise<Answer> {
    try {
      return 'dataset' in question
        ? await this.#ofData(question)
        : await listOf(this.#session, question, AbortSignal.timeout(listMs));
    } catch (error) {
      if (error instanceof AplKernelError)
        return { tell: 'failed', question, message: error.message, ...present({ hint: error.hint }) };
      if (error instanceof DOMException && error.name === 'TimeoutError')
        return { tell: 'failed', question, message: `the service did not respond within ${listMs / 1000} s` };
      this.#session.options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return { tell: 'failed', question, message: 'the kernel failed to look this up' };
    }
  }

  async #ofData(question: DataQuestion): Promise<Answer> {
    const { dataset } = question;
    if (question.ask === 'fields') {
      const fields = await this.#session.schema.knownFields(dataset, timeoutMs);
      return { tell: 'fields', question, fields: fields.map(fieldSchema) };
    }
    const seen = await seenBy(this.#session);
    if (question.ask === 'top') return { tell: 'top', question, top: await seen.top(question.path, dataset) };
    const known = (): readonly string[] =>
      question.ask === 'values'
        ? seen.values(question.field, [dataset])
        : seen.keys(question.path, [dataset]);
    const soon = known();
    return { tell: 'texts', question, texts: (await seen.settle(timeoutMs)) ? known() : soon };
  }
}

function namesOf(datasets: readonly { readonly name: string }[]): string {
  return datasets.map(({ name }) => name).join('\n');
}

function sessionFacts({
  profileName,
  range,
  starsVersion,
  options,
}: Pick<Session, 'options' | 'profileName' | 'range' | 'starsVersion'>): Omit<
  SessionFacts,
  'isRunning' | 'takesAgents'
> {
  return {
    profile: profileName,
    isLocal: profileName === localProfile,
    range: { label: range.label, ...resolveForDisplay(range, options.now()), isFrozen: isFrozen(range) },
    stars: starsVersion,
  };
}

/** Returns the current facts about a session; waits at most `timeoutMs` for its datasets if none are cached. */
export async function factsOf(session: Session, timeoutMs: number): Promise<KernelFacts> {
  const datasets = await session.schema.knownDatasets(timeoutMs);
  return {
    profile: session.profileName,
    exact: session.profileName === localProfile,
    datasets: datasets.map(({ name }) => name),
    results: [...(await resultSchemas(session))].map(([name, { fields }]) => ({ name, fields })),
    ...parametersOf(session),
    magics: magicFacts,
  };
}

/** Returns the parameters; those without a value yet are listed by name. */
function parametersOf({
  parameters,
}: Pick<Session, 'parameters'>): Pick<KernelFacts, 'variables' | 'tables'> {
  const rows = parameters.rows();
  const unset = rows.filter(([, type]) => type !== 'table').map(([name]) => [name, null] as const);
  return {
    variables: { ...Object.fromEntries(unset), ...parameters.values() },
    tables: rows.filter(([, type]) => type === 'table').map(([name]) => name),
  };
}

/** Facts about each magic for editors. */
export const magicFacts: readonly MagicFacts[] = magics.map(magic => {
  const { name, usage, options, arity, verbatim } = magic;
  const { aliases = [], perCell } = magicLines[name];
  return {
    ...{ name, usage, options, aliases, help: magicHelp(magic) },
    // JSON has no infinity.
    arity: [arity[0], Math.min(arity[1], Number.MAX_SAFE_INTEGER)],
    ...present({ perCell, verbatim }),
  };
});

function send(comm: Comm, update: EditorUpdate): void {
  comm.send(update);
}
