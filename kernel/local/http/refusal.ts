import type { FastifyError, FastifyReply } from 'fastify';
import type { ErrorBody } from '../../api/wire.js';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';
import { bodyTooLarge, type FailureKind, kindOf, LocalError, systemError } from '../local-errors.js';
import { isProtobuf } from '../otlp/media-type.js';
import { CompileFailure } from './query-route.js';

/** The HTTP status of each kind of failure. */
const statuses: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  gone: 410,
  'too-large': 413,
  'media-type': 415,
  // Not 501: clients retry a request after most statuses from 500 up.
  'not-supported': 422,
  // The Grafana data source tests its connection with an empty query request, and only accepts 422 as working.
  'no-query': 422,
  busy: 429,
  // The client is gone, so this is never read.
  canceled: 499,
  failed: 500,
  unavailable: 503,
  timeout: 504,
  storage: 507,
};

/** A failure as sent to the client. */
export interface Refusal {
  readonly status: number;
  readonly error: AplKernelError;
}

/** Returns the refusal for an error thrown by a route or the framework; `bodyBytes` is the maximum body size. */
export function refusalOf(error: FastifyError | AplKernelError, bodyBytes: number): Refusal {
  const ours = error instanceof AplKernelError ? error : (systemError(error) ?? bodyError(error, bodyBytes));
  if (ours !== undefined) return { status: statuses[kindOf(ours)], error: ours };
  const { statusCode, message } = error as FastifyError;
  if (statusCode !== undefined && statusCode < 500)
    return { status: statusCode, error: new LocalError('invalid', 'invalid-request', message) };
  const failed = new LocalError('failed', 'internal-error', 'The service failed to process this request.', {
    hint: 'The log of the service has details. Report it as a bug.',
  });
  return { status: statuses.failed, error: failed };
}

/** Returns the failure for an invalid body. The framework marks such errors; an unmarked one is an error of our own. */
function bodyError(error: Error & Partial<FastifyError>, bodyBytes: number): LocalError | undefined {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return bodyTooLarge(
      bodyBytes,
      'Shorten the query, for example by importing long lists of values as a dataset.',
    );
  if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return new LocalError('invalid', 'invalid-json', 'The body is not JSON.');
  if (error instanceof SyntaxError && error.statusCode === 400)
    return new LocalError('invalid', 'invalid-json', `The body is not JSON: ${error.message}.`);
  return undefined;
}

/**
 * Responds with a failure in the shape of the route, or else of the API; for protobuf requests, which only OTLP uses, in the shape of OTLP.
 */
export async function refuse(reply: FastifyReply, refusal: Refusal): Promise<FastifyReply> {
  const shaped = reply.request.routeOptions.config.refuse?.(reply, refusal.error);
  if (shaped !== undefined) return shaped;
  const body = bodyOf(refusal);
  reply.code(refusal.status);
  const { 'content-type': type = '' } = reply.request.headers;
  if (!isProtobuf(type)) return reply.send(body);
  const { statusOf } = await import('../otlp/otlp-protocol.js');
  return reply.type('application/x-protobuf').send(statusOf(body.message));
}

/** Returns a failure in the API's shape. */
export function bodyOf({ status, error }: Refusal): ErrorBody {
  return {
    code: status,
    // Clients search for these words.
    message: `${status === 404 ? 'Not found: ' : ''}${sentences(error.message, error.hint)}`,
    detail: error instanceof CompileFailure ? error.detail : detailOf(error),
  };
}

/** Joins message and hint for clients that ignore `detail.hint`; leaves out hints about notebook magics. */
function sentences(message: string, hint: string | undefined): string {
  if (hint === undefined || namesMagic.test(hint)) return message;
  return /[.!?:]$/.test(message) ? `${message} ${hint}` : `${message}. ${hint}`;
}

const namesMagic = /`%[a-z]/;

function detailOf(error: AplKernelError): NonNullable<ErrorBody['detail']> {
  return {
    errorType: error.code,
    message: error.message,
    ...present({ hint: error.hint }),
  };
}
