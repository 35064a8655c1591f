import type { Kernel } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import type { KernelFacts, Knowledge } from '../../../kernel/apl/editor/known.js';
import { type EditorNews, type EditorQuestion, editorTarget } from '../../../kernel/apl/editor/link.js';
import type { FieldSchema } from '../../../kernel/apl/plan/plan.js';
import { languageId } from '../names.js';

/** An answer of the kernel; it is asked again once it is stale, and holds meanwhile. */
interface Answer {
  readonly news: EditorNews;
  stale: boolean;
}

/**
 * What editors know of one kernel's session. Everything is answered at once from what the kernel has told; what is missing is asked
 * for, and `changed` says when it has come. A kernel that is busy, dead, restarting or of another language is no error.
 */
export class KernelLink {
  readonly #kernel: Kernel.IKernelConnection;
  readonly #changed = new Signal<this, void>(this);
  readonly #answers = new Map<string, Answer>();
  readonly #asked = new Set<string>();
  #comm: Kernel.IComm | undefined;
  #version = 0;
  #facts: KernelFacts | undefined;
  #wanted = false;
  /** The kernel knows no such comm. */
  #refused = false;

  constructor(kernel: Kernel.IKernelConnection) {
    this.#kernel = kernel;
    kernel.statusChanged.connect((_, status) => this.#followStatus(status));
  }

  get kernel(): Kernel.IKernelConnection {
    return this.#kernel;
  }

  /** Changes with everything that the kernel tells. */
  get version(): number {
    return this.#version;
  }

  get facts(): KernelFacts | undefined {
    return this.#facts;
  }

  get changed(): ISignal<this, void> {
    return this.#changed;
  }

  /** True while questions are open. */
  get isAsking(): boolean {
    return this.#asked.size > 0;
  }

  /** Opens the comm, unless it is open or cannot be. */
  connect(): void {
    this.#wanted = true;
    if (this.#comm !== undefined || this.#refused || this.#kernel.isDisposed || !this.#kernel.handleComms)
      return;
    void this.#kernel.info.then(info => {
      if (info.language_info.name === languageId) this.#open();
      else this.#refused = true;
    }, ignore);
  }

  /** What is known now. */
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
    const comm = this.#kernel.createComm(editorTarget);
    this.#comm = comm;
    comm.onMsg = message => this.#hear(message.content.data as unknown as EditorNews);
    comm.onClose = () => {
      this.#comm = undefined;
      this.#refused = true;
    };
    comm.open({});
  }

  #followStatus(status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
      this.#comm = undefined;
      this.#refused = false;
      this.#asked.clear();
      this.#age();
    } else if (status === 'idle' && this.#wanted && this.#comm === undefined) this.connect();
  }

  #hear(news: EditorNews): void {
    if (news.tell === 'facts') {
      if (news.facts.profile !== this.#facts?.profile) this.#answers.clear();
      this.#facts = news.facts;
      this.#age();
    } else {
      const key = JSON.stringify(news.question);
      this.#asked.delete(key);
      this.#answers.set(key, { news, stale: false });
    }
    this.#version += 1;
    this.#changed.emit();
  }

  #age(): void {
    for (const answer of this.#answers.values()) answer.stale = true;
  }

  #fields(dataset: string): readonly FieldSchema[] | undefined {
    const news = this.#known({ ask: 'fields', dataset });
    return news?.tell === 'fields' ? news.fields : undefined;
  }

  #texts(dataset: string | undefined, questionOf: (dataset: string) => EditorQuestion): readonly string[] {
    const news = dataset === undefined ? undefined : this.#known(questionOf(dataset));
    return news?.tell === 'texts' ? news.texts : [];
  }

  #known(question: EditorQuestion): EditorNews | undefined {
    const key = JSON.stringify(question);
    const answer = this.#answers.get(key);
    if (answer === undefined || answer.stale) this.#ask(key, question);
    return answer?.news;
  }

  #ask(key: string, question: EditorQuestion): void {
    const comm = this.#comm;
    if (comm === undefined || comm.isDisposed || this.#asked.has(key)) return;
    if (this.#kernel.status === 'dead') return;
    this.#asked.add(key);
    void comm.send({ ...question }).done.catch(ignore);
  }
}

/** A message that is lost with its kernel is asked again of the next. */
function ignore(): void {}
