import { randomUUID } from 'node:crypto';
import {
  ApiError,
  ConnectionError,
  InterruptedError,
  TimeLimitError,
  TruncatedAnswerError,
  UnexpectedAnswerError,
} from '../api/api-errors.js';
import type { Client, RawResult } from '../api/client.js';
import { withoutSecrets } from '../api/failures/api-failure.js';
import type { Logins } from '../api/login/logins.js';
import type { Pause } from '../api/pacing/retry.js';
import {
  AccessToken,
  type AxiomEnvironment,
  type Endpoint,
  endpointOf,
  localProfile,
  type Profile,
  ProfileError,
  profileFileWarning,
  profilesOf,
  readProfileFile,
  startProfile,
} from '../api/profile.js';
import type {
  AnswerOptions,
  DatasetInfo,
  QueryProgress,
  QueryRequest,
  RequestOptions,
  WantedResults,
} from '../api/wire.js';
import { nearest } from '../apl/syntax/nearest.js';
import { AplKernelError } from '../errors.js';
import type { CellIo } from '../jupyter/message.js';
import { memoryAtMost } from '../machine.js';
import { present } from '../present.js';
import type { Notice } from '../result/result.js';
import { AnnotationReader } from './annotations/annotation-reader.js';
import { Consents } from './magics/effects/consent.js';
import type { ImportLog } from './magics/effects/effect-imports.js';
import type { AskedEffect } from './magics/effects/effects.js';
import { Parameters } from './notebook-parameters.js';
import type { QueryLog } from './query/query-log.js';
import type { DatasetListing, Recording } from './recording/recording.js';
import { type CachedResult, lastName, ResultCache } from './results/result-cache.js';
import { type ReadResult, type ReadTables, SentResults } from './results/sent.js';
import { SchemaCache } from './schema-cache.js';
import { defaultRange, type TimeRange } from './time-range.js';

/** Access to the local service, which is started if nothing responds at its address. */
export interface LocalServiceAccess {
  connect(
    signal?: AbortSignal,
    doubted?: boolean,
  ): Promise<{ readonly url: string; readonly token: string; readonly restarted: boolean }>;
  /** Returns what `connect` is waiting for: a sentence without a period. */
  waiting?(): string | undefined;
  close(): void;
}

/** The dependencies of a session, which itself reads neither the environment nor the clock. */
export interface SessionOptions {
  /** Nanoseconds since 1970. */
  readonly now: () => bigint;
  readonly environment: AxiomEnvironment;
  readonly homeDir: string;
  /** Base directory of relative paths in magics. */
  readonly workDir: string;
  readonly version: string;
  readonly local: LocalServiceAccess;
  /** Sign-ins to profiles, shared by all kernels. */
  readonly logins: Logins;
  readonly log: (text: string) => void;
  /** Timeout of one request, in milliseconds (default: the client's). */
  readonly timeLimitMs?: number;
  /** Approximate wait before a failed request is retried, in milliseconds (default: the client's). */
  readonly retryMs?: number;
  /** Memory budget of cached results, in bytes, unless `%results --budget` sets it (default: a quarter of the machine's memory). */
  readonly resultBytes?: number;
  /** Returns the width of the terminal of a front end that also prompts there; undefined if there is none. */
  readonly consoleWidth?: () => number | undefined;
  /** The front end cannot render Vega, so that charts are SVG only (default: false). */
  readonly svgOnly?: boolean;
  /** Log of queries (default: none). */
  readonly queryLog?: QueryLog;
  /** Log of the files that datasets were imported from (default: none). */
  readonly importLog?: ImportLog;
  /** Directory of runtime files of kernels to which agents may add cells (default: agents may not). */
  readonly agentsDir?: string;
  /** How long an agent waits for its cell, and the timeout of the cell, in milliseconds (default: 25,000 and 30,000). */
  readonly agentMs?: { readonly wait: number; readonly run: number };
  /** The effects that the user allowed before the session began. */
  readonly allowed?: readonly AskedEffect[];
}

/** Returns the width of the terminal on which a user reads a cell's output; undefined if there is none, or nobody is watching. */
export function consoleWidthFor(
  { consoleWidth }: Pick<SessionOptions, 'consoleWidth'>,
  { allowStdin }: Pick<CellIo, 'allowStdin'>,
): number | undefined {
  return allowStdin ? consoleWidth?.() : undefined;
}

/** The state of one kernel between cells: profile, time range, row limit, named results, schemas, the open client. */
export class Session {
  readonly options: SessionOptions;
  readonly results: ResultCache;
  readonly schema: SchemaCache;
  readonly annotations: AnnotationReader;
  readonly parameters = new Parameters();
  readonly consents: Consents;
  range: TimeRange = defaultRange;
  /** Sent as `defaultLimit`; undefined for the service's default. */
  rowLimit: number | undefined;
  /** Options sent with each query. */
  request: RequestOptions = {};
  /** Timeout of one request, in milliseconds; undefined for the client's default. */
  timeLimitMs: number | undefined;
  /** Rows of a result that are stored in the notebook; undefined for all of up to 100, else 30, as far as they are small. */
  shownRows: number | undefined;
  /** False if outputs must not contain values of the data. */
  retains = true;
  /** False if charts should have no annotations. */
  annotates = true;
  /** Number of starred queries that this session has written or deleted. */
  starsVersion = 0;
  /** The last error of a cell, for `%bugreport`. */
  lastFailure: { readonly code: string; readonly message: string } | undefined;
  #recording: Recording | undefined;
  /** The profiles as last read from the files. */
  #profiles:
    | { readonly file: string | undefined; readonly logins: string; readonly all: readonly Profile[] }
    | undefined;
  #active: string;
  /** The profile of the running cell, if it has its own. */
  #ofCell: string | undefined;
  #introduced = false;
  /** The open client of the local service, and the active profile's if that is another. */
  readonly #opened: Partial<Record<Place, Opened>> = {};
  readonly #sent = new SentResults();
  #restarted = false;
  /** Ids of the queries running on the local service. */
  readonly #underWay = new Set<string>();
  #warned = false;
  /** Whether the last query left it uncertain that the local service still responds, to be checked before the next one. */
  #doubted = false;
  /** Tokens that the user typed, by profile; they are never written to disk. */
  readonly #tokens = new Map<string, AccessToken>();

  constructor(options: SessionOptions) {
    this.options = options;
    this.consents = new Consents(options.allowed);
    this.timeLimitMs = options.timeLimitMs;
    this.#active = startProfile(options.environment);
    this.results = new ResultCache(options.resultBytes ?? Math.floor(memoryAtMost() / 4), id =>
      this.#sent.drop(id),
    );
    this.annotations = new AnnotationReader(this);
    this.schema = new SchemaCache({
      datasets: async signal => (await this.client(signal)).datasets(signal),
      fields: async (dataset, signal) => (await this.client(signal)).fields(dataset, signal),
    });
  }

  /** Returns the sizes of the datasets with these names, which only the local service reports; omits others. */
  async measuredDatasets(names: Iterable<string>, signal: AbortSignal): Promise<readonly DatasetInfo[]> {
    if (this.profileName !== localProfile) return [];
    return (await this.client(signal)).measuredDatasets([...new Set(names)], signal);
  }

  /** Returns the base of relative times in nanoseconds since 1970: the current time, or the start of the recording in use. */
  now(): bigint {
    return this.#recording?.store.begunAt ?? this.options.now();
  }

  get recording(): Recording | undefined {
    return this.#recording;
  }

  /** Whether no request reaches a service, so that nothing there can change. */
  get replays(): boolean {
    return this.#recording?.mode === 'replay';
  }

  /** Records responses, or replays a recording; with undefined, every request is sent and nothing is recorded. */
  async record(recording: Recording | undefined): Promise<void> {
    this.#recording = recording;
    this.schema.clear();
    await Promise.all([this.#closeClient('local'), this.#closeClient('hosted')]);
  }

  /** Returns and clears the recording's notices for the next result. */
  takeRecordingNotices(): readonly Notice[] {
    return this.#recording?.takeNotices() ?? [];
  }

  /** Returns, once, the start of the recording that the last query was read from; undefined if none is in use. */
  takeReplayed(): bigint | undefined {
    return this.#recording?.takeBegunAt();
  }

  log(text: string): void {
    this.options.log(text);
  }

  /** Returns all names that `use` accepts, from the current file. */
  async profileNames(): Promise<readonly string[]> {
    const endpoints = await this.#readProfiles();
    return [localProfile, ...endpoints.map(each => each.profileName).filter(name => name !== localProfile)];
  }

  /** The profile that the user chose before the session began. */
  get startedOn(): string {
    return startProfile(this.options.environment);
  }

  /** The profile that queries run on: the cell's, else the session's. */
  get profileName(): string {
    return this.#ofCell ?? this.#active;
  }

  /** Returns the configured endpoint of a profile; undefined for `local`, whose address is known only once it runs. */
  async endpoint(name: string): Promise<Endpoint | undefined> {
    if (name === localProfile) return undefined;
    const endpoints = await this.#loadProfiles();
    const found = endpoints.find(each => each.profileName === name);
    if (found !== undefined) return endpointOf(found);
    const names = await this.profileNames();
    const near = nearest(name, names);
    throw new ProfileError(
      `there is no profile ${name}`,
      `${near === undefined ? '' : `Did you mean \`${near}\`? `}Profiles: ${names.join(', ')}. They are defined in ~/.axiom.toml as [deployments.NAME].`,
    );
  }

  /** Like `endpoint`, from the current file. */
  async readEndpoint(name: string): Promise<Endpoint | undefined> {
    await this.#readProfiles();
    return this.endpoint(name);
  }

  /** Uses a token typed by the user instead of the configured one. */
  keepToken(profileName: string, token: AccessToken): void {
    this.#tokens.set(profileName, token);
    this.#profiles = undefined;
  }

  /** Uses a profile's current sign-in, if any, instead of a token typed by the user. */
  changeLogin(profileName: string): void {
    this.#tokens.delete(profileName);
    this.#profiles = undefined;
    this.schema.clear();
  }

  /** Changes the profile, rereading the file; throws ProfileError if there is none of that name. */
  async use(name: string): Promise<void> {
    await this.readEndpoint(name);
    this.#active = name;
    await this.#changeTo(name);
  }

  /** Changes the profile until the end of the cell; throws ProfileError if there is none of that name. */
  async useForCell(name: string): Promise<void> {
    await this.readEndpoint(name);
    await this.#changeTo(name);
  }

  /** Returns to the profile of the session. */
  async endCell(): Promise<void> {
    if (this.#ofCell !== undefined) await this.#changeTo(this.#active);
  }

  async #changeTo(name: string): Promise<void> {
    this.#ofCell = name === this.#active ? undefined : name;
    this.#introduced = true;
    this.schema.clear();
    this.annotations.forget();
    await this.#closeClient('hosted');
  }

  /** Returns a cell's source without the profiles' tokens and anything that looks like a token. */
  async withoutSecrets(text: string): Promise<string> {
    const profiles = await this.#loadProfiles().catch(() => []);
    return withoutSecrets(
      text,
      profiles.flatMap(each => ('refusal' in each ? [] : [each])),
    );
  }

  /** Returns, once, the warning about profiles that other users of the machine can read or change. */
  async takeProfileWarning(): Promise<string | undefined> {
    if (this.#warned) return undefined;
    const warning = await profileFileWarning(this.options.homeDir);
    this.#warned = warning !== undefined;
    return warning;
  }

  /** Returns a client for the active profile; starts the local service if necessary. */
  async client(signal?: AbortSignal): Promise<Client> {
    const name = this.profileName;
    if (name === localProfile) return this.#localClient(signal);
    const endpoint = (await this.endpoint(name)) as Endpoint;
    return endpoint.engine === undefined
      ? this.#open('hosted', endpoint, endpoint)
      : this.#clusterClient(endpoint, signal);
  }

  /**
   * Runs a query, on the local service if it reads only results; a cluster reads results besides its tables. Reading is safe to
   * repeat: if the local service is gone, it is restarted, and the query is sent once more with the results that were lost.
   */
  async query(
    request: QueryRequest & RequestOptions & AnswerOptions,
    signal: AbortSignal,
    { results, areAlone }: ReadTables = noTables,
    id: string = randomUUID(),
  ): Promise<RawResult> {
    if (this.profileName !== localProfile && !areAlone) {
      const client = await this.client(signal);
      if (client.endpoint.engine === undefined) return client.query(request, signal);
      return this.#queryCluster(client, { request, results, id, place: 'local' }, signal);
    }
    return this.#queryLocal({ request, results, id, place: 'local' }, signal);
  }

  /** Runs a query over cached results only, which is never recorded: it depends on nothing else. */
  async queryCached(
    request: QueryRequest,
    signal: AbortSignal,
    results: ReadonlyMap<string, ReadResult>,
  ): Promise<RawResult> {
    return this.#queryLocal({ request, results, id: randomUUID(), place: 'unrecorded' }, signal);
  }

  /** Sends a result to the local service before a query reads it. */
  async sendCached(cached: CachedResult): Promise<void> {
    const { signal } = new AbortController();
    const client = await this.#localClient(signal, 'unrecorded');
    await this.#sent.send(client, new Map([[lastName, { cached }]]), signal);
  }

  async #queryLocal(asked: LocalQuery, signal: AbortSignal): Promise<RawResult> {
    const client = await this.#localClient(signal, asked.place);
    try {
      return await this.#queryOn(client, asked, signal);
    } catch (error) {
      this.#doubted = raisesDoubt(error);
      if (isForgotten(error)) {
        this.#sent.forget();
        return await this.#queryOn(client, asked, signal);
      }
      if (!isLost(error)) throw error;
      const again = await this.#localClient(signal, asked.place);
      if (again === client) throw error;
      return this.#queryOn(again, asked, signal);
    }
  }

  /** Returns the current state of a local dataset, whatever the profile and the recording in use; undefined if there is none. */
  async localDataset(name: string, signal: AbortSignal): Promise<DatasetInfo | undefined> {
    const client = await this.#localClient(signal, 'unrecorded');
    const [found] = await client.measuredDatasets([name], signal);
    return found;
  }

  /** Returns the progress of the query with this id, or what it waits for; undefined if the service does not report it. */
  async progress(id: string, signal: AbortSignal): Promise<QueryProgress | Pause | undefined> {
    const reason = this.options.local.waiting?.();
    if (reason !== undefined) return { state: 'held up', reason };
    if (!this.#underWay.has(id)) return (await this.#opened.hosted?.client)?.pause();
    return (await this.#localClient(signal, 'unrecorded')).progress(id, signal);
  }

  async #queryOn(
    client: Client,
    { request, results, id, place }: LocalQuery,
    signal: AbortSignal,
  ): Promise<RawResult> {
    if (place === 'local' && this.replays)
      return client.query({ ...request, ...present({ results: namesOf(results) }) }, signal);
    // A query on a cluster reads results from the local service's own routes.
    const holder = client.endpoint.engine === undefined ? client : await this.#localClient(signal, place);
    const sent = results.size === 0 ? undefined : await this.#sent.send(holder, results, signal);
    this.#underWay.add(id);
    try {
      return await client.query({ ...request, ...present({ results: sent }) }, signal, id);
    } finally {
      this.#underWay.delete(id);
    }
  }

  /** Returns true once after each restart of the local service. */
  takeRestart(): boolean {
    const restarted = this.#restarted;
    this.#restarted = false;
    return restarted;
  }

  /** Returns, once and only before the user changes the profile, where queries run, if they could run elsewhere too. */
  async takeIntroduction(): Promise<string | undefined> {
    if (this.#introduced) return undefined;
    this.#introduced = true;
    if (this.profileName !== localProfile)
      return `Queries run on the profile \`${this.profileName}\`, set by AXIOM_DEPLOYMENT; \`%use local\` switches to the local service.`;
    try {
      const others = (await this.profileNames()).filter(name => name !== localProfile);
      if (others.length === 0) return undefined;
      return `Queries run on the local service; \`%use NAME\` switches to another profile: ${others.join(', ')}.`;
    } catch (error) {
      if (!(error instanceof ProfileError)) throw error;
      return `Queries run on the local service. No other profile can be used: ${error.message}.`;
    }
  }

  async close(): Promise<void> {
    this.options.local.close();
    await Promise.all(PLACES.map(place => this.#closeClient(place)));
  }

  async #loadProfiles(): Promise<readonly Profile[]> {
    return this.#profiles?.all ?? this.#readProfiles();
  }

  /** Profiles of unchanged files stay the same objects, by which a client recognizes that it is still current. */
  async #readProfiles(): Promise<readonly Profile[]> {
    const { homeDir, environment, logins } = this.options;
    const [file, version] = await Promise.all([readProfileFile(homeDir), logins.version()]);
    if (this.#profiles === undefined || this.#profiles.file !== file || this.#profiles.logins !== version) {
      const configured = await profilesOf(file, environment);
      const all = await Promise.all(configured.map(each => this.#withOwnToken(each)));
      this.#profiles = { file, logins: version, all };
    }
    return this.#profiles.all;
  }

  /** Replaces the configured token with one typed by the user, or of a sign-in. */
  async #withOwnToken(profile: Profile): Promise<Profile> {
    if ('refusal' in profile) return profile;
    try {
      const own = this.#tokens.get(profile.profileName) ?? (await this.options.logins.tokenFor(profile));
      const token = own ?? profile.token;
      return token === undefined ? profile : { ...profile, token };
    } catch (refusal) {
      if (!(refusal instanceof AplKernelError)) throw refusal;
      return { profileName: profile.profileName, refusal };
    }
  }

  async #localClient(signal: AbortSignal | undefined, place: Place = 'local'): Promise<Client> {
    // A replay needs no service.
    if (place === 'local' && this.replays)
      return this.#open(place, { profileName: localProfile, url: 'http://127.0.0.1' }, this.#recording);
    const address = await this.options.local.connect(signal, this.#doubted);
    this.#doubted = false;
    if (address.restarted) this.#restarted = true;
    const endpoint = { profileName: localProfile, url: address.url, token: new AccessToken(address.token) };
    return this.#open(place, endpoint, `${address.url} ${address.token}`);
  }

  /** Returns a client of the local service, which queries the cluster and reads the deployment's secrets itself. */
  async #clusterClient(configured: Endpoint, signal: AbortSignal | undefined): Promise<Client> {
    const { profileName, engine } = configured;
    if (this.replays) return this.#open('hosted', configured, configured);
    const { url, token, restarted } = await this.options.local.connect(signal, this.#doubted);
    this.#doubted = false;
    if (restarted) this.#restarted = true;
    const path = `/v1/deployments/${encodeURIComponent(profileName)}`;
    const endpoint = {
      profileName,
      url: `${url}${path}`,
      token: new AccessToken(token),
      ...present({ engine }),
    };
    return this.#open('hosted', endpoint, `${profileName} ${url} ${token}`);
  }

  async #queryCluster(client: Client, asked: LocalQuery, signal: AbortSignal): Promise<RawResult> {
    try {
      return await this.#queryOn(client, asked, signal);
    } catch (error) {
      this.#doubted = raisesDoubt(error);
      if (!isForgotten(error)) throw error;
      this.#sent.forget();
      return this.#queryOn(client, asked, signal);
    }
  }

  /** Returns the previous client if the key is the same; concurrent calls share one. */
  #open(place: Place, endpoint: Endpoint, key: unknown): Promise<Client> {
    const previous = this.#opened[place];
    const { timeLimitMs } = this;
    if (previous !== undefined && previous.key === key && previous.timeLimitMs === timeLimitMs)
      return previous.client;
    const { version, retryMs } = this.options;
    const via =
      place === 'unrecorded' ? undefined : this.#recording?.via(endpoint, this.#listingOf(endpoint));
    const client = import('../api/client.js').then(({ createClient }) =>
      createClient(endpoint, { version, ...present({ timeLimitMs, retryMs, via }) }),
    );
    this.#opened[place] = { key, timeLimitMs, client };
    if (previous === undefined) return client;
    return previous.client.then(each => each.close()).then(() => client);
  }

  #listingOf({ profileName }: Endpoint): DatasetListing | undefined {
    if (profileName !== localProfile) return undefined;
    return async names => (await this.#localClient(undefined, 'unrecorded')).measuredDatasets(names);
  }

  async #closeClient(place: Place): Promise<void> {
    const opened = this.#opened[place];
    delete this.#opened[place];
    await (await opened?.client)?.close();
  }
}

/** The clients of a session: for the local service, for the active profile if that is another, and for requests that are never recorded. */
type Place = (typeof PLACES)[number];
const PLACES = ['local', 'hosted', 'unrecorded'] as const;

/** A query on the local service. */
interface LocalQuery {
  readonly request: QueryRequest & AnswerOptions;
  readonly results: ReadonlyMap<string, ReadResult>;
  readonly id: string;
  readonly place: 'local' | 'unrecorded';
}

/** Returns results as a request names them if no service has them. */
function namesOf(results: ReadonlyMap<string, ReadResult>): WantedResults | undefined {
  if (results.size === 0) return undefined;
  const tables = Object.fromEntries([...results].map(([name, { cached }]) => [name, { id: cached.id }]));
  return { lease: '', tables };
}

interface Opened {
  readonly key: unknown;
  readonly timeLimitMs: number | undefined;
  readonly client: Promise<Client>;
}

const noTables: ReadTables = { results: new Map(), areAlone: false };

/** Returns whether the local service no longer has a result. */
function isForgotten(error: unknown): boolean {
  return error instanceof ApiError && error.status === 410;
}

/** Returns whether the response did not arrive, came from another program, or from a service that may be shutting down. */
function isLost(error: unknown): boolean {
  const kinds = [ConnectionError, TruncatedAnswerError, UnexpectedAnswerError];
  return kinds.some(kind => error instanceof kind) || (error instanceof ApiError && error.status === 503);
}

/** Returns whether the service may no longer respond: the query was interrupted, timed out or lost. */
function raisesDoubt(error: unknown): boolean {
  return isLost(error) || error instanceof InterruptedError || error instanceof TimeLimitError;
}
