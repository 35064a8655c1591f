import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { present } from '../../../present.js';
import { LocalError } from '../../errors.js';
import { takeBody } from '../../store/append/body.js';
import { type EnvelopeLines, linesOfEnvelopes, linesOfRaw } from '../../store/append/envelopes.js';
import { ingest } from '../../store/ingest.js';
import { departure } from '../departure.js';
import { parametersOf } from '../requests.js';
import type { EventParts } from './otlp.js';

/** What the HTTP Event Collector answers; clients know its numbers. */
const said = {
  success: { text: 'Success', code: 0 },
  noData: { text: 'No data', code: 5 },
  badFormat: { text: 'Invalid data format', code: 6 },
  noIndex: { text: 'Incorrect index', code: 7 },
  healthy: { text: 'HEC is healthy', code: 17 },
} as const;

/** The largest body, unpacked: clients send some megabytes at a time. */
export const mostBytes = 16 * 2 ** 20;

/** Routes that need no token, as load balancers ask them. */
export const healthPaths: readonly string[] = [
  '/services/collector/health',
  '/services/collector/health/1.0',
];

/** Adds the routes of the HTTP Event Collector to a scope in which bodies are streams; the index of an event is its dataset. */
export function addHecRoutes(scope: FastifyInstance, parts: EventParts): void {
  for (const url of healthPaths) scope.get(url, () => said.healthy);
  const events = (text: string) => linesOfEnvelopes(text);
  for (const url of ['/services/collector', '/services/collector/event', '/services/collector/event/1.0'])
    scope.post(url, { config: { raw: true } }, (request, reply) => take(request, reply, parts, events));
  const raw = (text: string, request: FastifyRequest): EnvelopeLines => {
    const { host, source, sourcetype } = parametersOf(request);
    return new Map([[undefined, linesOfRaw(text, present({ host, source, sourcetype }))]]);
  };
  for (const url of ['/services/collector/raw', '/services/collector/raw/1.0'])
    scope.post(url, { config: { raw: true } }, (request, reply) => take(request, reply, parts, raw));
}

async function take(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: EventParts,
  read: (text: string, request: FastifyRequest) => EnvelopeLines,
): Promise<FastifyReply> {
  const text = await wholeText(request, parts);
  if (text.trim() === '') return reply.code(400).send(said.noData);
  let lines: EnvelopeLines;
  try {
    lines = read(text, request);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    return reply.code(400).send({ ...said.badFormat, text: `${said.badFormat.text}: ${error.message}` });
  }
  const byDataset = datasetsOf(lines, parametersOf(request).index);
  if (byDataset === undefined) return reply.code(400).send(said.noIndex);
  for (const dataset of byDataset.keys()) parts.datasets.checkExists(dataset);
  for (const [dataset, events] of byDataset) {
    const body = Readable.from([Buffer.from(events.join('\n'))]);
    const order = { dataset, body, contentType: 'application/x-ndjson', contentEncoding: '' };
    const limits = { nowNs: parts.nowNs(), maxBytes: 2 * mostBytes };
    await ingest(parts.datasets, parts.engine, { ...order, ...limits }, departure(request));
  }
  return reply.send(said.success);
}

/** The index of the request counts for all events, else that of each, else that of the first; undefined if there is none. */
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

/** Returns the body of a request whose body is a stream, unpacked; throws LocalError if it is larger than it may be. */
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
