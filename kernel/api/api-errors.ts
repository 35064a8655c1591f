import { AplKernelError, type ErrorCode, type ServiceErrorCode } from '../errors.js';

export interface ApiErrorOptions {
  readonly code: ErrorCode | ServiceErrorCode;
  readonly hint?: string;
  readonly cause?: unknown;
  /** HTTP status, if there was a response. */
  readonly status?: number;
  readonly traceId?: string;
}

/** A failed request to the query API; the message is one paragraph and never contains a token. */
export class ApiError extends AplKernelError {
  readonly status: number | undefined;
  readonly traceId: string | undefined;

  constructor(message: string, options: ApiErrorOptions) {
    super(options.code, message, options);
    this.status = options.status;
    this.traceId = options.traceId;
  }
}

/** Position in the APL at which the service found the error; line and column are one-based. */
export interface AplPosition {
  readonly line: number;
  readonly column: number;
}

/** An additional error in the same APL. */
interface AplError {
  readonly position: AplPosition;
  readonly message: string;
  readonly hint?: string;
}

/** The service could not parse or run the APL. `position` is absent if the service did not report one. */
export class QueryError extends ApiError {
  readonly position: AplPosition | undefined;
  readonly others: readonly AplError[];

  constructor(
    message: string,
    options: ApiErrorOptions & { readonly position?: AplPosition; readonly others?: readonly AplError[] },
  ) {
    super(message, options);
    this.position = options.position;
    this.others = options.others ?? [];
  }
}

/** 401: no token, or a token unknown to the service. */
export class UnauthorizedError extends ApiError {}

/** 403: the token is valid but lacks the permission. */
export class ForbiddenError extends ApiError {}

/** 404: nothing has this name or id. */
export class NotFoundError extends ApiError {}

/** 409: the name is already in use. */
export class ConflictError extends ApiError {}

/** 429 without Retry-After: too many requests in the current interval. */
export class RateLimitError extends ApiError {}

/** 429 with Retry-After: the spend budget is exhausted until then. */
export class BudgetError extends ApiError {}

/** 430: the plan's query limit is exhausted. */
export class PlanLimitError extends ApiError {}

/** 5xx: the service or a gateway in front of it failed. */
export class ServiceError extends ApiError {}

/** Any other error status. */
export class RequestError extends ApiError {}

/** The response is not the API's: an HTML page, a redirect, invalid JSON, or JSON of another shape. */
export class UnexpectedAnswerError extends ApiError {}

/** The response was truncated. */
export class TruncatedAnswerError extends ApiError {}

/** Connection failed: refused, reset, host not found, no route. `refused` is true if nothing listens at the address. */
export class ConnectionError extends ApiError {
  get refused(): boolean {
    return this.code === 'connection-refused';
  }
}

/** The TLS connection failed. */
export class TlsError extends ApiError {}

/** The request timed out. */
export class TimeLimitError extends ApiError {}

/** The caller aborted the request. */
export class InterruptedError extends ApiError {
  constructor(cause?: unknown) {
    super('the request was interrupted', { code: 'interrupted', cause });
  }
}
