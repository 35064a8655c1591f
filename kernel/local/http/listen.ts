import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { largestAnswer, memoryAtMost } from '../../machine.js';
import type { Place } from '../data-layout.js';
import type { DirectoryAccess } from '../lease/access.js';
import { ownProcess } from '../lease/processes.js';
import { LocalError } from '../local-errors.js';
import {
  isAnnounced,
  proofOf,
  proofPath,
  type RuntimeFile,
  removeRuntimeFile,
  runtimeFilePath,
  serviceFormat,
} from '../shared.js';
import { unpackedBody } from '../store/append/unpack.js';
import { AnnotationStore } from '../store/documents/annotations.js';
import { StarredStore } from '../store/documents/starred-queries.js';
import { replaceFile } from '../store/store-files.js';
import { KeepAlive } from './alive.js';
import { limitHeaders } from './answers/answer-limits.js';
import { watchDepartures } from './departure.js';
import type { Engines } from './engines.js';
import { admitPage, guardAnswer, guardOrigin, guardToken, guardWriting } from './guard.js';
import type { Service, ServiceOptions } from './http-options.js';
import { QueriesUnderWay } from './http-progress.js';
import { parametersOf } from './http-requests.js';
import { refusalOf, refuse } from './refusal.js';
import { localUser } from './routes/account.js';
import { BodiesUnderWay } from './routes/bodies.js';
import { healthPaths } from './routes/hec.js';
import { addResultRoutes } from './routes/result-routes.js';
import { addRoutes } from './routes.js';

/** Location of a service's runtime file, and its access to the data directory. */
export interface ServicePlace extends Place {
  readonly access: DirectoryAccess;
}

/** Serves the query API with these engines, and cleans up when closed; the port is known when it returns. */
export async function listen(
  options: ServiceOptions,
  engines: Engines,
  place: ServicePlace,
): Promise<Service> {
  // Clients refuse tokens that do not look like an API token.
  const token = options.token ?? `xaat-${randomBytes(32).toString('base64url')}`;
  const app = fastify({
    bodyLimit: options.limits?.bodyBytes ?? 4 * 2 ** 20,
    forceCloseConnections: true,
    // A parameter or event key may have any name; bodies are read by their own properties only.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    // Dataset and field names occur in paths; they have their own limits.
    routerOptions: { maxParamLength: 4096 },
    rewriteUrl: ({ url = '/' }) => url.replace(formerPrefix, ''),
    schemaController: { compilersFactory: noSchemas },
  });
  const secret = randomBytes(32).toString('base64url');
  const bodies = new BodiesUnderWay();
  let announceClosed = () => {};
  const closed = new Promise<void>(resolve => {
    announceClosed = resolve;
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= shutDown({ app, bodies, engines, keepAlive, place }, secret).finally(announceClosed);
    return closing;
  };
  const end = (reason: string) => {
    options.log(`${reason}: closing`);
    close().catch(error => options.log(`closing failed: ${messageOf(error)}`));
  };
  const idle = () => end('the service is no longer in use');
  const keepAlive = new KeepAlive(options.limits?.idleMs ?? 30_000, options.managed ? idle : () => {});
  watchDepartures(app);
  addHooks(app, options, token, bodies);
  addBodies(app);
  app.addHook('onRequest', async request => {
    if (request.routeOptions.url === proofPath) return;
    place.access.check();
    guardWriting(request, options.dataDir, place, end);
  });
  app.addHook('onSend', async (request, reply) => {
    // Confirms no write, and completes no read, if another service may know better.
    if (reply.statusCode < 400) guardAnswer(request, place.access);
  });
  addProof(app, secret);
  addAlive(app, keepAlive, options.managed === true);
  addRoutes(app, { ...routeParts(options, engines), bodies });
  addResultRoutes(app, engines.results, options.limits?.resultBytes ?? 2 ** 31);
  const url = await app.listen({ host: '127.0.0.1', port: options.port });
  // For example, a connection that cannot be accepted: there is no other listener from now on.
  app.server.on('error', error => options.log(`the server failed: ${messageOf(error)}`));
  try {
    await writeRuntimeFile(place, options.version, { url, token, secret });
  } catch (error) {
    await app.close();
    throw error;
  }
  place.access.open(url, () => isAnnounced(place.directory, secret), end);
  return { url, token, closed, close };
}

/** Prefix that early clients put before every API path. */
const formerPrefix = /^\/api(?=\/v[12]\/)/;

/** Default time limit of a query, in milliseconds, the same as a kernel's wait for a response. */
const usualQueryMs = 120_000;

/** No route has a schema. With the default, the framework would load its schema compilers, half of its code, at every start. */
const noSchemas = {
  buildValidator: withoutSchema,
  buildSerializer: withoutSchema,
};

function withoutSchema(): never {
  throw new RangeError('no route has a schema');
}

/** Maximum rows of an external engine that one part of a query continues with here. */
const mostFarRows = 1_000_000;

function routeParts(
  options: ServiceOptions,
  { compile, engine, datasets, buckets, readersFor, results, tables, clusters }: Engines,
) {
  const now = options.now ?? Date.now;
  return {
    engine,
    readersFor,
    results,
    clusters,
    tables,
    farRows: options.limits?.farRows ?? mostFarRows,
    dataDir: options.dataDir,
    datasets,
    buckets,
    annotations: new AnnotationStore(options.dataDir),
    starred: new StarredStore(options.dataDir, localUser.id),
    compile: options.compile ?? compile,
    nowNs: () => BigInt(Math.floor(now())) * 1_000_000n,
    ingestBytes: options.limits?.ingestBytes ?? 2 ** 30,
    queryMs: options.limits?.queryMs ?? usualQueryMs,
    answerBytes: options.limits?.answerBytes ?? largestAnswer(memoryAtMost()),
    queries: new QueriesUnderWay(),
  };
}

const withoutToken: ReadonlySet<string> = new Set([proofPath, ...healthPaths]);

function addHooks(
  app: FastifyInstance,
  options: ServiceOptions,
  token: string,
  bodies: BodiesUnderWay,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-axiom-trace-id', randomBytes(16).toString('hex')).headers(limitHeaders(Date.now()));
    const { origins = [] } = options;
    guardOrigin(request.headers, request.socket.localPort ?? 0, origins);
    if (admitPage(request, reply, origins)) return reply.code(204).send();
    if (!withoutToken.has(request.routeOptions.url ?? '')) guardToken(request.headers, token);
  });
  app.setNotFoundHandler((request, reply) => {
    const place = `${request.method} ${request.url.split('?')[0]}`;
    const error = new LocalError('not-found', 'not-found', `The service has no ${place}.`);
    return refuse(reply, refusalOf(error, 0));
  });
  app.setErrorHandler((thrown: FastifyError, request, reply) => {
    const error = bodies.reported(thrown);
    const refusal = refusalOf(error, app.initialConfig.bodyLimit ?? 0);
    if (refusal.status >= 500) options.log(`${request.method} ${request.url}: ${inspect(error)}`);
    return refuse(reply, refusal);
  });
}

/** Accepts compressed bodies, and empty ones with a content type, which many clients send with DELETE. */
function addBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    if (request.routeOptions.config.raw === true) return payload;
    return unpackedBody(payload, request.headers['content-encoding'] ?? '');
  });
  const parse = app.getDefaultJsonParser('ignore', 'ignore');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parse(request, String(body), done);
  });
}

/** Adds the route that a client with the secret from the runtime file calls before it sends the token. */
function addProof(app: FastifyInstance, secret: string): void {
  app.get(proofPath, request => {
    const nonce = parametersOf(request).nonce ?? '';
    if (!/^[0-9a-f]{64}$/.test(nonce))
      throw new LocalError('invalid', 'invalid-request', '`nonce` should be 32 bytes in hexadecimal.');
    return proofOf(secret, nonce, request.socket.localPort ?? 0);
  });
}

function addAlive(app: FastifyInstance, keepAlive: KeepAlive, managed: boolean): void {
  app.get('/v1/alive', (_request, reply) => {
    const traceId = String(reply.getHeader('x-axiom-trace-id'));
    reply.hijack();
    keepAlive.hold(reply.raw, { 'x-axiom-trace-id': traceId });
  });
  // Only a managed service ends when unused, after sending this response.
  app.delete('/v1/alive', (_request, reply) => reply.code(managed && keepAlive.leave() ? 204 : 409).send());
}

interface Parts {
  readonly app: FastifyInstance;
  readonly bodies: BodiesUnderWay;
  readonly engines: Engines;
  readonly keepAlive: KeepAlive;
  readonly place: ServicePlace;
}

async function shutDown({ app, bodies, engines, keepAlive, place }: Parts, secret: string): Promise<void> {
  place.access.closing();
  try {
    keepAlive.stop();
    await removeRuntimeFile(place.directory, secret);
    await bodies.end();
    await engines.close();
    await app.close();
  } finally {
    place.access.release();
  }
}

async function writeRuntimeFile(
  { directory }: Place,
  version: string,
  known: Pick<RuntimeFile, 'url' | 'token' | 'secret'>,
): Promise<void> {
  const content: RuntimeFile = { ...known, ...(await ownProcess()), version, format: serviceFormat };
  const file = runtimeFilePath(directory);
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
