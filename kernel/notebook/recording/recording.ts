import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { noticeHeader } from '../../api/api-notices.js';
import type { Asked, Reply, Via } from '../../api/client.js';
import { type Endpoint, localProfile } from '../../api/profile.js';
import type { DatasetInfo } from '../../api/wire.js';
import { QueryText } from '../../apl/syntax/parse.js';
import { tokenize } from '../../apl/syntax/tokens/lexer.js';
import { present } from '../../present.js';
import type { Notice } from '../../result/result.js';
import { formatBytes, withoutTokens } from '../../text.js';
import { datasetNames } from '../query/query-reading.js';
import { type AnswerStore, RecordingError } from './recording-store.js';

/**
 * `record` sends requests and stores their responses, `replay` only reads stored responses, `auto` reads stored responses and sends
 * the remaining requests.
 */
export type RecordingMode = 'record' | 'replay' | 'auto';

/** Lists the current state of local datasets. */
export type DatasetListing = (names: readonly string[]) => Promise<readonly DatasetInfo[]>;

/** Records the responses that the clients of a session receive, and replays them. */
export class Recording {
  readonly mode: RecordingMode;
  readonly store: AnswerStore;
  #notices: Notice[] = [];
  /** Number of requests so far that change something: after each, the same query may have a different result. */
  #changes = 0;
  #answered = false;

  constructor(mode: RecordingMode, store: AnswerStore) {
    this.mode = mode;
    this.store = store;
  }

  /** Returns the interceptor for a client of the endpoint. */
  via(endpoint: Endpoint, listing?: DatasetListing): Via {
    return async (asked, send) => {
      if (/^\/v1\/local\/(?:queries|results)\b/.test(asked.path)) return send();
      const key = keyOf(endpoint, asked, this.#changes);
      if (changes(asked)) this.#changes += 1;
      if (isQuery(asked)) this.#answered = true;
      if (this.mode === 'record') return this.#asked(key, endpoint, asked, send, listing);
      const kept = await this.store.read(key);
      if (kept === undefined && this.mode === 'replay') throw notRecorded(asked, this.store.directory);
      if (kept === undefined || (await this.#isOutdated(kept.version, asked, listing)))
        return this.#asked(key, endpoint, asked, send, listing);
      const { status, headers, body, elapsedMs } = kept;
      return { status, headers, body, recordedMs: elapsedMs };
    };
  }

  /**
   * Returns, once, the start of the recording that the last query was read from or stored in: the same when recording and in every
   * replay.
   */
  takeBegunAt(): bigint | undefined {
    const begunAt = this.#answered ? this.store.begunAt : undefined;
    this.#answered = false;
    return begunAt;
  }

  /** Returns and clears the notices for the next result. */
  takeNotices(): readonly Notice[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  async #isOutdated(
    version: string | undefined,
    asked: Asked,
    listing: DatasetListing | undefined,
  ): Promise<boolean> {
    if (this.mode !== 'auto' || version === undefined) return false;
    const current = await versionOf(asked, listing);
    return current !== undefined && current !== version;
  }

  async #asked(
    key: string,
    endpoint: Endpoint,
    asked: Asked,
    send: () => Promise<Reply>,
    listing: DatasetListing | undefined,
  ): Promise<Reply> {
    const version = await versionOf(asked, listing);
    const started = performance.now();
    const reply = await send();
    const elapsedMs = performance.now() - started;
    const { status, body } = reply;
    if (body === undefined || !isLasting(status)) return reply;
    const headers = recordedHeaders(reply);
    if (holdsToken(endpoint, body, headers))
      this.#say('The response was not recorded because it contains an access token.');
    else if (!(await this.store.write(key, { status, headers, elapsedMs, body, ...present({ version }) })))
      this.#say(
        `The response was not recorded: the recording would take more than ${formatBytes(this.store.maxBytes)}.`,
      );
    return { ...reply, headers, recordedMs: elapsedMs };
  }

  #say(text: string): void {
    this.#notices.push({ level: 'warn', text });
  }
}

/** Returns whether a retry would yield the same response: not if the service was busy or broken, or rejected the token. */
function isLasting(status: number): boolean {
  return status < 500 && ![401, 407, 408, 425, 429].includes(status);
}

/** Headers needed to parse a response; others may identify the user. */
const RECORDED_HEADERS = ['content-type', 'x-axiom-trace-id', noticeHeader];

function recordedHeaders({ headers }: Reply): Readonly<Record<string, string>> {
  return Object.fromEntries(
    RECORDED_HEADERS.flatMap(name => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

function holdsToken(
  { token }: Endpoint,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): boolean {
  const isOwn = token !== undefined && (token.isIn(body) || token.isIn(JSON.stringify(headers)));
  return isOwn || holdsAxiomToken(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}

/** Detects tokens, as a response may repeat one from a cell; decodes the body only if it contains the prefix of a token. */
function holdsAxiomToken(body: Buffer): boolean {
  if (!body.includes('xaat-') && !body.includes('xapt-')) return false;
  const text = body.toString('latin1');
  return withoutTokens(text) !== text;
}

/**
 * Returns a hash of everything that a response depends on: the address of the service without its token, and the request, with the
 * query stripped of comments and insignificant white space. Results that a query reads are included by the hashes of their rows, and
 * the state of the service by the number of requests that changed it.
 */
function keyOf(
  { profileName, url, edgeUrl, orgId, engine }: Endpoint,
  { method, path, parameters, json }: Asked,
  changesBefore: number,
): string {
  // The local service, which queries a cluster, has a different address each time.
  const cluster = engine && [profileName, engine.catalog, engine.schema];
  const hosted = cluster ?? [url, edgeUrl ?? null, orgId ?? null];
  const service = profileName === localProfile ? localProfile : hosted;
  const body = typeof json === 'object' ? bodyOf({ ...json }) : {};
  const request = sorted([service, changesBefore, method, path, parameters ?? {}, body]);
  return createHash('sha256').update(JSON.stringify(request)).digest('hex');
}

/** Returns whether a request changes the state of the service. */
function changes(asked: Asked): boolean {
  return asked.method !== 'GET' && !isQuery(asked);
}

function isQuery({ path }: Asked): boolean {
  return path.endsWith('/_apl');
}

/** Removes what is specific to one run: the directory of a file, the name of a lease, and who saved a query with which version. */
function bodyOf(json: Readonly<Record<string, unknown>>): unknown {
  const { apl, path, results, metadata: _, ...rest } = json;
  const { tables } = (results ?? {}) as { readonly tables?: unknown };
  return {
    ...rest,
    ...present({
      apl: typeof apl === 'string' ? wordsOf(apl) : undefined,
      path: typeof path === 'string' ? basename(path) : undefined,
      tables,
    }),
  };
}

function wordsOf(apl: string): readonly string[] {
  return tokenize(apl)
    .filter(({ kind }) => kind !== 'comment')
    .map(({ text }) => text);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]),
  );
}

/**
 * Returns a hash of the state of the datasets that a query reads; undefined for other requests, and if the service does not report
 * that state.
 */
async function versionOf({ json }: Asked, listing: DatasetListing | undefined): Promise<string | undefined> {
  const { apl } = (json ?? {}) as { readonly apl?: unknown };
  if (typeof apl !== 'string' || listing === undefined) return undefined;
  const named = [...new Set(datasetNames(new QueryText(apl)))].sort();
  try {
    const read = await listing(named);
    const facts = read.map(({ name, rows, firstTime, lastTime }) => [name, rows, firstTime, lastTime]);
    return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  } catch {
    // Without the service the state of the datasets is unknown.
    return undefined;
  }
}

function notRecorded({ action }: Asked, directory: string): RecordingError {
  return new RecordingError(
    'not-recorded',
    `could not ${action}: the recording ${directory} has no response for it`,
    {
      hint: 'The query, its parameters, its time range or the profile differ from the recording, or cells that change something, such as `%import`, ran in another order. `%cache auto` requests what is missing; `%cache record` records everything again.',
    },
  );
}
