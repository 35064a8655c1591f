import { dirname } from 'node:path';
import { AplKernelError, type ErrorCode, type ServiceErrorCode } from '../errors.js';
import { systemRefusal } from '../machine.js';
import { formatCount } from '../text.js';

/** Kind of a failure from the caller's perspective, independent of the protocol: `http/refusal.ts` maps it to a status. */
export type FailureKind =
  | 'busy'
  | 'canceled'
  | 'conflict'
  | 'failed'
  | 'forbidden'
  | 'gone'
  | 'invalid'
  | 'media-type'
  | 'no-query'
  | 'not-found'
  | 'not-supported'
  | 'storage'
  | 'timeout'
  | 'too-large'
  | 'unauthorized'
  | 'unavailable';

/** A request that the local service refuses or fails. */
export class LocalError extends AplKernelError {
  readonly kind: FailureKind;

  constructor(
    kind: FailureKind,
    code: ErrorCode | ServiceErrorCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.kind = kind;
  }
}

/** Kinds of failures that cross a process boundary by code; any other is an invalid request. */
const kindOfCode: Readonly<Record<string, FailureKind>> = {
  'disk-failed': 'failed',
  'engine-busy': 'busy',
  'engine-disk': 'storage',
  'engine-ended': 'failed',
  'engine-failed': 'failed',
  'engine-short': 'unavailable',
  'engine-unexplained': 'unavailable',
  'internal-column-type': 'failed',
  'lease-lost': 'unavailable',
  'not-writable': 'storage',
  'query-canceled': 'canceled',
};

/** Returns the kind of any failure of ours. */
export function kindOf(error: AplKernelError): FailureKind {
  return error instanceof LocalError ? error.kind : (kindOfCode[error.code] ?? 'invalid');
}

/** Returns the error for a body larger than `mostBytes`; `hint` suggests what to do instead. */
export function bodyTooLarge(mostBytes: number, hint: string): LocalError {
  const message = `The body is larger than ${bytesInWords(mostBytes)}, the limit for this request.`;
  return new LocalError('too-large', 'too-large', message, { hint });
}

function bytesInWords(bytes: number): string {
  const [unit, size] = bytes < 2 ** 20 ? (['KiB', 2 ** 10] as const) : (['MiB', 2 ** 20] as const);
  return `${formatCount(bytes / size)} ${unit}`;
}

/** Returns the failure of a request that the system refused; undefined for any other error. */
export function systemError(error: unknown): LocalError | undefined {
  const refusal = systemRefusal(error);
  if (refusal === undefined) return undefined;
  const { path } = error as NodeJS.ErrnoException;
  const place = path === undefined ? '' : ` in ${dirname(path)}`;
  const { kind, code, reason, hint } = refusal;
  return new LocalError(kind, code, `The operation failed${place}: ${reason}.`, { hint, cause: error });
}
