import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { present } from '../../present.js';
import { type Place, writeError } from '../data-layout.js';
import type { DirectoryAccess } from '../lease/access.js';
import { LocalError, systemError } from '../local-errors.js';

/**
 * Throws LocalError unless a request is meant for this service. A web page open on the same machine can send requests here, but it cannot
 * forge the Host of a rebound name, nor hide its Origin. Pages of `origins` are allowed.
 */
export function guardOrigin(headers: IncomingHttpHeaders, port: number, origins: readonly string[]): void {
  const own = ownHosts.map(host => `${host}:${port}`);
  if (!own.includes(headers.host ?? '')) {
    throw new LocalError('forbidden', 'host', 'The Host header does not match this service.');
  }
  const { origin } = headers;
  if (origin === undefined || own.includes(origin.replace(/^http:\/\//, '')) || origins.includes(origin))
    return;
  throw new LocalError('forbidden', 'origin', 'Requests from other web pages are rejected.', {
    hint: 'To allow pages of an origin to send requests with the token, run `apl-kernel serve --cors ORIGIN`.',
  });
}

/** Sets the CORS headers for a page of these origins. Returns true for a preflight request, which has no token. */
export function admitPage(
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
  origins: readonly string[],
): boolean {
  const { origin = '' } = headers;
  if (!origins.includes(origin)) return false;
  reply.headers({
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': '*',
  });
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  reply.headers({
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? 'authorization',
    'access-control-max-age': '600',
  });
  return true;
}

/**
 * Throws LocalError unless a request carries the token, as an API token or a personal one: the official command line asks for either.
 * Clients of the HTTP Event Collector and of Elasticsearch use the other schemes, with the token as the second half of a pair.
 */
export function guardToken({ authorization = '' }: IncomingHttpHeaders, token: string): void {
  const given = tokenOf(authorization);
  if (given === undefined || !equal(given.replace(/^xapt-/, 'xaat-'), token)) {
    const isWrong = authorization !== '';
    throw new LocalError(
      'unauthorized',
      'unauthorized',
      isWrong
        ? 'The token is not valid for this service.'
        : 'The request has no token: send `Authorization: Bearer <token>`.',
      present({
        hint: isWrong
          ? 'The service prints its token when it starts; the token can change at each start.'
          : undefined,
      }),
    );
  }
}

/** Returns the token in the header; undefined if there is none that can be read. */
export function tokenOf(authorization: string): string | undefined {
  const [, scheme, sent = ''] = /^(Bearer|Splunk|Basic|ApiKey) (\S+)$/i.exec(authorization) ?? [];
  const isPair = /^(basic|apikey)$/i.test(scheme ?? '');
  const given = isPair ? Buffer.from(sent, 'base64').toString('utf8').split(':')[1] : sent;
  return given || undefined;
}

/**
 * Throws LocalError for a write request to a read-only service. Ends the service if writing has become possible: the next one can write.
 */
export function guardWriting(
  { method, routeOptions }: FastifyRequest,
  dataDir: string,
  { refusal }: Place,
  end: (reason: string) => void,
): void {
  if (refusal === undefined || isReading(method, routeOptions)) return;
  const now = writeError(dataDir);
  if (now !== undefined) throw systemError(now) ?? now;
  end('the data directory is writable again');
  throw new LocalError('unavailable', 'not-writable', 'The data directory is writable again.', {
    hint: 'Run the cell again: this read-only service is being replaced.',
  });
}

/** Throws if, after processing a request, the service no longer has its data directory. */
export function guardAnswer({ method, routeOptions }: FastifyRequest, access: DirectoryAccess): void {
  if (isReading(method, routeOptions)) access.check();
  else access.confirm();
}

function isReading(method: string, { url = '' }: FastifyRequest['routeOptions']): boolean {
  return method === 'GET' || readingRoutes.has(url);
}

/** Requests other than GET that write nothing to the data directory. */
const readingRoutes: ReadonlySet<string> = new Set([
  '/v1/datasets/_apl',
  '/v1/query/_apl',
  '/v1/deployments/:deployment/v1/datasets/_apl',
  '/v1/local/results/:lease/:id',
  '/v1/alive',
]);

const ownHosts = ['127.0.0.1', 'localhost', '[::1]'];

/** Compares digests, which have a fixed length, in constant time. */
function equal(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
