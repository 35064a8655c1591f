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

/** The answer to a query, as the bytes that came: JSON, or Arrow IPC from the service of this machine. */
export interface RawResult {
  readonly body: Uint8Array;
  readonly traceId?: string;
  /** Milliseconds from sending the request to the last byte. */
  readonly elapsedMs: number;
  /** The answer is that of a recording: reading it again must give the same in all that is shown. */
  readonly recorded?: true;
  /** What to say of the query limit when little of it is left. */
  readonly nearLimit?: string;
}

/** Which starred queries to list: one's own when `who` is absent, else those of `team`, `all` or a user id. */
export interface StarredFilter {
  readonly who?: string;
  readonly dataset?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** Which annotations to list: those of any of the datasets that touch the range, whose times are RFC 3339 and whose end is exclusive. */
export interface AnnotationFilter {
  readonly datasets: readonly string[];
  readonly start: string;
  readonly end: string;
}

/** The query API of one endpoint. Every method throws a subclass of ApiError, InterruptedError when its signal is aborted. */
export interface Client {
  readonly endpoint: Endpoint;
  /** Runs a query; the local service answers questions about it under `id`. */
  query(
    request: wire.QueryRequest & wire.RequestOptions & wire.AnswerOptions,
    signal?: AbortSignal,
    id?: string,
  ): Promise<RawResult>;
  /** The wait under way before a request is sent again; undefined when there is none. */
  pause(): Pause | undefined;
  /** How far a query of the local service has come. */
  progress(id: string, signal?: AbortSignal): Promise<wire.QueryProgress>;
  listStarred(filter: StarredFilter, signal?: AbortSignal): Promise<Listed<wire.StarredQuery>>;
  getStarred(id: string, signal?: AbortSignal): Promise<wire.StarredQuery>;
  createStarred(query: wire.StarredQuery, signal?: AbortSignal): Promise<wire.StarredQuery>;
  putStarred(id: string, query: wire.StarredQuery, signal?: AbortSignal): Promise<wire.StarredQuery>;
  deleteStarred(id: string, signal?: AbortSignal): Promise<void>;
  /** Annotations of all datasets when the filter names none. */
  listAnnotations(filter: AnnotationFilter, signal?: AbortSignal): Promise<Listed<wire.Annotation>>;
  createAnnotation(content: wire.AnnotationContent, signal?: AbortSignal): Promise<wire.Annotation>;
  putAnnotation(id: string, content: wire.AnnotationContent, signal?: AbortSignal): Promise<wire.Annotation>;
  deleteAnnotation(id: string, signal?: AbortSignal): Promise<void>;
  datasets(signal?: AbortSignal): Promise<Listed<wire.DatasetInfo>>;
  /** Only the local service knows how much datasets hold; those that do not exist are left out. */
  measuredDatasets(names: readonly string[], signal?: AbortSignal): Promise<readonly wire.DatasetInfo[]>;
  deleteDataset(name: string, signal?: AbortSignal): Promise<void>;
  fields(dataset: string, signal?: AbortSignal): Promise<Listed<wire.FieldMeta>>;
  currentUser(signal?: AbortSignal): Promise<wire.User>;
  /** Reads a file of this machine into a dataset, which only the local service does; `id` is for {@link Client.progress}. */
  importFile(request: wire.ImportRequest, signal?: AbortSignal, id?: string): Promise<wire.ImportReport>;
  /** Has the local service write a dataset of this machine to a bucket. */
  publish(request: wire.PublishRequest, signal?: AbortSignal): Promise<wire.PublishReport>;
  /** Has the local service say how it would import a file. */
  previewFile(request: wire.ImportRequest, signal?: AbortSignal): Promise<ImportPreview>;
  /** Only the local service has these three: it holds results of the kernel in memory, for queries to read. */
  leaseResults(signal?: AbortSignal): Promise<ResultLease>;
  /** `arrow` is an Arrow IPC stream that describes its fields under the key `apl.fields`. */
  sendResult(lease: ResultLease, id: string, arrow: Uint8Array, signal?: AbortSignal): Promise<void>;
  dropResult(lease: ResultLease, id: string, signal?: AbortSignal): Promise<void>;
  /** Aborts the requests under way and closes every connection. */
  close(): Promise<void>;
}

/** An open connection; the local service holds what belongs to this kernel until the connection ends. */
export interface ResultLease {
  readonly name: string;
  /** True once the connection has ended: the service no longer holds anything of this kernel. */
  readonly ended: boolean;
}

export interface ClientOptions {
  /** Names the kernel in the User-Agent header. */
  readonly version: string;
  /**
   * Time limit of one request, from its start to the last byte, in milliseconds (default: 120,000). A query of the local service
   * is told of it.
   */
  readonly timeLimitMs?: number;
  /** About how long to wait before a failed request is sent again, in milliseconds (default: 500). */
  readonly retryMs?: number;
  /** Answers requests in place of the service, as a recording does (default: every request is sent). */
  readonly via?: Via;
}

/** The parts of a request that its answer depends on. */
export type Asked = Pick<Send, 'action' | 'method' | 'path' | 'parameters' | 'json'>;

/** An answer as it arrived, not yet interpreted. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Unpacked; undefined when it is too large to be read, empty when it was passed on. */
  readonly body: Uint8Array | undefined;
  /** The body was passed on as it arrived. */
  readonly passedOn?: true;
  /** How long the service took, in milliseconds, where that is kept with the answer. */
  readonly recordedMs?: number;
}

/** Answers a request, by sending it or in another way. */
export type Via = (asked: Asked, send: () => Promise<Reply>) => Promise<Reply>;

/** Returns a client that opens connections on first use, one pool for each address. */
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

/** The local service's route for datasets with how much they hold. */
const measured = '/v1/local/datasets';

function noneWhenNotFound(error: unknown): [] {
  if (error instanceof NotFoundError) return [];
  throw error;
}

function resultPath({ name }: ResultLease, id: string): string {
  return `/v1/local/results/${encodeURIComponent(name)}/${encodeURIComponent(id)}`;
}

interface Send {
  /** True when it only reads, so that sending it twice does no harm. */
  readonly safe: boolean;
  /** Reads as in "could not {action}". */
  readonly action: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: unknown;
  /** The body, when it has more than `json`: what its answer does not depend on. */
  readonly body?: unknown;
  /** The body, where it is an Arrow IPC stream. */
  readonly arrow?: Uint8Array;
  /** True for work on this machine that has no time limit; the user can interrupt it. */
  readonly unlimited?: boolean;
  /** The address, when it is not the endpoint's `url`. */
  readonly base?: string;
  /** The largest answer that is read (default: MAX_ANSWER_BYTES). */
  readonly maxBytes?: number;
  /** The name of a query, for questions about it. */
  readonly id?: string;
  /** The media types that are read (default: JSON). */
  readonly accept?: string;
  /** Takes a long JSON body. */
  readonly receive?: wire.AnswerOptions['receive'];
}

type Answer = Omit<Reply, 'status' | 'body'> & { readonly body: Uint8Array };

const jsonType = 'application/json';

const defaultTimeLimitMs = 120_000;

const MiB = 1024 * 1024;

/** Bound on an answer that is not a query's, unpacked: a few bytes of gzip may stand for gigabytes. */
const MAX_ANSWER_BYTES = 64 * MiB;

/** Bound on a refusal, unpacked; nothing of a longer one would be shown. */
const MAX_REFUSAL_BYTES = MiB;

/** Encodings of bodies that are read; `x-gzip` is the old name of one. */
const READ_ENCODINGS = ['', 'identity', 'gzip', 'x-gzip'];

function get(action: string, path: string, parameters: NonNullable<Send['parameters']> = {}): Send {
  return { safe: true, action, method: 'GET', path, parameters };
}

/** Sends requests of one endpoint; owns its connections. */
class Transport {
  readonly #pools = new Map<string, Dispatcher>();
  readonly #endpoint: Endpoint;
  /** Identifies this kernel to the local service, whose clients take turns. */
  readonly #name = randomUUID();
  readonly #userAgent: string;
  readonly #timeLimitMs: number;
  /** Chosen by the user. */
  readonly #ownLimitMs: number | undefined;
  readonly #retryMs: number;
  readonly #via: Via | undefined;
  /** Recordings hold JSON, which anyone can read. */
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

  /** Of an Arrow stream the decoder finds whether it is whole. */
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

  /** A list, what the service says that it leaves out, and what cannot be read. */
  async listed<T>(send: Send, read: (value: unknown) => Listed<T>, signal?: AbortSignal): Promise<Listed<T>> {
    const { headers, body } = await this.#send(send, signal);
    const { items, notices } = this.#readJson(send, body, read);
    return { items, notices: [...decodeNotices(headerText(headers, noticeHeader)), ...notices] };
  }

  async discard(send: Send, signal?: AbortSignal): Promise<void> {
    await this.#send(send, signal);
  }

  /** Opens an answer that stays open until either side closes it; its first line names the lease. */
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

  /** The local service takes a time limit beyond its own; no other one knows of it. */
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

  /** The kernel starts our own service again if it has ended; waiting for it would only delay that. It alone reuses connections. */
  #persist(send: Send, signal: AbortSignal): Promise<Reply> {
    const receive = () => this.#receiveSigned(send, signal);
    if (isOwnService(this.#endpoint)) return send.safe ? withoutStaleConnection(receive) : receive();
    const tell = (pause: Pause | undefined) => {
      this.pause = pause;
    };
    const endsAt = performance.now() + this.#timeLimitMs;
    return withRetries(receive, { safe: send.safe, firstMs: this.#retryMs, endsAt, signal, tell });
  }

  /** With a token that is renewed before its time is over, and once more if the service refused it. */
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
      // Compressing for this machine costs a second per 165 MB, and saves nothing.
      headers: { ...this.#headers(send), 'accept-encoding': isThisMachine(base) ? 'identity' : 'gzip' },
      body: send.arrow ?? (send.json === undefined ? null : JSON.stringify(send.body ?? send.json)),
      signal,
      // A connection that is used again could deliver an unrequested answer as that of the next request, so only our own service
      // may reuse one.
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
  // A part of an answer is not one: nobody asked for it.
  return status >= 200 && status < 300 && status !== 206;
}

/** The largest answer that is read, in bytes. */
function boundOf({ maxBytes }: Send, status: number): number {
  return isAccepted(status) ? (maxBytes ?? MAX_ANSWER_BYTES) : MAX_REFUSAL_BYTES;
}

function contentType({ method, arrow }: Send): string | undefined {
  if (method === 'GET' || method === 'DELETE') return undefined;
  return arrow === undefined ? jsonType : wire.arrowType;
}

/** The first line of the answer to a request for a lease. */
function readLease(line: string): string {
  const { lease } = JSON.parse(line) as { readonly lease?: unknown };
  if (typeof lease !== 'string') throw new RangeError('the service returned no lease');
  return lease;
}
