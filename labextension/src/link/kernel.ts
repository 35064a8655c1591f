import type { Kernel } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import {
  type AddedCell,
  type Answer,
  type EditorMessage,
  type EditorQuestion,
  type EditorUpdate,
  editorTarget,
  type SessionFacts,
  type WrittenCells,
} from '../../../kernel/apl/editor/editor-link.js';
import type { KernelFacts, Knowledge } from '../../../kernel/apl/editor/known.js';
import type { FieldSchema } from '../../../kernel/apl/plan/plan.js';
import { languageId } from '../language-names.js';
import { withComms } from './link-comms.js';

/** Adds cells from the kernel to a notebook. */
export interface Writer {
  readonly name: () => string;
  readonly below: (update: WrittenCells) => void;
  /** False for a read-only notebook. */
  readonly canAdd: () => boolean;
  /** Adds a cell below the last one and runs it; false if it has not run. */
  readonly add: (cell: AddedCell) => Promise<boolean>;
}

/** A response of the kernel; a stale one is used until the next one arrives. */
interface CachedAnswer {
  readonly answer: Answer;
  stale: boolean;
}

/**
 * The state of one kernel's session that editors, toolbars and the panel share. Every question is answered synchronously from
 * the data the kernel has sent; missing data is requested, and `changed` is emitted when it arrives. A kernel that is busy, dead,
 * restarting or of another language is not an error.
 */
export class KernelLink {
  readonly #kernel: Kernel.IKernelConnection;
  readonly #changed = new Signal<this, void>(this);
  readonly #answers = new Map<string, CachedAnswer>();
  readonly #asked = new Set<string>();
  #comm: Kernel.IComm | undefined;
  #version = 0;
  #facts: KernelFacts | undefined;
  #session: SessionFacts | undefined;
  #wanted = false;
  #writer: Writer | undefined;
  #renewing: ReturnType<typeof setTimeout> | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;
  readonly #missed = new Set<string>();
  /** True if the kernel does not know the comm. */
  #refused = false;

  constructor(kernel: Kernel.IKernelConnection) {
    this.#kernel = kernel;
    kernel.statusChanged.connect((_, status) => this.#followStatus(status));
  }

  get kernel(): Kernel.IKernelConnection {
    return this.#kernel;
  }

  /** Number of messages from the kernel. */
  get version(): number {
    return this.#version;
  }

  get facts(): KernelFacts | undefined {
    return this.#facts;
  }

  /** The state of the session as last sent. */
  get session(): SessionFacts | undefined {
    return this.#session;
  }

  /** True if the kernel does not respond to this extension: it is of another language, or has no such comm. */
  get isRefused(): boolean {
    return this.#refused;
  }

  get changed(): ISignal<this, void> {
    return this.#changed;
  }

  /** True while requests are pending. */
  get isAsking(): boolean {
    return this.#asked.size > 0;
  }

  /** Opens the comm, unless it is open or unavailable. */
  connect(): void {
    this.#wanted = true;
    if (this.#comm !== undefined || this.#refused || this.#kernel.isDisposed) return;
    void this.#kernel.info.then(info => {
      if (info.language_info.name === languageId) this.#open();
      else this.#refused = true;
    }, ignore);
  }

  /** Registers the writer of cells from the kernel for this connection; called again when its name changes. */
  writeBy(writer: Writer): void {
    this.#writer = writer;
    this.#offerToWrite();
  }

  /** Immediately stops agents from adding cells. */
  endAgents(): void {
    this.#send({ ask: 'no agents' });
  }

  /** Returns the cached answer to a question, and requests a missing or stale one. */
  answer(question: EditorQuestion): Answer | undefined {
    return this.#known(question);
  }

  /** Calls `hear` with the answer to a question, immediately or once it arrives; never if the kernel does not respond. */
  whenAnswered(question: EditorQuestion, hear: (answer: Answer) => void): void {
    const look = (): void => {
      const answer = this.answer(question);
      if (answer === undefined) return;
      this.#changed.disconnect(look);
      hear(answer);
    };
    this.#changed.connect(look);
    this.connect();
    look();
  }

  /** Returns true while an answer to a question is pending. */
  isAwaited(question: EditorQuestion): boolean {
    return this.#asked.has(keyOf(question));
  }

  /**
   * Makes the kernel look for datasets created elsewhere, at most once per interval; calls within an interval cause one more look at its
   * end.
   */
  renew(): void {
    if (this.#renewing !== undefined) return;
    const wait = Math.max(0, this.#renewedAt + renewEveryMs - performance.now());
    this.#renewing = setTimeout(() => {
      this.#renewing = undefined;
      this.#renewedAt = performance.now();
      this.#send({ ask: 'renew' });
    }, wait);
  }

  /** Like `renew`, once for each unknown dataset name. */
  miss(name: string): void {
    if (this.#missed.has(name)) return;
    this.#missed.add(name);
    this.renew();
  }

  /** Makes the kernel query its service again. */
  refresh(): void {
    for (const held of this.#answers.values()) held.stale = true;
    this.#send({ ask: 'refresh' });
  }

  /** Returns the current knowledge. */
  knowledge(): Knowledge {
    return {
      ...(this.#facts === undefined ? {} : { facts: this.#facts }),
      fields: dataset => this.#fields(dataset),
      values: (field, [dataset]) => this.#texts(dataset, name => ({ ask: 'values', field, dataset: name })),
      mapKeys: (path, [dataset]) =>
        this.#texts(dataset, name => ({ ask: 'keys', path: [...path], dataset: name })),
      now: BigInt(Date.now()) * 1_000_000n,
    };
  }

  #open(): void {
    if (this.#comm !== undefined || this.#kernel.isDisposed || this.#kernel.status === 'dead') return;
    const comm = withComms(this.#kernel).createComm(editorTarget);
    this.#comm = comm;
    comm.onMsg = message => this.#hear(message.content.data as unknown as EditorUpdate);
    comm.onClose = () => {
      this.#comm = undefined;
      this.#refused = true;
    };
    comm.open({});
    this.#offerToWrite();
  }

  #offerToWrite(): void {
    const name = this.#writer?.name();
    if (name !== undefined) this.#send({ ask: 'write', client: this.#kernel.clientId, name });
  }

  #followStatus(status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
      this.#comm = undefined;
      this.#refused = false;
      this.#asked.clear();
      this.#session = undefined;
      for (const held of this.#answers.values()) held.stale = true;
    } else if (status === 'idle' && this.#wanted && this.#comm === undefined) this.connect();
  }

  #hear(update: EditorUpdate): void {
    switch (update.tell) {
      case 'session':
        this.#hearSession(update.session);
        break;
      case 'facts':
        this.#facts = update.facts;
        this.#age();
        break;
      case 'cells':
        this.#writer?.below(update);
        break;
      case 'offer':
        if (this.#writer?.canAdd() === true) this.#send({ ask: 'take', cell: update.cell });
        break;
      case 'add':
        void this.#add(update);
        break;
      default: {
        const key = keyOf(update.question);
        this.#asked.delete(key);
        this.#answers.set(key, { answer: update, stale: false });
      }
    }
    this.#version += 1;
    this.#changed.emit();
  }

  async #add(added: AddedCell): Promise<void> {
    if ((await this.#writer?.add(added)) !== true) this.#send({ ask: 'give up', cell: added.cell });
  }

  /** Updates the session: another profile has other data, and in another range the same profile has other values. */
  #hearSession(session: SessionFacts): void {
    const before = this.#session;
    this.#session = session;
    if (before === undefined) return;
    if (before.profile !== session.profile) this.#answers.clear();
    if (before.range.label !== session.range.label) this.#age('top');
    if (before.stars !== session.stars) this.#age('stars');
  }

  /** Marks the answers of one kind, or those that any cell may have changed, as stale. */
  #age(ask?: EditorQuestion['ask']): void {
    for (const held of this.#answers.values()) {
      const { ask: asked } = held.answer.question;
      if (ask === undefined ? !lasting.has(asked) : ask === asked) held.stale = true;
    }
  }

  #fields(dataset: string): readonly FieldSchema[] | undefined {
    const answer = this.#known({ ask: 'fields', dataset });
    return answer?.tell === 'fields' ? answer.fields : undefined;
  }

  #texts(dataset: string | undefined, questionOf: (dataset: string) => EditorQuestion): readonly string[] {
    const answer = dataset === undefined ? undefined : this.#known(questionOf(dataset));
    return answer?.tell === 'texts' ? answer.texts : [];
  }

  #known(question: EditorQuestion): Answer | undefined {
    const key = keyOf(question);
    const held = this.#answers.get(key);
    if ((held === undefined || held.stale) && !this.#asked.has(key) && this.#send(question))
      this.#asked.add(key);
    return held?.answer;
  }

  /** Returns false if there is no open comm. */
  #send(message: EditorMessage): boolean {
    const comm = this.#comm;
    if (comm === undefined || comm.isDisposed || this.#kernel.status === 'dead') return false;
    void comm.send({ ...message }).done.catch(ignore);
    return true;
  }
}

/** Interval at which the kernel looks for datasets created elsewhere, in milliseconds. */
const renewEveryMs = 3_000;

/** Returns a key that is equal for equal questions: the kernel may order their members differently. */
function keyOf(question: EditorQuestion): string {
  return JSON.stringify(Object.entries(question).sort());
}

/** Questions whose answers cost the service a query or a paged listing; running a cell does not make them stale. */
const lasting: ReadonlySet<EditorQuestion['ask']> = new Set(['top', 'stars']);

/** Ignores a message lost with its kernel; it is sent again to the next one. */
function ignore(): void {}
