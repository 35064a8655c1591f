import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AplKernelError } from '../../../errors.js';
import { present } from '../../../present.js';
import { type FailureKind, kindOf } from '../../local-errors.js';
import { takeBody } from '../../store/append/append-body.js';
import {
  EnvelopeError,
  type EnvelopeLines,
  linesOfEnvelopes,
  linesOfRaw,
} from '../../store/append/envelopes.js';
import { ingest } from '../../store/ingest.js';
import { departure } from '../departure.js';
import { tokenOf } from '../guard.js';
import { parametersOf } from '../http-requests.js';
import type { EventParts } from './otlp-routes.js';

/** Responses of the HTTP Event Collector, with the text and codes that Splunk documents and clients expect. */
const said = {
  success: { status: 200, text: 'Success', code: 0 },
  noToken: { status: 401, text: 'Token is required', code: 2 },
  unreadableToken: { status: 401, text: 'Invalid authorization', code: 3 },
  wrongToken: { status: 403, text: 'Invalid token', code: 4 },
  noData: { status: 400, text: 'No data', code: 5 },
  badFormat: { status: 400, text: 'Invalid data format', code: 6 },
  noIndex: { status: 400, text: 'Incorrect index', code: 7 },
  failed: { status: 500, text: 'Internal server error', code: 8 },
  busy: { status: 503, text: 'Server is busy', code: 9 },
  noEvent: { status: 400, text: 'Event field is required', code: 12 },
  blankEvent: { status: 400, text: 'Event field cannot be blank', code: 13 },
  noAcks: { status: 400, text: 'ACK is disabled', code: 14 },
  tokenInAddress: { status: 400, text: 'Query string authorization is not enabled', code: 16 },
  healthy: { status: 200, text: 'HEC is healthy', code: 17 },
} as const satisfies Readonly<Record<string, { status: number; text: string; code: number }>>;

type Said = keyof typeof said;

/** Responses for failures that Splunk has a code for; other failures use the API's shape. */
const ofKinds: Readonly<Partial<Record<FailureKind, Said>>> = {
  'not-found': 'noIndex',
  busy: 'busy',
  unavailable: 'busy',
  failed: 'failed',
  storage: 'failed',
};

/** Sends a response; `event` is the zero-based number of an invalid event. */
function answer(reply: FastifyReply, name: Said, event?: number): FastifyReply {
  const { status, text, code } = said[name];
  return reply.code(status).send({ text, code, ...present({ 'invalid-event-number': event }) });
}

/** Responds with a failure; returns undefined for one in the API's shape. */
function refuseAsCollector(reply: FastifyReply, error: AplKernelError): FastifyReply | undefined {
  if (error instanceof EnvelopeError) return answer(reply, error.fault, error.event);
  const kind = kindOf(error);
  const name = kind === 'unauthorized' ? faultOfToken(reply.request) : ofKinds[kind];
  return name && answer(reply, name);
}

function faultOfToken(request: FastifyRequest): Said {
  const { authorization = '' } = request.headers;
  if (authorization !== '') return tokenOf(authorization) === undefined ? 'unreadableToken' : 'wrongToken';
  return parametersOf(request).token === undefined ? 'noToken' : 'tokenInAddress';
}

const config = { raw: true, refuse: refuseAsCollector };

/** Maximum body size after decompression: clients send a few megabytes at a time. */
export const mostBytes = 16 * 2 ** 20;

/** Routes without a token, for load balancers. */
export const healthPaths: readonly string[] = [
  '/services/collector/health',
  '/services/collector/health/1.0',
];

/** Adds the routes of the HTTP Event Collector to a scope with streamed bodies; the index of an event is its dataset. */
export function addHecRoutes(scope: FastifyInstance, parts: EventParts): void {
  for (const url of healthPaths) scope.get(url, (_request, reply) => answer(reply, 'healthy'));
  const events = (text: string) => linesOfEnvelopes(text);
  const raw = (text: string, request: FastifyRequest): EnvelopeLines => {
    const { host, source, sourcetype } = parametersOf(request);
    return new Map([[undefined, linesOfRaw(text, present({ host, source, sourcetype }))]]);
  };
  const path = '/services/collector';
  for (const url of [path, `${path}/event`, `${path}/event/1.0`])
    scope.post(url, { config }, (request, reply) => take(request, reply, parts, events));
  for (const url of [`${path}/raw`, `${path}/raw/1.0`])
    scope.post(url, { config }, (request, reply) => take(request, reply, parts, raw));
  // A success response means that the events are on disk: there is nothing left to acknowledge.
  for (const url of [`${path}/ack`, `${path}/ack/1.0`])
    scope.post(url, { config }, (_request, reply) => answer(reply, 'noAcks'));
}

async function take(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: EventParts,
  read: (text: string, request: FastifyRequest) => EnvelopeLines,
): Promise<FastifyReply> {
  const text = await wholeText(request, parts);
  if (text.trim() === '') return answer(reply, 'noData');
  const byDataset = datasetsOf(read(text, request), parametersOf(request).index);
  if (byDataset === undefined) return answer(reply, 'noIndex', 0);
  for (const dataset of byDataset.keys()) parts.datasets.checkExists(dataset);
  for (const [dataset, events] of byDataset) {
    const body = Readable.from([Buffer.from(events.join('\n'))]);
    const order = { dataset, body, contentType: 'application/x-ndjson', contentEncoding: '' };
    const limits = { nowNs: parts.nowNs(), maxBytes: 2 * mostBytes };
    await ingest(parts.datasets, parts.engine, { ...order, ...limits }, departure(request));
  }
  return answer(reply, 'success');
}

/**
 * Groups events by dataset: the index of the request overrides all, otherwise that of each event, otherwise the first one found. Undefined
 * if there is none.
 */
function datasetsOf(
  lines: EnvelopeLines,
  index: string | undefined,
): ReadonlyMap<string, readonly string[]> | undefined {
  const [first] = [...lines.keys()].filter(name => name !== undefined);
  const found = new Map<string, string[]>();
  for (const [own, events] of lines) {
    const dataset = index || (own ?? first);
    if (dataset === undefined) return undefined;
    found.set(dataset, [...(found.get(dataset) ?? []), ...events]);
  }
  return found;
}

/** Returns the decompressed text of a streamed request body. Throws LocalError if it is too large. */
export async function wholeText({ raw, headers }: FastifyRequest, { engine }: EventParts): Promise<string> {
  const file = path.join(engine.workDir, crypto.randomUUID());
  const contentEncoding = headers['content-encoding'] ?? '';
  try {
    const { small } = await takeBody({ body: raw, contentEncoding, maxBytes: mostBytes }, file, undefined);
    return (small ?? (await readFile(file))).toString('utf8');
  } finally {
    await rm(file, { force: true });
  }
}
