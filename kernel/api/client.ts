import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Dispatcher } from 'undici';
import { largestAnswer, memoryAtMost } from '../machine.js';
import { present } from '../present.js';
import { isLate, underLimit } from '../signals.js';
import { abandon, checkJsonEnds, readBody, SHORT_BYTES } from './api-body.js';
import { InterruptedError, NotFoundError, TimeLimitError } from './api-errors.js';
import { decodeNotices, type Listed, noticeHeader } from './api-notices.js';
import type { ImportPreview } from './api-preview.js';
import {
  encodingError,
  headerText,
  hiddenError,
  identifier,
  refusalError,
  tooLargeError,
  unexpectedBody,
} from './failures/api-failure.js';
import { type Attempt, transportError } from './failures/transport.js';
import { dispatcherTo, unlessAborted } from './network/network-connection.js';
import { nearLimit } from './pacing/limits.js';
import { type Pause, withoutStaleConnection, withRetries } from './pacing/retry.js';
import { type Endpoint, isOwnService, isThisMachine, localProfile } from './profile.js';
import * as wire from './wire.js';

/** Response to a query, in its original bytes: JSON, or Arrow IPC from the local service. */
export interface RawResult {
  readonly body: Uint8Array;
  readonly traceId?: string;
  /** Milliseconds from sending the request to the last byte. */
  readonly elapsedMs: number;
  /** Whether the response comes from a recording: it must be displayed exactly as before. */
  readonly recorded?: true;
  /** A notice that the query limit is nearly reached. */
  readonly nearLimit?: string;
}

/** Filter of starred queries: the user's own if `who` is absent, else those of `team`, `all` or a user id. */
export interface StarredFilter {
  readonly who?: string;
  readonly dataset?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** Filter of annotations: of any of the datasets, overlapping a range with RFC 3339 times and an exclusive end. */
export interface AnnotationFilter {
  readonly datasets: readonly string[];
  readonly start: string;
  readonly end: string;
}

/** Client of the query API at one endpoint. Every method throws a subclass of ApiError, or InterruptedError if its signal is aborted. */
export interface Client {
  readonly endpoint: Endpoint;
  /** Runs a query; `id` identifies it in later requests to the local service. */
  query(
    request: wire.QueryRequest & wire.RequestOptions & wire.AnswerOptions,
    signal?: AbortSignal,
    id?: string,
  ): Promise<RawResult>;
  /** Returns the current wait before a retry; undefined if there is none. */
  pause(): Pause | undefined;
  /** Returns the progress of a query on the local service. */
  progress(id: string, signal?: AbortSignal): Promise<wire.QueryProgress>;
  listStarred(filter: StarredFilter, signal?: AbortSignal): Promise<Listed<wire.StarredQuery>>;
  getStarred(id: string, signal?: AbortSignal): Promise<wire.StarredQuery>;
  createStarred(query: wire.StarredQuery, signal?: AbortSignal): Promise<wire.StarredQuery>;
  putStarred(id: string, query: wire.StarredQuery, signal?: AbortSignal): Promise<wire.StarredQuery>;
  deleteStarred(id: string, signal?: AbortSignal): Promise<void>;
  /** Lists annotations, of all datasets if the filter names none. */
  listAnnotations(filter: AnnotationFilter, signal?: AbortSignal): Promise<Listed<wire.Annotation>>;
  createAnnotation(content: wire.AnnotationContent, signal?: AbortSignal): Promise<wire.Annotation>;
  putAnnotation(id: string, content: wire.AnnotationContent, signal?: AbortSignal): Promise<wire.Annotation>;
  deleteAnnotation(id: string, signal?: AbortSignal): Promise<void>;
  datasets(signal?: AbortSignal): Promise<Listed<wire.DatasetInfo>>;
  /** Returns the sizes of datasets, omitting missing ones. Local service only. */
  measuredDatasets(names: readonly string[], signal?: AbortSignal): Promise<readonly wire.DatasetInfo[]>;
  deleteDataset(name: string, signal?: AbortSignal): Promise<void>;
  fields(dataset: string, signal?: AbortSignal): Promise<Listed<wire.FieldMeta>>;
  currentUser(signal?: AbortSignal): Promise<wire.User>;
  /** Imports a file from this machine into a dataset; `id` is for {@link Client.progress}. Local service only. */
  importFile(request: wire.ImportRequest, signal?: AbortSignal, id?: string): Promise<wire.ImportReport>;
  /** Publishes a dataset of this machine to a bucket. Local service only. */
  publish(request: wire.PublishRequest, signal?: AbortSignal): Promise<wire.PublishReport>;
  /** Previews the import of a file. Local service only. */
  previewFile(request: wire.ImportRequest, signal?: AbortSignal): Promise<ImportPreview>;
  /** Opens a lease for results that the local service caches in memory for queries. Local service only, as the next two. */
  leaseResults(signal?: AbortSignal): Promise<ResultLease>;
  /** Sends a result; `arrow` is an Arrow IPC stream with field descriptions under the key `apl.fields`. */
  sendResult(lease: ResultLease, id: string, arrow: Uint8Array, signal?: AbortSignal): Promise<void>;
  dropResult(lease: ResultLease, id: string, signal?: AbortSignal): Promise<void>;
  /** Aborts pending requests and closes all connections. */
  close(): Promise<void>;
}

/** An open connection; when it ends, the local service drops what belongs to this kernel. */
export interface ResultLease {
  readonly name: string;
  /** Whether the connection has ended, and with it everything that the service cached for this kernel. */
  readonly ended: boolean;
}

export interface ClientOptions {
  /** Version of the kernel for the User-Agent header. */
  readonly version: string;
  /**
   * Timeout of one request, from its start to the last byte, in milliseconds (default: 120,000). It is passed on with queries of the
   * local service.
   */
  readonly timeLimitMs?: number;
  /** Approximate wait before the first retry, in milliseconds (default: 500). */
  readonly retryMs?: number;
  /** Responds to requests in place of the service, as a recording does (default: every request is sent). */
  readonly via?: Via;
}

/** The members of a request that its response depends on. */
export type Asked = Pick<Send, 'action' | 'method' | 'path' | 'parameters' | 'json'>;

/** A response as received, not yet parsed. */
export interface Reply {
  readonly status: number;
  /** Names are lowercase. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed; undefined if it exceeds the limit, empty if it was forwarded. */
  readonly body: Uint8Array | undefined;
  /** Whether the body was forwarded as it arrived. */
  readonly passedOn?: true;
  /** Time that the service took, in milliseconds, if recorded with the response. */
  readonly recordedMs?: number;
}

/** Responds to a request, by sending it or otherwise. */
export type Via = (asked: Asked, send: () => Promise<Reply>) => Promise<Reply>;

/** Returns a client that connects on first use, with one pool per address. */
export function createClient(endpoint: Endpoint, options: ClientOptions): Client {
  const transport = new Transport(endpoint, options);
  const call = <T>(read: (value: unknown) => T, send: Send, signal?: AbortSignal) =>
    transport.json(send, read, signal);
  const starred = '/v2/apl-starred-queries';
  const one = (id: string) => `${starred}/${encodeURIComponent(id)}`;
  const annotations = '/v2/annotations';
  const annotation = (id: string) => `${annotations}/${encodeURIComponent(id)}`;
  const dataset = (name: string) => `/v2/datasets/${encodeURIComponent(name)}`;
  const readSaved = (id: string) => (value: unknown) => ({ ...wire.readStarredQuery(value), id });
  return {
    endpoint,
    query: (request, signal, id) => transport.query(request, signal, id),
    pause: () => transport.pause,
    progress: (id, signal) =>
      call(wire.readProgress, get('ask about a query', `/v1/local/queries/${id}`), signal),
    listStarred: (filter, signal) =>
      transport.listed(get('list starred queries', starred, { ...filter }), wire.readStarredQueries, signal),
    getStarred: (id, signal) => call(readSaved(id), get(`read the starred query ${id}`, one(id)), signal),
    createStarred: (query, signal) =>
      call(
        wire.readStarredQuery,
        { safe: false, action: 'create a starred query', method: 'POST', path: starred, json: query },
        signal,
      ),
    putStarred: (id, query, signal) =>
      call(
        readSaved(id),
        { safe: false, action: `update the starred query ${id}`, method: 'PUT', path: one(id), json: query },
        signal,
      ),
    deleteStarred: (id, signal) =>
      transport.discard(
        { safe: false, action: `delete the starred query ${id}`, method: 'DELETE', path: one(id) },
        signal,
      ),
    listAnnotations: ({ datasets, start, end }, signal) => {
      const names = datasets.length === 0 ? undefined : datasets.join(',');
      const send = get('list annotations', annotations, { datasets: names, start, end });
      return transport.listed(send, wire.readAnnotations, signal);
    },
    createAnnotation: (json, signal) =>
      call(
        wire.readAnnotation,
        { safe: false, action: 'create an annotation', method: 'POST', path: annotations, json },
        signal,
      ),
    putAnnotation: (id, json, signal) =>
      call(
        wire.readAnnotation,
        { safe: false, action: `update the annotation ${id}`, method: 'PUT', path: annotation(id), json },
        signal,
      ),
    deleteAnnotation: (id, signal) =>
      transport.discard(
        { safe: false, action: `delete the annotation ${id}`, method: 'DELETE', path: annotation(id) },
        signal,
      ),
    datasets: signal => {
      const path = endpoint.profileName === localProfile ? measured : '/v2/datasets';
      return transport.listed(get('list datasets', path), wire.readDatasets, signal);
    },
    measuredDatasets: async (names, signal) => {
      const ask = (name: string) => {
        const send = get(`read the dataset ${name}`, `${measured}/${encodeURIComponent(name)}`);
        return call(value => [wire.readDataset(value)], send, signal).catch(noneWhenNotFound);
      };
      return (await Promise.all(names.map(ask))).flat();
    },
    deleteDataset: (name, signal) =>
      transport.discard(
        { safe: false, action: `delete the dataset ${name}`, method: 'DELETE', path: dataset(name) },
        signal,
      ),
    fields: (name, signal) =>
      transport.listed(get(`read the fields of ${name}`, `${dataset(name)}/fields`), wire.readFields, signal),
    currentUser: signal => call(wire.readUser, get('read the current user', '/v2/user'), signal),
    importFile: (request, signal, id) =>
      call(
        wire.readImportReport,
        {
          safe: false,
          action: 'import a file',
          method: 'POST',
          path: '/v1/local/import',
          json: request,
          unlimited: true,
          ...present({ id }),
        },
        signal,
      ),
    publish: (request, signal) =>
      call(
        wire.readPublishReport,
        {
          safe: false,
          action: 'publish a dataset',
          method: 'POST',
          path: '/v1/local/publish',
          json: request,
          unlimited: true,
        },
        signal,
      ),
    previewFile: (request, signal) =>
      call(
        wire.readImportPreview,
        {
          safe: true,
          action: 'preview a file',
          method: 'POST',
          path: '/v1/local/preview',
          json: request,
          unlimited: true,
        },
        signal,
      ),
    leaseResults: signal => transport.lease('/v1/local/results', signal),
    sendResult: (lease, id, arrow, signal) =>
      transport.discard(
        {
          safe: false,
          action: 'send a result',
          method: 'PUT',
          path: resultPath(lease, id),
          arrow,
          unlimited: true,
        },
        signal,
      ),
    dropResult: (lease, id, signal) =>
      transport.discard(
        { safe: false, action: 'drop a result', method: 'DELETE', path: resultPath(lease, id) },
        signal,
      ),
    close: () => transport.close(),
  };
}

/** The local service's route for datasets with their sizes. */
const measured = '/v1/local/datasets';

function noneWhenNotFound(error: unknown): [] {
  if (error instanceof NotFoundError) return [];
  throw error;
}

function resultPath({ name }: ResultLease, id: string): string {
  return `/v1/local/results/${encodeURIComponent(name)}/${encodeURIComponent(id)}`;
}

interface Send {
  /** Whether the request only reads, so that it is safe to send twice. */
  readonly safe: boolean;
  /** Completes "could not {action}". */
  readonly action: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: unknown;
  /** The body, if it has members beyond `json`, on which the response does not depend. */
  readonly body?: unknown;
  /** The body, if it is an Arrow IPC stream. */
  readonly arrow?: Uint8Array;
  /** Whether the request has no timeout: it does work on this machine that the user can interrupt. */
  readonly unlimited?: boolean;
  /** The address, if other than the endpoint's `url`. */
  readonly base?: string;
  /** Maximum size of the response (default: MAX_ANSWER_BYTES). */
  readonly maxBytes?: number;
  /** Identifies a query in later requests. */
  readonly id?: string;
  /** Accepted media types (default: JSON). */
  readonly accept?: string;
  /** Receives a long JSON body. */
  readonly receive?: wire.AnswerOptions['receive'];
}

type Answer = Omit<Reply, 'status' | 'body'> & { readonly body: Uint8Array };

const jsonType = 'application/json';

const defaultTimeLimitMs = 120_000;

const MiB = 1024 * 1024;

/** Maximum decompressed size of a response that is not a query result: a few bytes of gzip can expand to gigabytes. */
const MAX_ANSWER_BYTES = 64 * MiB;

/** Maximum decompressed size of an error response; nothing beyond it would be shown. */
const MAX_REFUSAL_BYTES = MiB;

/** Supported content encodings; `x-gzip` is an old name for gzip. */
const READ_ENCODINGS = ['', 'identity', 'gzip', 'x-gzip'];

function get(action: string, path: string, parameters: NonNullable<Send['parameters']> = {}): Send {
  return { safe: true, action, method: 'GET', path, parameters };
}

/** Sends the requests of one endpoint; owns its connections. */
class Transport {
  readonly #pools = new Map<string, Dispatcher>();
  readonly #endpoint: Endpoint;
  /** Identifies this kernel to the local service, which serves clients in turn. */
  readonly #name = randomUUID();
  readonly #userAgent: string;
  readonly #timeLimitMs: number;
  /** The timeout chosen by the user. */
  readonly #ownLimitMs: number | undefined;
  readonly #retryMs: number;
  readonly #via: Via | undefined;
  /** Recordings contain JSON, which anyone can read. */
  readonly #takesArrow: boolean;
  pause: Pause | undefined;

  constructor(endpoint: Endpoint, options: ClientOptions) {
    this.#endpoint = endpoint;
    this.#userAgent = `apl-kernel/${options.version}`;
    this.#timeLimitMs = options.timeLimitMs ?? defaultTimeLimitMs;
    this.#ownLimitMs = options.timeLimitMs;
    this.#retryMs = options.retryMs ?? 500;
    this.#via = options.via;
    this.#takesArrow = options.via === undefined && endpoint.profileName === localProfile;
  }

  async query(
    { nocache, asJson, receive, ...request }: wire.QueryRequest & wire.RequestOptions & wire.AnswerOptions,
    signal?: AbortSignal,
    id?: string,
  ): Promise<RawResult> {
    const { edgeUrl } = this.#endpoint;
    const send: Send = {
      safe: true,
      action: 'run a query',
      method: 'POST',
      path: edgeUrl === undefined ? '/v1/datasets/_apl' : '/v1/query/_apl',
      parameters: { format: 'tabular', ...present({ nocache: nocache && 'true' }) },
      json: request,
      ...this.#limited(request),
      maxBytes: largestAnswer(memoryAtMost()),
      accept: asJson || !this.#takesArrow ? jsonType : `${wire.arrowType}, ${jsonType}`,
      ...present({ base: edgeUrl, id, receive: this.#via === undefined ? receive : undefined }),
    };
    const started = performance.now();
    const { headers, body, recordedMs, passedOn } = await this.#send(send, signal);
    const elapsedMs = recordedMs ?? performance.now() - started;
    if (!passedOn) this.#checkAnswer(send, headers, body);
    const traceId = identifier(headerText(headers, 'x-axiom-trace-id'), this.#endpoint);
    const recorded = recordedMs === undefined ? undefined : (true as const);
    return { body, elapsedMs, ...present({ traceId, recorded, nearLimit: nearLimit(headers) }) };
  }

  /** Checks JSON only: the decoder detects a truncated Arrow stream. */
  #checkAnswer(send: Send, headers: Reply['headers'], body: Uint8Array): void {
    const attempt = this.#attempt(send);
    const isArrow = headerText(headers, 'content-type')?.startsWith(wire.arrowType);
    if (isArrow && send.accept !== jsonType) return;
    if (body.length <= SHORT_BYTES) {
      const hidden = hiddenError(attempt, headers, new TextDecoder().decode(body));
      if (hidden !== undefined) throw hidden;
    }
    checkJsonEnds(body, attempt);
  }

  async json<T>(send: Send, read: (value: unknown) => T, signal?: AbortSignal): Promise<T> {
    const { body } = await this.#send(send, signal);
    return this.#readJson(send, body, read);
  }

  /** Returns a listing with notices about what the service omits and what cannot be parsed. */
  async listed<T>(send: Send, read: (value: unknown) => Listed<T>, signal?: AbortSignal): Promise<Listed<T>> {
    const { headers, body } = await this.#send(send, signal);
    const { items, notices } = this.#readJson(send, body, read);
    return { items, notices: [...decodeNotices(headerText(headers, noticeHeader)), ...notices] };
  }

  async discard(send: Send, signal?: AbortSignal): Promise<void> {
    await this.#send(send, signal);
  }

  /** Opens a response that lasts until either side closes it; its first line names the lease. */
  async lease(path: string, signal?: AbortSignal): Promise<ResultLease> {
    const send = get('send results', path);
    try {
      const { body } = await this.#request(send, new URL(this.#endpoint.url), signal ?? null);
      const lease = { name: '', ended: false };
      body.once('close', () => {
        lease.ended = true;
      });
      body.on('error', () => undefined);
      const [first] = (await once(body, 'data', signal === undefined ? {} : { signal })) as [Uint8Array];
      return Object.assign(lease, { name: readLease(new TextDecoder().decode(first)) });
    } catch (error) {
      if (signal?.aborted) throw new InterruptedError(error);
      throw transportError(this.#attempt(send), error);
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(pool => pool.destroy()));
  }

  #readJson<T>(send: Send, body: Uint8Array, read: (value: unknown) => T): T {
    const text = new TextDecoder().decode(body);
    try {
      return read(JSON.parse(text));
    } catch (error) {
      throw hiddenError(this.#attempt(send), {}, text) ?? unexpectedBody(this.#attempt(send), text, error);
    }
  }

  async #send(send: Send, signal: AbortSignal | undefined): Promise<Answer> {
    if (signal?.aborted) throw new InterruptedError(signal.reason);
    let limited: AbortSignal | undefined;
    try {
      return await underLimit(signal, send.unlimited ? undefined : this.#timeLimitMs, within => {
        limited = within;
        return this.#exchange(send, within);
      });
    } catch (error) {
      if (signal?.aborted) throw new InterruptedError(error);
      if (isLate(limited)) throw this.#timeLimitError(send);
      throw transportError(this.#attempt(send), error);
    }
  }

  /** Passes a custom timeout on to the local service, the only one that supports it. */
  #limited(request: wire.QueryRequest): Pick<Send, 'body'> {
    const timeLimitMs = this.#ownLimitMs;
    if (timeLimitMs === undefined || !isOwnService(this.#endpoint)) return {};
    return { body: { ...request, queryOptions: { ...request.queryOptions, timeLimitMs } } };
  }

  async #exchange(send: Send, signal: AbortSignal): Promise<Answer> {
    const receive = () => this.#persist(send, signal);
    const { status, headers, body, ...rest } = await (this.#via?.(send, receive) ?? receive());
    if (!isAccepted(status))
      throw refusalError(this.#attempt(send), { status, headers, body: new TextDecoder().decode(body) });
    if (body === undefined) throw tooLargeError(this.#attempt(send), boundOf(send, status));
    return { headers, body, ...rest };
  }

  /**
   * Does not retry on our own service, which the kernel restarts if it has ended: waiting would only delay that. Only its
   * connections are reused.
   */
  #persist(send: Send, signal: AbortSignal): Promise<Reply> {
    const receive = () => this.#receiveSigned(send, signal);
    if (isOwnService(this.#endpoint)) return send.safe ? withoutStaleConnection(receive) : receive();
    const tell = (pause: Pause | undefined) => {
      this.pause = pause;
    };
    const endsAt = performance.now() + this.#timeLimitMs;
    return withRetries(receive, { safe: send.safe, firstMs: this.#retryMs, endsAt, signal, tell });
  }

  /** Sends with a token renewed before it expires, and once more if the service rejects it. */
  async #receiveSigned(send: Send, signal: AbortSignal): Promise<Reply> {
    const { token } = this.#endpoint;
    await token?.ready(signal);
    const sent = token?.version;
    const reply = await this.#receive(send, signal);
    if (reply.status !== 401 || !(await token?.changedSince(sent, signal))) return reply;
    return this.#receive(send, signal);
  }

  async #receive(send: Send, signal: AbortSignal): Promise<Reply> {
    const base = new URL(send.base ?? this.#endpoint.url);
    const response = await this.#request(send, base, signal);
    const { statusCode: status, headers } = response;
    const encoding = headerText(headers, 'content-encoding')?.trim().toLowerCase() ?? '';
    if (!READ_ENCODINGS.includes(encoding)) {
      abandon(response.body);
      throw encodingError(this.#attempt(send), encoding);
    }
    const rule = { attempt: this.#attempt(send), maxBytes: boundOf(send, status), cut: !isAccepted(status) };
    const body = await readBody(response, { ...rule, ...present({ receive: send.receive }) }, signal);
    return { status, headers, ...body };
  }

  async #request(send: Send, base: URL, signal: AbortSignal | null): Promise<Dispatcher.ResponseData> {
    const response = this.#pool(base).request({
      origin: base.origin,
      method: send.method,
      path: base.pathname.replace(/\/$/, '') + send.path,
      query: Object.fromEntries(
        Object.entries(send.parameters ?? {}).filter(([, value]) => value !== undefined),
      ),
      // Compression costs a second per 165 MB, and saves nothing on the same machine.
      headers: { ...this.#headers(send), 'accept-encoding': isThisMachine(base) ? 'identity' : 'gzip' },
      body: send.arrow ?? (send.json === undefined ? null : JSON.stringify(send.body ?? send.json)),
      signal,
      // A reused connection could deliver an unrequested response as that of the next request, so only our own service may reuse one.
      reset: !isOwnService(this.#endpoint),
    });
    return unlessAborted(signal, response);
  }

  #headers(send: Send): Record<string, string> {
    const { token, orgId } = this.#endpoint;
    return {
      accept: send.accept ?? jsonType,
      'user-agent': this.#userAgent,
      ...present({
        'content-type': contentType(send),
        authorization: token === undefined ? undefined : `Bearer ${token.reveal()}`,
        'x-apl-client': isOwnService(this.#endpoint) ? this.#name : undefined,
        'x-apl-query': send.id,
        'x-axiom-org-id': token?.kind === 'personal' ? orgId : undefined,
      }),
    };
  }

  #pool(base: URL): Dispatcher {
    const { origin } = base;
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const pool = dispatcherTo(base, { isNear: isOwnService(this.#endpoint) || isThisMachine(base) });
    this.#pools.set(origin, pool);
    return pool;
  }

  #attempt(send: Send): Attempt {
    return {
      endpoint: this.#endpoint,
      action: send.action,
      host: new URL(send.base ?? this.#endpoint.url).host,
    };
  }

  #timeLimitError(send: Send): TimeLimitError {
    const { host } = this.#attempt(send);
    return new TimeLimitError(
      `${host} did not finish within the time limit of ${this.#timeLimitMs / 1000} s`,
      {
        code: 'time-limit',
        hint: 'Narrow the time range (`%time last 15m`), filter earlier in the query, aggregate more coarsely, or allow more time (`%config timeout 600`).',
      },
    );
  }
}

function isAccepted(status: number): boolean {
  // Partial content is not a valid response: it was never requested.
  return status >= 200 && status < 300 && status !== 206;
}

/** Returns the maximum size of a response, in bytes. */
function boundOf({ maxBytes }: Send, status: number): number {
  return isAccepted(status) ? (maxBytes ?? MAX_ANSWER_BYTES) : MAX_REFUSAL_BYTES;
}

function contentType({ method, arrow }: Send): string | undefined {
  if (method === 'GET' || method === 'DELETE') return undefined;
  return arrow === undefined ? jsonType : wire.arrowType;
}

/** Parses the first line of the response to a lease request. */
function readLease(line: string): string {
  const { lease } = JSON.parse(line) as { readonly lease?: unknown };
  if (typeof lease !== 'string') throw new RangeError('the service returned no lease');
  return lease;
}
