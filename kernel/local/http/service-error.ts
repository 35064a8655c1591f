import { dirname } from 'node:path';
import { AplKernelError, type ErrorCode, type ForeignCode } from '../../errors.js';
import { systemRefusal } from '../../machine.js';
import { formatCount } from '../../text.js';

/** Returns the error about a body of more than `mostBytes`; `hint` says what to do instead. */
export function bodyTooLarge(mostBytes: number, hint: string): ServiceError {
  const message = `The body has more than ${bytesInWords(mostBytes)}, the most that this request may have.`;
  return new ServiceError(413, 'too-large', message, { hint });
}

function bytesInWords(bytes: number): string {
  const [unit, size] = bytes < 2 ** 20 ? (['KiB', 2 ** 10] as const) : (['MiB', 2 ** 20] as const);
  return `${formatCount(bytes / size)} ${unit}`;
}

/** A request that the local service refuses, with the HTTP status it is answered with. */
export class ServiceError extends AplKernelError {
  readonly status: number;

  constructor(
    status: number,
    code: ErrorCode | ForeignCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.status = status;
  }
}

/** Returns the refusal of a request for which the system did not do something with a file; undefined for any other error. */
export function systemError(error: unknown): ServiceError | undefined {
  const refusal = systemRefusal(error);
  if (refusal === undefined) return undefined;
  const { path } = error as NodeJS.ErrnoException;
  const place = path === undefined ? '' : ` in ${dirname(path)}`;
  const { status, code, reason, hint } = refusal;
  return new ServiceError(status, code, `This could not be done${place}: ${reason}.`, { hint, cause: error });
}
