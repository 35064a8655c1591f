import { AplKernelError, type ErrorCode, type ServiceErrorCode } from '../errors.js';

export interface ApiErrorOptions {
  readonly code: ErrorCode | ServiceErrorCode;
  readonly hint?: string;
  readonly cause?: unknown;
  /** The HTTP status, when there was a response. */
  readonly status?: number;
  readonly traceId?: string;
}

/** A request to the query API that failed; the message is one paragraph and never holds a token. */
export class ApiError extends AplKernelError {
  readonly status: number | undefined;
  readonly traceId: string | undefined;

  constructor(message: string, options: ApiErrorOptions) {
    super(options.code, message, options);
    this.status = options.status;
    this.traceId = options.traceId;
  }
}

/** Where in the sent APL the service found the error; line and column are one-based. */
export interface AplPosition {
  readonly line: number;
  readonly column: number;
}

/** A further error in the same APL. */
interface AplError {
  readonly position: AplPosition;
  readonly message: string;
  readonly hint?: string;
}

/** The service could not read or run the APL. `position` is absent when the service did not say where. */
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

/** 401: no token, or one that the service does not know. */
export class UnauthorizedError extends ApiError {}

/** 403: the token is known but lacks the permission. */
export class ForbiddenError extends ApiError {}

/** 404: nothing has that name or id. */
export class NotFoundError extends ApiError {}

/** 409: something of that name exists already. */
export class ConflictError extends ApiError {}

/** 429 without Retry-After: too many requests in the current interval. */
export class RateLimitError extends ApiError {}

/** 429 with Retry-After: the spend budget is used up until then. */
export class BudgetError extends ApiError {}

/** 430: the query limit of the plan is used up. */
export class PlanLimitError extends ApiError {}

/** 5xx: the service, or something in front of it, failed. */
export class ServiceError extends ApiError {}

/** Any other refusal of the request. */
export class RequestError extends ApiError {}

/** The answer is not the API's: an HTML page, a redirect, something that is not JSON, or JSON of another shape. */
export class UnexpectedAnswerError extends ApiError {}

/** The answer ended before it was complete. */
export class TruncatedAnswerError extends ApiError {}

/** No connection: refused, reset, no such host, no route. `refused` is true when nothing listens at the address. */
export class ConnectionError extends ApiError {
  get refused(): boolean {
    return this.code === 'connection-refused';
  }
}

/** The connection could not be made secure. */
export class TlsError extends ApiError {}

/** The time limit of the request passed. */
export class TimeLimitError extends ApiError {}

/** The request was aborted by its caller. */
export class InterruptedError extends ApiError {
  constructor(cause?: unknown) {
    super('the request was interrupted', { code: 'interrupted', cause });
  }
}
