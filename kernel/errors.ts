/** Codes of the kernel's and the local service's own errors. */
export type ErrorCode =
  // the HTTP API
  | 'answer-too-large'
  | 'bad-request'
  | 'budget-exhausted'
  | 'connection-lost'
  | 'connection-refused'
  | 'damaged-answer'
  | 'download'
  | 'exists'
  | 'forbidden'
  | 'host-not-found'
  | 'html-answer'
  | 'interrupted'
  | 'invalid-query'
  | 'not-found'
  | 'not-json'
  | 'plan-limit'
  | 'proxy'
  | 'proxy-unavailable'
  | 'rate-limited'
  | 'redirected'
  | 'refused'
  | 'service-failed'
  | 'time-limit'
  | 'tls'
  | 'too-large'
  | 'truncated-answer'
  | 'unauthorized'
  | 'unexpected-shape'
  // notebooks and the command line
  | 'assertion'
  | 'decode'
  | 'export'
  | 'install-failed'
  | 'invalid-connection-file'
  | 'lab-failed'
  | 'local-service'
  | 'login'
  | 'magic'
  | 'no-input'
  | 'not-recorded'
  | 'notebook-malformed'
  | 'notebook-unreadable'
  | 'notebook-unwritable'
  | 'option-invalid'
  | 'packages-missing'
  | 'port-invalid'
  | 'profile'
  | 'python-missing'
  | 'python-not-found'
  | 'query-log'
  | 'recording'
  | 'recording-damaged'
  | 'request-too-large'
  | 'request-unknown'
  | 'result'
  | 'serve-failed'
  | 'setting'
  | 'subshell-unknown'
  | 'time-range'
  | 'venv-failed'
  // the local service
  | 'annotation-not-found'
  | 'annotation-unreadable'
  | 'bucket'
  | 'bucket-changed'
  | 'content-encoding'
  | 'content-type'
  | 'csv-delimiter'
  | 'data-directory-held'
  | 'data-format'
  | 'dataset-changed'
  | 'dataset-damaged'
  | 'dataset-not-found'
  | 'date-order'
  | 'disk-failed'
  | 'empty'
  | 'encoding'
  | 'engine-busy'
  | 'engine-disk'
  | 'engine-ended'
  | 'engine-failed'
  | 'engine-memory'
  | 'engine-short'
  | 'engine-unexplained'
  | 'far-result'
  | 'far-rows'
  | 'field-not-found'
  | 'format'
  | 'format-unfit'
  | 'too-many-files'
  | 'unlike-files'
  | 'function-cost'
  | 'gzip'
  | 'host'
  | 'in-use'
  | 'internal-column-type'
  | 'internal-error'
  | 'invalid-argument'
  | 'invalid-json'
  | 'invalid-name'
  | 'invalid-request'
  | 'lease-lost'
  | 'log-unreadable'
  | 'no-fields'
  | 'no-list'
  | 'no-such-file'
  | 'not-a-file'
  | 'not-an-object'
  | 'not-supported'
  | 'not-writable'
  | 'origin'
  | 'private-file'
  | 'query-canceled'
  | 'query-timeout'
  | 'query-too-large'
  | 'result-unknown'
  | 'service-ending'
  | 'starred-not-found'
  | 'starred-unreadable'
  | 'time-field-unknown'
  | 'time-unreadable'
  | 'too-much-computed'
  | 'unreadable';

declare const foreign: unique symbol;

/** A code defined elsewhere: by another service, or in the diagnostics of a query. */
export type ServiceErrorCode = string & { readonly [foreign]: true };

/** Returns a code that is not in the kernel's own list. */
export function serviceErrorCode(code: string): ServiceErrorCode {
  return code as ServiceErrorCode;
}

/** Base of every operational failure: a stable `code`, a message with the problem, a hint with the fix. */
export class AplKernelError extends Error {
  readonly code: ErrorCode | ServiceErrorCode;
  readonly hint: string | undefined;

  constructor(
    code: ErrorCode | ServiceErrorCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
  }
}

/** A command was called with an invalid argument: a path that is not a file, an option that makes no sense. */
export class UsageError extends AplKernelError {}
