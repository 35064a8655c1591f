import type { Table } from 'apache-arrow';
import type { CountedValue } from '../../apl/editor/editor-link.js';
import { quotedName } from '../../apl/syntax/tokens/quote.js';
import type { Session } from '../session.js';
import { resolveRange } from '../time-range.js';

/** Maximum age of cached values, in milliseconds. */
const timeToLiveMs = 60_000;
const timeLimitMs = 5_000;

interface Entry {
  readonly askedAt: number;
  /** Pending until the response arrives. */
  loading: Promise<void> | undefined;
  value: readonly string[];
}

/**
 * Values of fields and keys of maps in the data of a session's time range. `values` and `keys` return cached values at once and
 * fetch the rest in the background; a failure leaves the cached values.
 */
export class SeenValues {
  readonly #session: Pick<Session, 'now' | 'query' | 'range'>;
  readonly #entries = new Map<string, Entry>();
  #asked: Promise<void>[] = [];

  constructor(session: Pick<Session, 'now' | 'query' | 'range'>) {
    this.#session = session;
  }

  /** Returns the most frequent values of a string field, at most 50. */
  readonly values = (field: string, datasets: readonly string[]): readonly string[] =>
    datasets.flatMap(dataset => {
      const [table, name] = [quotedName(dataset), quotedName(field)];
      return this.#known(
        `${table} | where isnotempty(${name}) | summarize n = count() by value = ${name} | top 50 by n`,
      );
    });

  /** Returns the keys of a map in up to 200 of the newest rows, most frequent first. */
  readonly keys = (path: readonly string[], datasets: readonly string[]): readonly string[] =>
    datasets.flatMap(dataset => {
      const map = path.map(quotedName).join('');
      return this.#known(
        `${quotedName(dataset)} | where isnotnull(${map}) | limit 200 | project key = bag_keys(${map}) | mv-expand key to typeof(string) | summarize n = count() by key | top 100 by n`,
      );
    });

  /**
   * Returns the most frequent values, at most 20, of a field or a map key of any type; null for rows without one. Throws the errors
   * of the query.
   */
  async top(path: readonly string[], dataset: string): Promise<readonly CountedValue[]> {
    const value = path.map(quotedName).join('');
    const columns = await this.#query(
      `${quotedName(dataset)} | summarize n = count() by value = tostring(${value}) | top 20 by n`,
    );
    const counts = [...(columns?.getChild('n') ?? [])].map(Number);
    const texts: unknown[] = [...(columns?.getChild('value') ?? [])];
    return texts.map((text, index) => ({
      text: typeof text === 'string' && text !== '' ? text : null,
      count: counts[index] ?? 0,
    }));
  }

  /** Waits for the queries sent since the last call, at most `timeoutMs`; returns whether there were any. */
  async settle(timeoutMs: number): Promise<boolean> {
    const asked = this.#asked;
    this.#asked = [];
    if (asked.length === 0) return false;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>(resolve => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(asked), timeout]);
    clearTimeout(timer);
    return true;
  }

  #known(apl: string): readonly string[] {
    const key = `${this.#session.range.label} ${apl}`;
    const known = this.#entries.get(key);
    const entry =
      known !== undefined && performance.now() - known.askedAt < timeToLiveMs
        ? known
        : this.#ask(apl, known?.value ?? []);
    this.#entries.set(key, entry);
    if (entry.loading !== undefined) this.#asked.push(entry.loading);
    return entry.value;
  }

  #ask(apl: string, before: readonly string[]): Entry {
    const entry: Entry = { askedAt: performance.now(), loading: undefined, value: before };
    entry.loading = this.#load(apl)
      .then(
        value => {
          entry.value = value;
        },
        () => undefined,
      )
      .finally(() => {
        entry.loading = undefined;
      });
    return entry;
  }

  /** Returns the first column of a query's result. */
  async #load(apl: string): Promise<readonly string[]> {
    const column = (await this.#query(apl))?.getChildAt(0);
    return [...(column ?? [])].filter((value): value is string => typeof value === 'string');
  }

  async #query(apl: string): Promise<Table | undefined> {
    const range = resolveRange(this.#session.range, this.#session.now());
    const signal = AbortSignal.timeout(timeLimitMs);
    const raw = await this.#session.query({ apl, ...range }, signal);
    const { decodeTabular } = await import('../../result/decode/decode-arrow.js');
    return decodeTabular(raw.body).tables[0]?.data;
  }
}
