import type { AplKernelError } from '../../errors.js';
import type { ReadCells } from './engine-columns.js';
import type { OperatorCounts } from './engine-profile.js';
import type { ReadResult, ResultOrder } from './engine-reader.js';

/** Messages from the service to an engine process, for one query at a time, from `begin` to `end`. All but `interrupt` get an answer. */
export type ToEngine =
  | { readonly kind: 'open'; readonly dataDir: string; readonly memoryBytes: number }
  | { readonly kind: 'begin'; readonly temporary: string | undefined }
  | { readonly kind: 'execute'; readonly sql: string }
  | { readonly kind: 'read'; readonly order: ResultOrder }
  | { readonly kind: 'load'; readonly table: string; readonly body: Uint8Array }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'end' };

/** Answers of an engine process, interspersed with reports of its memory. */
export type FromEngine = EngineAnswer | MemoryReport;

/** Total memory of the process while it runs a query, in bytes. */
export interface MemoryReport {
  readonly kind: 'memory';
  readonly bytes: number;
}

export type EngineAnswer =
  /** `scratch` is left behind if the process is killed. */
  | { readonly kind: 'opened'; readonly scratch: readonly string[] }
  | { readonly kind: 'begun' | 'loaded' | 'ended' }
  | { readonly kind: 'executed'; readonly counts: OperatorCounts }
  | ({ readonly kind: 'result'; readonly read: ReadCells } & Omit<ReadResult, 'columns'>)
  | {
      readonly kind: 'failed';
      readonly code: AplKernelError['code'];
      readonly message: string;
      readonly hint: string | undefined;
      readonly detail: string;
    };
