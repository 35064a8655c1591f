import { ApiError } from '../../api/api-errors.js';
import type { Client } from '../../api/client.js';
import type { ChartOptions } from '../../apl/operators/drawing.js';
import { AplKernelError } from '../../errors.js';
import type { AskAnnotations } from '../../result/chart/chart.js';
import type { ChartAnnotations } from '../../result/chart/time/time-rules.js';
import type { QueryResult } from '../../result/result.js';
import { underEither } from '../../signals.js';

/** Request for the annotations of a result: those of its datasets on a profile, in its RFC 3339 range. */
export interface AnnotationQuestion {
  readonly profile: string;
  readonly datasets: readonly string[];
  readonly start: string;
  readonly end: string;
}

/** The parts of a session that a reader needs. */
export interface AnnotationSource {
  readonly profileName: string;
  client(signal: AbortSignal): Promise<Client>;
  log(text: string): void;
}

/** How long a chart waits for annotations, in milliseconds: it is better without them than late. */
const timeoutMs = 1_000;

/** A pending request. */
interface Asked {
  readonly key: string;
  readonly answer: Promise<ChartAnnotations>;
  /** Cancels the request. */
  readonly stop: AbortController;
}

/**
 * Reads the annotations of charts. Never fails: if they cannot be read there are none, and the reason is logged once per profile. A
 * service that refuses is not asked again.
 */
export class AnnotationReader {
  readonly #source: AnnotationSource;
  /** The request sent along with a query. */
  #begun: Asked | undefined;
  /** Why each profile refused. */
  readonly #refusals = new Map<string, string>();
  readonly #logged = new Set<string>();

  constructor(source: AnnotationSource) {
    this.#source = source;
  }

  /** Sends a request while the query runs, so that its chart does not have to wait. */
  begin(question: AnnotationQuestion, signal: AbortSignal): void {
    this.#begun?.stop.abort();
    this.#begun = this.#ask(question, signal);
  }

  /** Returns the annotations, from the pending request if it is the same. */
  async read(question: AnnotationQuestion, signal: AbortSignal): Promise<ChartAnnotations> {
    const begun = this.#begun;
    this.#begun = undefined;
    const isSame = begun?.key === keyOf(question);
    if (!isSame) begun?.stop.abort();
    const asked = isSame ? begun : this.#ask(question, signal);
    const answer = await within(asked.answer, timeoutMs);
    if (answer !== undefined) return answer;
    asked.stop.abort();
    return {
      annotations: [],
      problem: this.#explained(question.profile, `no response within ${timeoutMs / 1000} s`),
    };
  }

  /** Discards requests and refusals, after annotations or the profile changed. */
  forget(): void {
    this.#begun = undefined;
    this.#refusals.clear();
  }

  #ask(question: AnnotationQuestion, signal: AbortSignal): Asked {
    const stop = new AbortController();
    const answer = underEither([signal, stop.signal], either => this.#answer(question, either));
    return { key: keyOf(question), answer, stop };
  }

  async #answer(
    { profile, datasets, start, end }: AnnotationQuestion,
    signal: AbortSignal,
  ): Promise<ChartAnnotations> {
    const refusal = this.#refusals.get(profile);
    if (refusal !== undefined) return { annotations: [], problem: refusal };
    if (datasets.length === 0 || profile !== this.#source.profileName) return { annotations: [] };
    try {
      const client = await this.#source.client(signal);
      const { items, notices } = await client.listAnnotations({ datasets, start, end }, signal);
      // A service may ignore the filter.
      const annotations = items.filter(each => each.datasets.some(name => datasets.includes(name)));
      if (notices.length === 0) return { annotations };
      this.#explained(profile, notices.join(' '), 'lack some annotations');
      return { annotations, isPart: true };
    } catch (error) {
      if (signal.aborted) return { annotations: [] };
      const reason = error instanceof AplKernelError ? error.message : 'they could not be read';
      if (isRefusal(error)) this.#refusals.set(profile, reason);
      return { annotations: [], problem: this.#explained(profile, reason) };
    }
  }

  /** Logs why annotations are missing, the first time only. */
  #explained(profile: string, reason: string, what = 'have no annotations'): string {
    if (!this.#logged.has(profile)) this.#source.log(`charts of ${profile} ${what}: ${reason}`);
    this.#logged.add(profile);
    return reason;
  }
}

/** Resolves with undefined on a timeout; a result that arrived while this process was busy is still in time. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => setImmediate(() => setImmediate(resolve, undefined)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The annotation members of a session. */
interface Annotating {
  readonly annotates: boolean;
  readonly annotations: AnnotationReader;
}

/** Returns whether charts should have annotations: the cell decides, else the setting. */
export function hasAnnotations({ annotates }: Pick<Annotating, 'annotates'>, options: ChartOptions): boolean {
  return options.annotations ?? annotates;
}

/** Requests the annotations of a result's chart; returns undefined if it should have none. */
export function askAnnotations(
  session: Annotating,
  { sources = [], provenance }: QueryResult,
  options: ChartOptions,
  signal: AbortSignal,
): AskAnnotations | undefined {
  if (!hasAnnotations(session, options)) return undefined;
  const { profile, startTime, endTime } = provenance;
  return () =>
    session.annotations.read({ profile, datasets: sources, start: startTime, end: endTime }, signal);
}

function keyOf({ profile, datasets, start, end }: AnnotationQuestion): string {
  return JSON.stringify([profile, [...datasets].sort(), start, end]);
}

/** Returns whether another request would be refused too: the token lacks the permission, or the service has no annotations. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && [401, 403, 404, 405].includes(error.status ?? 0);
}
