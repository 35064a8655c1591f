import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from './service-error.js';

/**
 * Throws ServiceError unless a request is meant for this service. A web page that is open on the same machine can send
 * requests here: it cannot forge the Host of a name that was rebound, nor hide its Origin.
 */
export function guardOrigin(headers: IncomingHttpHeaders, port: number): void {
  const own = ownHosts.map(host => `${host}:${port}`);
  if (!own.includes(headers.host ?? '')) {
    throw new ServiceError(403, 'host', 'The Host header does not name this service.');
  }
  if (headers.origin !== undefined && !own.includes(headers.origin.replace(/^http:\/\//, ''))) {
    throw new ServiceError(403, 'origin', 'Requests from other web pages are refused.');
  }
}

/** Throws ServiceError unless a request carries the token. */
export function guardToken(headers: IncomingHttpHeaders, token: string): void {
  const given = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (given === undefined || !equal(given, token)) {
    throw new ServiceError(401, 'unauthorized', 'The request has no valid token.', {
      hint: 'Send `Authorization: Bearer <token>`.',
    });
  }
}

const ownHosts = ['127.0.0.1', 'localhost', '[::1]'];

/** Digests have one length, whatever was sent, and are compared in constant time. */
function equal(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
