import type { DatasetSchema } from '../../apl/plan/plan.js';
import { present } from '../../present.js';
import { formatCount, plural } from '../../text.js';
import { DAY } from '../../time.js';
import type {
  DatasetCatalog,
  FarSource,
  RowCountOf,
  RowGroup,
  RowGroupsOf,
  ScanFilter,
} from '../sql/compiled-query.js';
import type { Places } from '../sql/rewrite/placed.js';
import { EngineError } from './engine-failure.js';

/** The part of a dataset's files in a window: the row groups to read, their rows, and the time range they cover. */
export interface ExaminedBlocks {
  readonly blocks: number;
  readonly rows: number;
  /** About how many rows a computed dataset makes. */
  readonly computed?: number;
  readonly minNs?: bigint;
  readonly maxNs?: bigint;
}

/** A catalog that also knows the extent of its files. A computed dataset has none. */
export interface MeasuredCatalog extends DatasetCatalog {
  /** Returns what a scan reads; with a filter, excludes parts known to have no matching row. */
  examined(name: string, startNs: bigint, endNs: bigint, filter?: ScanFilter): ExaminedBlocks;
  readonly rowGroups: RowGroupsOf;
  readonly rowCount: RowCountOf;
  /** Returns what another engine has read for the request so far. */
  fetched?(): ExaminedBlocks | undefined;
}

/** Processor time limit of a query. */
export interface Budget {
  /** The longest that it may run, in milliseconds. */
  readonly limitMs: number;
  readonly threads: number;
}

/**
 * A catalog that records scans: a dataset that a query reads twice counts twice. `scan` throws EngineError for anything that cannot be
 * computed within the budget.
 */
export class RecordingCatalog implements DatasetCatalog {
  readonly far?: FarSource;
  readonly #catalog: MeasuredCatalog;
  readonly #budget: Budget | undefined;
  readonly #scans: ExaminedBlocks[] = [];

  constructor(catalog: MeasuredCatalog, budget?: Budget) {
    this.#catalog = catalog;
    if (catalog.far !== undefined) this.far = catalog.far;
    this.#budget = budget;
  }

  get results(): ReadonlyMap<string, DatasetSchema> {
    return this.#catalog.results ?? new Map();
  }

  names(): string[] {
    return this.#catalog.names();
  }

  schema(name: string): ReturnType<DatasetCatalog['schema']> {
    return this.#catalog.schema(name);
  }

  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const examined = this.#catalog.examined(name, startNs, endNs, filter);
    const { computed = 0 } = examined;
    if (this.#budget !== undefined && computed > 0)
      checkCost({ name, rows: computed, fields: fields.length, lengthNs: endNs - startNs }, this.#budget);
    const sql = this.#catalog.scan(name, fields, startNs, endNs, filter);
    // Anything not here yet is scanned once it has arrived.
    if (sql !== '') this.#scans.push(examined);
    return sql;
  }

  rescan(...asked: Parameters<DatasetCatalog['scan']>): string {
    return this.#catalog.scan(...asked);
  }

  rowGroups(name: string, startNs: bigint, endNs: bigint): readonly RowGroup[] {
    return this.#catalog.rowGroups(name, startNs, endNs);
  }

  rowCount(name: string, startNs: bigint, endNs: bigint): number | undefined {
    const count = this.#catalog.rowCount(name, startNs, endNs);
    if (count !== undefined) this.#scans.push(this.#catalog.examined(name, startNs, endNs));
    return count;
  }

  places(name: string): Places | undefined {
    return this.#catalog.places?.(name);
  }

  textLists(name: string): ReadonlySet<string> {
    return this.#catalog.textLists?.(name) ?? new Set();
  }

  boundedReals(name: string): ReadonlySet<string> {
    return this.#catalog.boundedReals?.(name) ?? new Set();
  }

  mostRows(name: string): number | undefined {
    return this.#catalog.mostRows?.(name);
  }

  /** The sum of all scans so far, here and elsewhere, and the time range they cover. */
  get examined(): ExaminedBlocks {
    return this.#scans.reduce(together, this.#catalog.fetched?.() ?? { blocks: 0, rows: 0 });
  }
}

/** Rows that would be computed for a query. */
interface Computation {
  readonly name: string;
  readonly rows: number;
  readonly fields: number;
  readonly lengthNs: bigint;
}

/** Processor time of a row and of each of its fields, in milliseconds, on a faster machine than most. */
const fastestMs = { row: 0.00006, field: 0.000048 };

function checkCost({ name, rows, fields, lengthNs }: Computation, { limitMs, threads }: Budget): void {
  const leastMs = (rows * (fastestMs.row + fields * fastestMs.field)) / threads;
  if (leastMs <= limitMs) return;
  const message = `\`${name}\` is computed when it is read, and ${roughCount(rows)} events take longer than the ${plural(limitMs / 1000, 'second')} that a query has.`;
  const days = Math.floor((Number(lengthNs) * limitMs) / leastMs / usual / Number(DAY));
  const hint = days > 0 ? `Choose a range of ${plural(days, 'day')} at most.` : 'Choose a shorter range.';
  throw new EngineError('too-much-computed', message, { hint });
}

function roughCount(count: number): string {
  const [unit, word] = count < 1e9 ? [1e6, 'million'] : [1e9, 'billion'];
  return `${formatCount(Number((count / unit).toPrecision(2)))} ${word}`;
}

/** Slowdown of a common machine relative to the fastest. */
const usual = 2.5;

function together(a: ExaminedBlocks, b: ExaminedBlocks): ExaminedBlocks {
  const minNs = earlier(a.minNs, b.minNs);
  const maxNs = later(a.maxNs, b.maxNs);
  return {
    blocks: a.blocks + b.blocks,
    rows: a.rows + b.rows,
    computed: (a.computed ?? 0) + (b.computed ?? 0),
    ...present({ minNs, maxNs }),
  };
}

function earlier(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || (b !== undefined && b < a)) return b;
  return a;
}

function later(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || (b !== undefined && b > a)) return b;
  return a;
}
