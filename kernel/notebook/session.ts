import { closest } from 'fastest-levenshtein';
import type { Client, RawResult } from '../api/client.js';
import {
  ConnectionError,
  InterruptedError,
  TimeLimitError,
  TruncatedAnswerError,
  UnexpectedAnswerError,
} from '../api/errors.js';
import {
  AccessToken,
  type AxiomEnvironment,
  type Endpoint,
  endpointOf,
  loadProfiles,
  localProfile,
  type Profile,
  ProfileError,
  profileFileWarning,
  startProfile,
} from '../api/profile.js';
import type { QueryRequest } from '../api/wire.js';
import { present } from '../present.js';
import type { QueryResult } from '../result/result.js';
import { Parameters } from './parameters.js';
import { SchemaCache } from './schema-cache.js';
import { defaultRange, type TimeRange } from './time-range.js';

/** The embedded service as a session needs it: an address, started when nothing answers. */
export interface LocalServiceAccess {
  connect(
    signal?: AbortSignal,
    doubted?: boolean,
  ): Promise<{ readonly url: string; readonly token: string; readonly restarted: boolean }>;
  close(): void;
}

/** The dependencies of a session, which itself reads neither the environment nor the clock. */
export interface SessionOptions {
  /** Nanoseconds since 1970. */
  readonly now: () => bigint;
  readonly environment: AxiomEnvironment;
  readonly homeDir: string;
  /** Relative paths in magics start here. */
  readonly workDir: string;
  readonly version: string;
  readonly local: LocalServiceAccess;
  readonly log: (text: string) => void;
  /** Time limit of one request, in milliseconds; the client's own default when absent. */
  readonly timeLimitMs?: number;
}

/** The state of one kernel between cells: profile, time range, row limit, named results, schemas, the open client. */
export class Session {
  readonly options: SessionOptions;
  readonly results = new Map<string, QueryResult>();
  readonly schema: SchemaCache;
  readonly parameters = new Parameters();
  range: TimeRange = defaultRange;
  /** Sent as `defaultLimit`; absent: the service's own. */
  rowLimit: number | undefined;
  /** Rows of a result to write into the notebook; absent: as many of the first 100 as are small. */
  shownRows: number | undefined;
  #profiles: readonly Profile[] | undefined;
  #active: string;
  #introduced = false;
  #opened: { readonly key: unknown; readonly client: Promise<Client> } | undefined;
  #restarted = false;
  #warned = false;
  /** The last query on the local service ended in a way that leaves open whether it still answers: it is checked before the next. */
  #doubted = false;
  /** Tokens that the user typed, by profile; nothing writes them anywhere. */
  readonly #tokens = new Map<string, AccessToken>();

  constructor(options: SessionOptions) {
    this.options = options;
    this.#active = startProfile(options.environment);
    this.schema = new SchemaCache({
      datasets: async signal => (await this.client(signal)).datasets(signal),
      fields: async (dataset, signal) => (await this.client(signal)).fields(dataset, signal),
    });
  }

  /** Every name that `use` takes. */
  async profileNames(): Promise<readonly string[]> {
    const endpoints = await this.#loadProfiles();
    return [localProfile, ...endpoints.map(each => each.profileName).filter(name => name !== localProfile)];
  }

  get profileName(): string {
    return this.#active;
  }

  /** The configured endpoint of a profile; undefined for `local`, whose address is known when it runs. */
  async endpoint(name: string): Promise<Endpoint | undefined> {
    if (name === localProfile) return undefined;
    const endpoints = await this.#loadProfiles();
    const found = endpoints.find(each => each.profileName === name);
    if (found !== undefined) return endpointOf(found);
    const names = await this.profileNames();
    throw new ProfileError(
      `there is no profile ${name}`,
      `Did you mean \`${closest(name, names.slice())}\`? There are: ${names.join(', ')}. Profiles stand in ~/.axiom.toml as [deployments.NAME].`,
    );
  }

  /** As `endpoint`, with the file read again. */
  async readEndpoint(name: string): Promise<Endpoint | undefined> {
    this.#profiles = undefined;
    return this.endpoint(name);
  }

  /** Uses a token that the user typed instead of the configured one. */
  keepToken(profileName: string, token: AccessToken): void {
    this.#tokens.set(profileName, token);
  }

  /** Changes the profile; throws ProfileError when none has that name. The file is read again. */
  async use(name: string): Promise<void> {
    await this.readEndpoint(name);
    this.#active = name;
    this.#introduced = true;
    this.schema.clear();
    await this.#closeClient();
  }

  /** The warning about profiles that other users of the machine can read or change; returned once. */
  async takeProfileWarning(): Promise<string | undefined> {
    if (this.#warned) return undefined;
    const warning = await profileFileWarning(this.options.homeDir);
    this.#warned = warning !== undefined;
    return warning;
  }

  /** A client for the active profile; the local service is started when it does not run. */
  async client(signal?: AbortSignal): Promise<Client> {
    const name = this.profileName;
    if (name === localProfile) return this.#localClient(signal);
    const endpoint = (await this.endpoint(name)) as Endpoint;
    return this.#open(endpoint, endpoint);
  }

  /** Runs a query. Reading is safe to repeat: when the local service is gone, it is started and the query sent once more. */
  async query(request: QueryRequest, signal: AbortSignal): Promise<RawResult> {
    const client = await this.client(signal);
    try {
      return await client.query(request, signal);
    } catch (error) {
      if (client.endpoint.profileName !== localProfile) throw error;
      this.#doubted = raisesDoubt(error);
      if (!isLost(error)) throw error;
      const again = await this.#localClient(signal);
      if (!this.#restarted) throw error;
      return again.query(request, signal);
    }
  }

  /** True once after the local service had to be restarted. */
  takeRestart(): boolean {
    const restarted = this.#restarted;
    this.#restarted = false;
    return restarted;
  }

  /** Once, unless the user has changed the profile: where queries run, if they could run elsewhere too. */
  async takeIntroduction(): Promise<string | undefined> {
    if (this.#introduced) return undefined;
    this.#introduced = true;
    if (this.profileName !== localProfile)
      return `Queries run on the profile \`${this.profileName}\`, as AXIOM_DEPLOYMENT says; \`%use local\` changes to the service on this machine.`;
    try {
      const others = (await this.profileNames()).filter(name => name !== localProfile);
      if (others.length === 0) return undefined;
      return `Queries run on the service on this machine; \`%use NAME\` changes to another profile: ${others.join(', ')}.`;
    } catch (error) {
      if (!(error instanceof ProfileError)) throw error;
      return `Queries run on the service on this machine. There is no other profile: ${error.message}.`;
    }
  }

  async close(): Promise<void> {
    this.options.local.close();
    await this.#closeClient();
  }

  async #loadProfiles(): Promise<readonly Profile[]> {
    this.#profiles ??= this.#withTypedTokens(
      await loadProfiles(this.options.homeDir, this.options.environment),
    );
    return this.#profiles;
  }

  #withTypedTokens(profiles: readonly Profile[]): readonly Profile[] {
    return profiles.map(endpoint => {
      if ('refusal' in endpoint) return endpoint;
      const token = this.#tokens.get(endpoint.profileName) ?? endpoint.token;
      return token === undefined ? endpoint : { ...endpoint, token };
    });
  }

  async #localClient(signal: AbortSignal | undefined): Promise<Client> {
    const address = await this.options.local.connect(signal, this.#doubted);
    this.#doubted = false;
    if (address.restarted) this.#restarted = true;
    const endpoint = { profileName: localProfile, url: address.url, token: new AccessToken(address.token) };
    return this.#open(endpoint, `${address.url} ${address.token}`);
  }

  /** The previous client when the key is the same; concurrent calls share one. */
  #open(endpoint: Endpoint, key: unknown): Promise<Client> {
    const previous = this.#opened;
    if (previous !== undefined && previous.key === key) return previous.client;
    const { version, timeLimitMs } = this.options;
    const client = import('../api/client.js').then(({ createClient }) =>
      createClient(endpoint, { version, ...present({ timeLimitMs }) }),
    );
    this.#opened = { key, client };
    if (previous === undefined) return client;
    return previous.client.then(each => each.close()).then(() => client);
  }

  async #closeClient(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await (await opened?.client)?.close();
  }
}

/** The answer did not arrive, or came from another program. */
function isLost(error: unknown): boolean {
  const kinds = [ConnectionError, TruncatedAnswerError, UnexpectedAnswerError];
  return kinds.some(kind => error instanceof kind);
}

/** A query that was interrupted or timed out may mean that the service no longer answers. */
function raisesDoubt(error: unknown): boolean {
  return isLost(error) || error instanceof InterruptedError || error instanceof TimeLimitError;
}
