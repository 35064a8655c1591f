import type { AplKernelError } from '../../errors.js';
import type { ReadCells } from './engine-columns.js';
import type { OperatorCounts } from './engine-profile.js';
import type { ReadResult, ResultOrder } from './engine-reader.js';

/** The service's messages to an engine process; one query at a time, from `begin` to `end`. All but `interrupt` are answered. */
export type ToEngine =
  | { readonly kind: 'open'; readonly dataDir: string; readonly memoryBytes: number }
  | { readonly kind: 'begin'; readonly temporary: string | undefined }
  | { readonly kind: 'execute'; readonly sql: string }
  | { readonly kind: 'read'; readonly order: ResultOrder }
  | { readonly kind: 'load'; readonly table: string; readonly body: Uint8Array }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'end' };

/** The answers of an engine process, and between them what it uses. */
export type FromEngine = EngineAnswer | MemoryReport;

/** All memory of the process, in bytes, while it runs a query. */
export interface MemoryReport {
  readonly kind: 'memory';
  readonly bytes: number;
}

export type EngineAnswer =
  /** `scratch` is left behind when the process is killed. */
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
