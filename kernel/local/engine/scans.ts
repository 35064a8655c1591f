import type { DatasetSchema } from '../../apl/plan/plan.js';
import { present } from '../../present.js';
import type { DatasetCatalog, FilesOf, ScanFilter, StoredFile } from '../sql/compiled.js';

/** The part of a dataset's files in a window: the row groups to read, their rows, and the times they span. */
export interface ExaminedBlocks {
  readonly blocks: number;
  readonly rows: number;
  /** About how many rows a computed dataset makes. */
  readonly computed?: number;
  readonly minNs?: bigint;
  readonly maxNs?: bigint;
}

/** A catalogue that also knows the extent of its files. A computed dataset has none. */
export interface MeasuredCatalog extends DatasetCatalog {
  examined(name: string, startNs: bigint, endNs: bigint): ExaminedBlocks;
  readonly files: FilesOf;
}

/** A catalogue that remembers what was scanned: a dataset read twice by one query counts twice. */
export class RecordingCatalog implements DatasetCatalog {
  readonly #catalog: MeasuredCatalog;
  readonly #scans: ExaminedBlocks[] = [];

  constructor(catalog: MeasuredCatalog) {
    this.#catalog = catalog;
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
    this.#scans.push(this.#catalog.examined(name, startNs, endNs));
    return this.#catalog.scan(name, fields, startNs, endNs, filter);
  }

  files(name: string, startNs: bigint, endNs: bigint): readonly StoredFile[] {
    return this.#catalog.files(name, startNs, endNs);
  }

  /** The sum of all scans so far, and the times that they span together. */
  get examined(): ExaminedBlocks {
    return this.#scans.reduce(together, { blocks: 0, rows: 0 });
  }
}

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
