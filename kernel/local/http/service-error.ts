import { AplKernelError, type ErrorCode, type ForeignCode } from '../../errors.js';

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
