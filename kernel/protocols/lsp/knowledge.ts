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

/** What the services of an editor are given. */
export interface Known {
  readonly environment: EditorEnvironment;
  readonly magics: readonly MagicFacts[];
}

/** How long an answer may wait for the service, in milliseconds: an editor shows nothing meanwhile. */
const timeoutMs = 1_000;
/** Fields, then the values that a known field has, may each ask for another round. */
const mostRounds = 3;
/** How long a service may take to start, in milliseconds. */
const startMs = 30_000;
/** How often a service that did not answer is looked for again, in milliseconds. */
const retryMs = 3_000;

/** What a session knows of datasets, fields and magics. Where no service answers, any name may be right. */
export class Knowledge {
  readonly #session: Session;
  readonly #onDatasets: () => void;
  #facts: KernelFacts | undefined;
  #isWaiting = false;
  #triedAt = Number.NEGATIVE_INFINITY;

  /** `onDatasets` is called when datasets have become known that were not. */
  constructor(session: Session, onDatasets: () => void) {
    this.#session = session;
    this.#onDatasets = onDatasets;
  }

  /** Looks again for datasets that were made elsewhere. */
  async renew(): Promise<void> {
    this.#triedAt = Number.NEGATIVE_INFINITY;
    await this.#session.schema.renewedDatasets(timeoutMs);
  }

  /** Calls `use` with what is known, again once the fields that it needs have come; returns its last answer. */
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

  /** A service that is being started answers later. */
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

  /** Values and keys cost a query each, so they are those of the service on this machine alone. */
  async #seen() {
    if (this.#session.profileName !== localProfile)
      return { values: undefined, keys: undefined, settle: async () => false };
    const seen = await seenBy(this.#session);
    return { values: seen.values, keys: seen.keys, settle: () => seen.settle(timeoutMs) };
  }
}
