import { localProfile } from '../../api/profile.js';
import type { EditorEnvironment } from '../../apl/editor/completion/complete.js';
import {
  environmentOf,
  type KernelFacts,
  type MagicFacts,
  parameterLines,
  resultNames,
  withNames,
  withParameters,
} from '../../apl/editor/known.js';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { fieldSchema, seenBy } from '../../notebook/editor/completion.js';
import { factsOf } from '../../notebook/editor/editor-comm.js';
import type { Session } from '../../notebook/session.js';
import { present } from '../../present.js';

/** Input of the editor services. */
export interface Known {
  readonly environment: EditorEnvironment;
  readonly magics: readonly MagicFacts[];
}

/** Timeout for the service, in milliseconds: an editor shows nothing in the meantime. */
const timeoutMs = 1_000;
/** Fields, then the values of a known field, may each need another round. */
const mostRounds = 3;
/** Timeout for a service to start, in milliseconds. */
const startMs = 30_000;
/** Interval between retries for a service that did not answer, in milliseconds. */
const retryMs = 3_000;

/** A session's knowledge of datasets, fields and magics. If no service answers, any name may be valid. */
export class Knowledge {
  readonly #session: Session;
  readonly #onDatasets: () => void;
  #facts: KernelFacts | undefined;
  #isWaiting = false;
  #triedAt = Number.NEGATIVE_INFINITY;

  /** `onDatasets` is called when new datasets have become known. */
  constructor(session: Session, onDatasets: () => void) {
    this.#session = session;
    this.#onDatasets = onDatasets;
  }

  /** Looks again for datasets created elsewhere. */
  async renew(): Promise<void> {
    this.#triedAt = Number.NEGATIVE_INFINITY;
    await this.#session.schema.renewedDatasets(timeoutMs);
  }

  /** Calls `use` with the cached fields, and again after loading any it lacks; returns the last result. */
  async answer<T>(document: string, use: (known: Known) => T): Promise<T> {
    const facts = await this.#factsNow();
    const { values, keys, settle } = await this.#seen();
    const fields = new Map<string, readonly FieldSchema[] | undefined>();
    const missing = new Set<string>();
    for (let round = 1; ; round += 1) {
      const environment = environmentOf({
        ...present({ facts: facts.datasets.length > 0 ? facts : undefined, values, mapKeys: keys }),
        fields: dataset => {
          if (!fields.has(dataset)) missing.add(dataset);
          return fields.get(dataset);
        },
        now: this.#session.now(),
      });
      const named = withNames(resultNames(document), withParameters(parameterLines(document), environment));
      const found = use({ environment: named, magics: facts.magics });
      const isNew = await settle();
      if ((missing.size === 0 && !isNew) || round === mostRounds) return found;
      for (const dataset of missing) fields.set(dataset, await this.#fields(dataset));
      missing.clear();
    }
  }

  async #factsNow(): Promise<KernelFacts> {
    if (this.#facts?.datasets.length === 0 && performance.now() - this.#triedAt < retryMs) return this.#facts;
    this.#facts = await factsOf(this.#session, timeoutMs);
    this.#triedAt = performance.now();
    if (this.#facts.datasets.length === 0) void this.#await();
    return this.#facts;
  }

  /** Waits for a service that is still starting. */
  async #await(): Promise<void> {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    const datasets = await this.#session.schema.renewedDatasets(startMs);
    this.#isWaiting = false;
    if (datasets.length === 0) return;
    this.#facts = undefined;
    this.#onDatasets();
  }

  async #fields(dataset: string): Promise<readonly FieldSchema[] | undefined> {
    const known = await this.#session.schema.knownFields(dataset, timeoutMs);
    return known.length === 0 ? undefined : known.map(fieldSchema);
  }

  /** Returns the values and keys seen, only for the service on this machine, as each costs a query. */
  async #seen() {
    if (this.#session.profileName !== localProfile)
      return { values: undefined, keys: undefined, settle: async () => false };
    const seen = await seenBy(this.#session);
    return { values: seen.values, keys: seen.keys, settle: () => seen.settle(timeoutMs) };
  }
}
