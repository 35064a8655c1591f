import { present } from '../../present.js';
import { plural } from '../../text.js';
import { InterruptedError } from '../api-errors.js';
import { AccessToken, type Endpoint } from '../profile.js';
import { LoginError, type LoginTimeout } from './error.js';
import { type Login, LoginStore } from './login-store.js';
import { type Loopback, openLoopback } from './loopback.js';
import { type Authorization, authorize, type Granted, renew, revoke } from './provider.js';

export interface LoginsOptions {
  /** File of sign-ins. */
  readonly file: string;
  /** Timeout of a sign-in, in milliseconds (default: five minutes). */
  readonly waitMs?: number;
  /** Timeout of a response from the authorization server, in milliseconds (default: half a minute). */
  readonly answerMs?: number;
  /** Current time in milliseconds since 1970 (default: the machine's clock). */
  readonly now?: () => number;
  /** Opens a page in the local user's browser (default: does nothing). */
  readonly openPage?: (page: URL) => void;
}

/** A sign-in in progress. */
export interface PendingLogin {
  readonly page: URL;
  /** Waits for the browser to come back; resolves once the token is stored. */
  browser(signal: AbortSignal): Promise<void>;
  /** Accepts the address that the browser was redirected to; resolves once the token is stored. */
  pasted(address: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Result of a sign-out. */
export type Logout = 'revoked' | 'no revocation' | LoginError;

/** Signs in to profiles with OAuth 2.0 and PKCE; stores, renews and revokes the tokens. */
export class Logins {
  readonly #store: LoginStore;
  readonly #options: LoginsOptions;
  readonly #clock: Clock;

  constructor(options: LoginsOptions) {
    this.#options = options;
    this.#store = new LoginStore(options.file);
    this.#clock = { now: options.now ?? Date.now, answerMs: options.answerMs ?? USUAL_ANSWER_MS };
  }

  get file(): string {
    return this.#store.file;
  }

  /**
   * Returns a value that changes with each sign-in, renewal and sign-out of any kernel. An unreadable file only blocks what needs a
   * sign-in.
   */
  version(): Promise<string> {
    return this.#store.text().catch(String);
  }

  /** Returns the token of a profile's sign-in, which renews itself; undefined if there is none. */
  async tokenFor(endpoint: Endpoint): Promise<AccessToken | undefined> {
    const login = await this.#store.find(endpoint);
    return login === undefined ? undefined : new LoginToken(endpoint, login, this.#store, this.#clock);
  }

  /** Starts a sign-in; throws LoginError if the service has none. */
  async begin(endpoint: Endpoint, signal: AbortSignal): Promise<PendingLogin> {
    const loopback = await openLoopback();
    try {
      const { answerMs } = this.#clock;
      const authorization = await authorize(endpoint, loopback.redirectUri, { signal, answerMs });
      const finish = async (parameters: URLSearchParams, ended: AbortSignal) => {
        const { server, clientId } = authorization;
        const granted = await authorization.exchange(parameters, { signal: ended, answerMs });
        await this.#keep(endpoint, { server, clientId }, granted, ended);
      };
      const waitMs = this.#options.waitMs ?? USUAL_WAIT_MS;
      return {
        page: authorization.page,
        browser: ended => {
          const waiting = waitForBrowser(loopback, authorization, { endpoint, waitMs, finish }, ended);
          this.#options.openPage?.(authorization.page);
          return waiting;
        },
        pasted: async (address, ended) => finish(parametersIn(address, authorization), ended),
        close: () => loopback.close(),
      };
    } catch (error) {
      loopback.close();
      throw error;
    }
  }

  /** Deletes and revokes the sign-in of a profile; returns undefined if there is none. */
  async end(endpoint: Endpoint, signal: AbortSignal): Promise<Logout | undefined> {
    let ended: Login | undefined;
    await this.#store.change(
      endpoint,
      async login => {
        ended = login;
        return undefined;
      },
      signal,
    );
    return ended === undefined
      ? undefined
      : revoked(endpoint, ended, { signal, answerMs: this.#clock.answerMs });
  }

  async #keep(
    { profileName, url, edgeUrl }: Endpoint,
    by: Pick<Login, 'server' | 'clientId'>,
    granted: Granted,
    signal: AbortSignal,
  ): Promise<void> {
    const login: Login = {
      profile: profileName,
      url,
      ...present({ edgeUrl }),
      ...by,
      ...storedLogin(granted, this.#clock.now()),
    };
    await this.#store.change({ profileName, url, ...present({ edgeUrl }) }, async () => login, signal);
  }
}

interface Clock {
  readonly now: () => number;
  readonly answerMs: number;
}

const USUAL_WAIT_MS = 5 * 60_000;
const USUAL_ANSWER_MS = 30_000;

/** How long before it expires a token is renewed, in milliseconds. */
const EARLY_MS = 60_000;

/** The token of a sign-in. */
class LoginToken extends AccessToken {
  readonly #endpoint: Endpoint;
  readonly #store: LoginStore;
  readonly #clock: Clock;
  #login: Login;
  #renewing: Promise<void> | undefined;

  constructor(endpoint: Endpoint, login: Login, store: LoginStore, clock: Clock) {
    super(login.accessToken, login.refreshToken ?? '');
    this.#endpoint = endpoint;
    this.#login = login;
    this.#store = store;
    this.#clock = clock;
  }

  override get kind() {
    return 'login' as const;
  }

  override async ready(signal: AbortSignal): Promise<void> {
    const left = this.#left();
    if (left >= EARLY_MS) return;
    try {
      await this.#renewed(signal);
    } catch (error) {
      // The service may be available although the authorization server is not.
      if (left <= 0 || signal.aborted) throw error;
    }
  }

  override async changedSince(version: number | undefined, signal: AbortSignal): Promise<boolean> {
    if (this.version !== version) return true;
    if (this.#login.refreshToken === undefined) return false;
    await this.#renewed(signal);
    return true;
  }

  /** Returns the milliseconds until the token expires. */
  #left(): number {
    return (this.#login.expiresAt ?? Number.POSITIVE_INFINITY) - this.#clock.now();
  }

  /** Concurrent requests share one renewal; each can be interrupted separately. */
  async #renewed(signal: AbortSignal): Promise<void> {
    this.#renewing ??= this.#renew(new AbortController().signal).finally(() => {
      this.#renewing = undefined;
    });
    this.#renewing.catch(() => undefined);
    await untilAborted(this.#renewing, signal);
  }

  /** A refresh token may be valid only once: kernels take turns, and adopt a token that another has renewed. */
  async #renew(signal: AbortSignal): Promise<void> {
    const old = this.#login;
    const login = await this.#store.change(
      this.#endpoint,
      async stored => {
        if (stored === undefined) throw ended(this.#endpoint, 'was ended by %logout');
        if (stored.accessToken !== old.accessToken) return stored;
        if (stored.refreshToken === undefined) throw ended(this.#endpoint, 'has expired');
        const { server, clientId, refreshToken } = stored;
        const granted = await renew(this.#endpoint, server, clientId, refreshToken, {
          signal,
          answerMs: this.#clock.answerMs,
        });
        return { ...stored, ...storedLogin({ refreshToken, ...granted }, this.#clock.now()) };
      },
      signal,
    );
    if (login === undefined) return;
    this.#login = login;
    this.replace(login.accessToken, login.refreshToken ?? '');
  }
}

function ended({ profileName }: Endpoint, how: string): LoginError {
  return new LoginError(`the sign-in to ${profileName} ${how}`, {
    hint: `\`%login ${profileName}\` signs in again.`,
  });
}

function storedLogin({ accessToken, refreshToken, expiresIn }: Granted, now: number) {
  return {
    accessToken,
    ...present({ refreshToken, expiresAt: expiresIn === undefined ? undefined : now + expiresIn * 1000 }),
  };
}

/** Resolves once the response to this sign-in has arrived and its token is stored; responses to others are rejected and counted. */
async function waitForBrowser(
  loopback: Loopback,
  { isAnswer }: Authorization,
  { endpoint, waitMs, finish }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  let foreign = 0;
  let timer: NodeJS.Timeout | undefined;
  const signedIn = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => reject(timeOut(endpoint, waitMs, foreign)), waitMs);
    loopback.serve(parameters => {
      if (!isAnswer(parameters)) {
        foreign += 1;
        return undefined;
      }
      clearTimeout(timer);
      const finished = finish(parameters, signal);
      finished.then(resolve, reject);
      return finished.then(
        () => true,
        () => false,
      );
    });
  });
  await untilAborted(signedIn, signal).finally(() => clearTimeout(timer));
}

/** Options of a sign-in that waits for its response. */
interface Waiting {
  readonly endpoint: Endpoint;
  readonly waitMs: number;
  readonly finish: (parameters: URLSearchParams, signal: AbortSignal) => Promise<void>;
}

/** Returns the result of work that continues after an abort, but rejects as soon as the signal aborts. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => reject(new InterruptedError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function timeOut({ profileName }: Endpoint, waitMs: number, foreign: number): LoginError {
  const refused = foreign === 0 ? '' : `; ${plural(foreign, 'answer')} to another sign-in ignored`;
  return new LoginError(`nobody signed in to ${profileName} within ${waitMs / 1000} s${refused}`, {
    hint: `Run the cell again. A browser on another machine cannot reach this one: then use \`%login ${profileName} --paste\`.`,
  });
}

function parametersIn(address: string, { isAnswer }: Authorization): URLSearchParams {
  const parameters = new URLSearchParams(
    address
      .trim()
      .replace(/^[^?]*\?/, '')
      .replace(/#.*$/, ''),
  );
  if (isAnswer(parameters)) return parameters;
  throw new LoginError('this is not the address that the browser was sent to after this sign-in', {
    hint: 'It begins with http://127.0.0.1 and holds a code and a state: copy it whole from the address bar, from the page of this sign-in.',
  });
}

/** Revokes the longest-lived token first: most servers then revoke the remaining ones with it. */
async function revoked(endpoint: Endpoint, login: Login, timeout: LoginTimeout): Promise<Logout> {
  const { server, clientId, accessToken, refreshToken } = login;
  const { revocation_endpoint } = server;
  if (revocation_endpoint === undefined) return 'no revocation';
  try {
    for (const token of [refreshToken, accessToken])
      if (token !== undefined)
        await revoke(endpoint, { ...server, revocation_endpoint }, clientId, token, timeout);
    return 'revoked';
  } catch (error) {
    if (timeout.signal.aborted || !(error instanceof Error)) throw error;
    return new LoginError(error.message, { cause: error });
  }
}
