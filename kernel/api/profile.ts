import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { AplKernelError } from '../errors.js';
import { textOf } from '../files.js';
import { systemRefusal } from '../machine.js';
import { present } from '../present.js';

/**
 * A bearer token that cannot be printed: its string, JSON and inspect forms are `***`; `reveal` is only for the request header. A
 * renewed token stays the same object.
 */
export class AccessToken {
  /** The token, followed by other secrets: its refresh token and earlier tokens. */
  #secrets: readonly string[];
  #version = 0;

  constructor(value: string, ...others: readonly string[]) {
    this.#secrets = [value, ...others];
  }

  reveal(): string {
    return this.#secrets[0] ?? '';
  }

  /** Number of times the token was replaced. */
  get version(): number {
    return this.#version;
  }

  /** Resolves once the token may be sent. */
  async ready(_signal: AbortSignal): Promise<void> {}

  /** Returns whether the token has changed since a version that the service rejected. */
  async changedSince(_version: number | undefined, _signal: AbortSignal): Promise<boolean> {
    return false;
  }

  /** Returns whether bytes or a text contain the token. */
  isIn(content: Uint8Array | string): boolean {
    const bytes = Buffer.from(content);
    return this.#secrets.some(secret => secret !== '' && bytes.includes(secret));
  }

  /** Replaces the token with `***` in a text, unless it is shorter than `least` characters. */
  removedFrom(text: string, least = 1): string {
    const long = this.#secrets.filter(({ length }) => length >= least);
    return long.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  }

  /** The end of the token, by which its owner recognizes it; undefined if the token is so short that this would reveal too much. */
  get ending(): string | undefined {
    const [value = ''] = this.#secrets;
    return value.length < 20 ? undefined : value.slice(-4);
  }

  /** `api` and `personal` by prefix; anything else is an access token. */
  get kind(): 'api' | 'personal' | 'access' | 'login' {
    const [value = ''] = this.#secrets;
    if (value.startsWith('xaat-')) return 'api';
    return value.startsWith('xapt-') ? 'personal' : 'access';
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }

  /** Replaces the token, adding further secrets. */
  replace(value: string, ...others: readonly string[]): void {
    this.#version += 1;
    this.#secrets = [...new Set([value, ...others, ...this.#secrets])].slice(0, MOST_SECRETS);
  }
}

/** Maximum secrets to remember: older ones are long out of use. */
const MOST_SECRETS = 8;

/** The address and credentials of one service. URLs have no trailing slash and no user name. */
export interface Endpoint {
  readonly profileName: string;
  readonly url: string;
  /** The host that runs queries, if other than `url`. */
  readonly edgeUrl?: string;
  readonly token?: AccessToken;
  readonly orgId?: string;
  readonly signIn?: SignInSettings;
  /** The query engine there, unless it is the Axiom API: the local service then translates for it. */
  readonly engine?: TrinoSettings;
}

/** Settings of a Trino cluster; the endpoint's token, if any, is the password. */
export interface TrinoSettings {
  readonly name: 'trino';
  readonly user: string;
  readonly usesPassword: boolean;
  readonly catalog: string;
  readonly schema: string;
  /** The timestamp column, in tables that have it. */
  readonly timeColumn?: string;
  /** Whether distinct counts and percentiles may be estimated. */
  readonly approximate: boolean;
}

/** Sign-in settings of a profile in `~/.axiom.toml`; missing ones are discovered from the service. */
export interface SignInSettings {
  readonly issuer?: string;
  readonly clientId?: string;
  readonly scope?: string;
}

/** Values of the AXIOM_* environment variables, read by the caller. */
export interface AxiomEnvironment {
  readonly deployment?: string;
  readonly url?: string;
  readonly token?: string;
  readonly orgId?: string;
  readonly edgeUrl?: string;
  readonly edgeRegion?: string;
}

/** A profile is misconfigured. */
export class ProfileError extends AplKernelError {
  constructor(message: string, hint: string, cause?: unknown) {
    super('profile', message, { hint, cause });
  }
}

/** A section of `~/.axiom.toml` that is invalid; the other profiles can be used. */
export interface RefusedProfile {
  readonly profileName: string;
  readonly refusal: AplKernelError;
}

/** The configuration of one name. */
export type Profile = Endpoint | RefusedProfile;

/** Returns the endpoint of a profile; throws the ProfileError of an invalid one. */
export function endpointOf(profile: Profile): Endpoint {
  if ('refusal' in profile) throw profile.refusal;
  return profile;
}

/** The profile name of the embedded service. */
export const localProfile = 'local';

/** Returns whether the local service responds, for itself or for a cluster. */
export function isOwnService({ profileName, engine }: Endpoint): boolean {
  return profileName === localProfile || engine !== undefined;
}

const hostedUrl = 'https://api.axiom.co';
const environmentProfile = 'environment';

/**
 * Returns the initial profile: AXIOM_DEPLOYMENT, else `local`. A file or a token on the machine alone does not send a notebook's
 * queries to Axiom.
 */
export function startProfile(environment: AxiomEnvironment): string {
  return environment.deployment || localProfile;
}

/** Returns the content of `~/.axiom.toml`; undefined if it is absent. Throws ProfileError if it cannot be read. */
export async function readProfileFile(homeDir: string): Promise<string | undefined> {
  return textOf(join(homeDir, '.axiom.toml')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    const { reason = '', hint = 'Check the permissions of the file.' } = systemRefusal(error) ?? {};
    throw new ProfileError(`~/.axiom.toml cannot be read${reason && `: ${reason}`}`, hint, error);
  });
}

/**
 * Returns the profiles in the content of `~/.axiom.toml` and in the environment, without `local`, which is always available; throws
 * ProfileError.
 */
export async function profilesOf(
  file: string | undefined,
  environment: AxiomEnvironment,
): Promise<readonly Profile[]> {
  return resolveProfiles(file === undefined ? {} : await parseToml(file), environment);
}

/** The deployments of the current `~/.axiom.toml`, by name; while the file is unchanged, they stay the same objects. */
export class ProfileFile {
  readonly #homeDir: string;
  #read: { readonly file: string | undefined; readonly profiles: readonly Profile[] } | undefined;

  constructor(homeDir: string) {
    this.#homeDir = homeDir;
  }

  /** Returns a deployment; throws ProfileError if it is missing or invalid. */
  async named(name: string): Promise<Endpoint> {
    const file = await readProfileFile(this.#homeDir);
    if (this.#read === undefined || this.#read.file !== file)
      this.#read = { file, profiles: await profilesOf(file, {}) };
    const found = this.#read.profiles.find(({ profileName }) => profileName === name);
    if (found !== undefined) return endpointOf(found);
    throw new ProfileError(`~/.axiom.toml has no deployment ${name}`, 'Run `%use` to list the profiles.');
  }
}

/**
 * Returns a warning if other users of the machine can read or change `~/.axiom.toml`; undefined if they cannot, if it is absent, or
 * on a system without such permissions.
 */
export async function profileFileWarning(homeDir: string): Promise<string | undefined> {
  const found = await stat(join(homeDir, '.axiom.toml')).catch(() => undefined);
  if (found === undefined || process.platform === 'win32' || (found.mode & 0o077) === 0) return undefined;
  return 'Other users of this machine can read the tokens in ~/.axiom.toml: `chmod 600 ~/.axiom.toml` prevents it.';
}

/** Returns the profiles, without `local`, of a parsed configuration file; the environment takes precedence. */
export function resolveProfiles(
  file: Readonly<Record<string, unknown>>,
  environment: AxiomEnvironment,
): readonly Profile[] {
  const configured = Object.entries(table(file.deployments)).map(([name, entry]) =>
    fileProfile(name, table(entry)),
  );
  const named = environment.deployment || text(file.active_deployment) || text(file.active_deployments);
  // The variables are Axiom's: they do not affect deployments of another kind.
  const base = configured.find(endpoint => endpoint.profileName === named && !('engine' in endpoint));
  const changed = environment.url || environment.token || environment.edgeUrl || environment.edgeRegion;
  const endpoint = changed ? environmentProfileOf(base, environment) : undefined;
  const others = configured.filter(each => each.profileName !== endpoint?.profileName);
  const endpoints = endpoint === undefined ? others : [endpoint, ...others];
  checkDeployment(endpoints, environment);
  return endpoints;
}

function checkDeployment(endpoints: readonly Profile[], { deployment }: AxiomEnvironment): void {
  const names = endpoints.map(endpoint => endpoint.profileName);
  if (!deployment || deployment === localProfile || names.includes(deployment)) return;
  throw new ProfileError(
    `AXIOM_DEPLOYMENT names ${deployment}, which ~/.axiom.toml does not have`,
    names.length === 0
      ? 'Add it to ~/.axiom.toml, or unset AXIOM_DEPLOYMENT.'
      : `Deployments: ${names.join(', ')}.`,
  );
}

async function parseToml(source: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import('smol-toml');
  try {
    return parse(source);
  } catch (error) {
    // The parser's own message quotes the line, which may contain a token.
    const line = (error as { line?: unknown }).line;
    const place = typeof line === 'number' ? ` at line ${line}` : '';
    throw new ProfileError(
      `~/.axiom.toml is not valid TOML${place}`,
      'Correct the file, then run the cell again.',
    );
  }
}

/** Errors in a section are reported when its profile is used. */
function fileProfile(name: string, entry: Readonly<Record<string, unknown>>): Profile {
  try {
    return fileEndpoint(name, entry);
  } catch (error) {
    if (error instanceof ProfileError) return { profileName: name, refusal: error };
    throw error;
  }
}

function environmentProfileOf(base: Profile | undefined, environment: AxiomEnvironment): Profile {
  return base !== undefined && 'refusal' in base ? base : environmentEndpoint(base, environment);
}

function fileEndpoint(name: string, entry: Readonly<Record<string, unknown>>): Endpoint {
  const place = `[deployments.${name}]`;
  if (entry.engine !== undefined) return engineEndpoint(name, entry, place);
  const token = headerValue(text(entry.token), `token of ${place}`);
  const orgId = headerValue(text(entry.org_id), `org_id of ${place}`);
  const edgeUrl = edgeAddress(text(entry.edge_url), text(entry.edge_region), place, place);
  return {
    profileName: name,
    url: address(text(entry.url) || hostedUrl, `url of ${place}`),
    ...present({
      edgeUrl,
      token: token === undefined ? undefined : new AccessToken(token),
      orgId,
      signIn: signInSettings(entry, place),
    }),
  };
}

/** Only the local service sends the secret to a cluster, and never unencrypted to another machine. */
function engineEndpoint(
  name: string,
  entry: Readonly<Record<string, unknown>>,
  place: string,
): Endpoint & { readonly engine: TrinoSettings } {
  const needed = (key: string): string => {
    const value = headerValue(text(entry[key]), `${key} of ${place}`);
    if (value !== undefined) return value;
    throw new ProfileError(`the ${place} has no ${key}`, `Add \`${key} = "…"\`.`);
  };
  if (entry.engine !== 'trino')
    throw new ProfileError(`the engine of ${place} is unknown`, 'Write `engine = "trino"`.');
  if (entry.approximate !== undefined && typeof entry.approximate !== 'boolean')
    throw new ProfileError(`approximate of ${place} must be true or false`, 'Write it without quotes.');
  const url = address(needed('url'), `url of ${place}`);
  const password = headerValue(text(entry.password), `password of ${place}`);
  const secret = password ?? headerValue(text(entry.token), `token of ${place}`);
  if (secret !== undefined && !url.startsWith('https:') && !isThisMachine(new URL(url)))
    throw new ProfileError(
      `the url of ${place} would send its secret unencrypted over the network`,
      'Write it as https://HOST.',
    );
  const user = needed('user');
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  return {
    profileName: name,
    url,
    ...present({
      token: secret === undefined ? undefined : new AccessToken(secret, ...(password ? [basic] : [])),
    }),
    engine: {
      name: 'trino',
      user,
      usesPassword: password !== undefined,
      catalog: needed('catalog'),
      schema: needed('schema'),
      approximate: entry.approximate === true,
      ...present({ timeColumn: text(entry.time_column) }),
    },
  };
}

function signInSettings(entry: Readonly<Record<string, unknown>>, place: string): SignInSettings | undefined {
  const issuer = text(entry.oauth_issuer);
  const settings: SignInSettings = present({
    issuer: issuer === undefined ? undefined : address(issuer, `oauth_issuer of ${place}`),
    clientId: text(entry.oauth_client_id),
    scope: text(entry.oauth_scope),
  });
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function environmentEndpoint(base: Endpoint | undefined, environment: AxiomEnvironment): Endpoint {
  const edgeUrl = edgeAddress(environment.edgeUrl, environment.edgeRegion, ...edgeVariables) ?? base?.edgeUrl;
  const typed = headerValue(text(environment.token), 'AXIOM_TOKEN');
  const token = typed === undefined ? base?.token : new AccessToken(typed);
  const orgId = headerValue(text(environment.orgId), 'AXIOM_ORG_ID') ?? base?.orgId;
  return {
    profileName: base?.profileName ?? environmentProfile,
    url: environment.url ? address(environment.url, 'AXIOM_URL') : (base?.url ?? hostedUrl),
    ...present({ edgeUrl, token, orgId, signIn: base?.signIn }),
  };
}

/** A header allows only visible ASCII. The value may be a secret and is not quoted. */
function headerValue(value: string | undefined, place: string): string | undefined {
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
  throw new ProfileError(
    `the ${place} contains characters that cannot be sent, such as a space, a line break or an accent`,
    'Copy the whole value again, and nothing else.',
  );
}

const edgeVariables = ['AXIOM_EDGE_URL', 'AXIOM_EDGE_REGION'] as const;

function edgeAddress(
  url: string | undefined,
  region: string | undefined,
  urlPlace: string,
  regionPlace: string,
): string | undefined {
  if (url) return address(url, `edge URL of ${urlPlace}`);
  // A region is a host name without a scheme, such as eu-central-1.aws.edge.axiom.co.
  return region ? address(`https://${region}`, `edge region of ${regionPlace}`) : undefined;
}

function address(value: string, place: string): string {
  const hint = 'Write it as https://HOST, such as https://api.axiom.co.';
  if (!/^https?:/i.test(value.trim()) || !URL.canParse(value.trim())) {
    throw new ProfileError(`the ${place} is not a web address`, hint);
  }
  const url = new URL(value.trim());
  if (url.username || url.password)
    throw new ProfileError(`the ${place} has a user name or password in it`, hint);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Returns whether an address is on this machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname);
}

function table(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
