import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { textOf } from '../../files.js';
import { lockOf } from '../../local/lease/lock.js';
import { sealed, unsealed } from '../../local/sealed.js';
import { setAside } from '../../local/store/store-files.js';
import { makeDirectory, systemRefusal } from '../../machine.js';
import type { Endpoint } from '../profile.js';
import { LoginError } from './error.js';

/** A sign-in as stored: its profile, its token, and what renews and revokes it. */
export interface Login {
  readonly profile: string;
  /** The addresses that the token is for: it is sent nowhere else, even if the profile changes. */
  readonly url: string;
  readonly edgeUrl?: string;
  readonly server: AuthorizationEndpoints;
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970 on this machine's clock; absent if the service does not report it. */
  readonly expiresAt?: number;
}

/** The authorization server metadata needed after the sign-in, by the names of RFC 8414. */
export interface AuthorizationEndpoints {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint?: string;
}

/** The file of sign-ins, readable by its user only and shared by all kernels of a data directory. */
export class LoginStore {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  /** Returns the content of the file, which changes with each sign-in. Throws LoginError. */
  async text(): Promise<string> {
    return textOf(this.file).catch(cause => {
      if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return '[]';
      throw this.#failure('read', cause);
    });
  }

  /**
   * Returns the sign-in of a profile at its current addresses. Throws LoginError if the file is damaged, so that the sign-in may be
   * lost, and the profile has no other token.
   */
  async find(
    endpoint: Pick<Endpoint, 'profileName' | 'url' | 'edgeUrl' | 'token'>,
  ): Promise<Login | undefined> {
    const { logins, isDamaged } = loginsIn(await this.text());
    const found = logins.find(each => isOf(each, endpoint));
    if (found !== undefined || !isDamaged || endpoint.token !== undefined) return found;
    throw new LoginError(`the file of sign-ins ${this.file} is damaged`, {
      hint: `\`%login ${endpoint.profileName}\` signs in again, and sets the file aside.`,
    });
  }

  /**
   * Replaces the sign-in of a profile with the result of `change`, undefined for none, under a lock; returns it. Throws LoginError,
   * and what `change` throws.
   */
  async change(
    endpoint: Pick<Endpoint, 'profileName' | 'url' | 'edgeUrl'>,
    change: (login: Login | undefined) => Promise<Login | undefined>,
    signal: AbortSignal,
  ): Promise<Login | undefined> {
    const unlock = await this.#lock(signal);
    try {
      const { logins, isDamaged } = loginsIn(await this.text());
      const before = logins.find(each => isOf(each, endpoint));
      const after = await change(before);
      if (after !== before) {
        if (isDamaged) await this.#setAside();
        const others = logins.filter(each => each.profile !== endpoint.profileName);
        await this.#write(after === undefined ? others : [...others, after]);
      }
      return after;
    } finally {
      await unlock();
    }
  }

  /** The new file has the intact sign-ins; the user may have a use for the rest. */
  async #setAside(): Promise<void> {
    await setAside(this.file).catch(cause => {
      throw this.#failure('written', cause);
    });
  }

  async #write(logins: readonly Login[]): Promise<void> {
    const draft = `${this.file}.${randomUUID()}.tmp`;
    try {
      await writeFile(draft, `${JSON.stringify(logins.map(sealed), undefined, 1)}\n`, {
        mode: 0o600,
        flag: 'wx',
      });
      await rename(draft, this.file);
    } catch (cause) {
      await rm(draft).catch(() => undefined);
      throw this.#failure('written', cause);
    }
  }

  async #lock(signal: AbortSignal): Promise<() => Promise<void>> {
    try {
      makeDirectory(dirname(this.file));
      // The holder of the lock may be waiting for a response.
      return await lockOf(`${this.file}.lock`, { timeoutMs: Number.POSITIVE_INFINITY, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure('written', error);
    }
  }

  #failure(verb: string, cause: unknown): LoginError {
    const { reason = '', hint = 'Check its permissions, and those of its directory.' } =
      systemRefusal(cause) ?? {};
    return new LoginError(`the file of sign-ins ${this.file} cannot be ${verb}${reason && `: ${reason}`}`, {
      hint,
      cause,
    });
  }
}

function isOf(
  login: Login,
  { profileName, url, edgeUrl }: Pick<Endpoint, 'profileName' | 'url' | 'edgeUrl'>,
) {
  return login.profile === profileName && login.url === url && login.edgeUrl === edgeUrl;
}

/** Parses the sign-ins in a file; reports whether it is damaged. */
export function loginsIn(text: string): { readonly logins: readonly Login[]; readonly isDamaged: boolean } {
  const found = jsonIn(text);
  if (!Array.isArray(found)) return { logins: [], isDamaged: true };
  const logins = found.map(unsealed).flatMap(({ content, intact }) =>
    // Older versions wrote no checksum.
    intact !== false && isLogin(content) ? [content] : [],
  );
  return { logins, isDamaged: logins.length < found.length };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isLogin(value: unknown): value is Login {
  if (typeof value !== 'object' || value === null) return false;
  const { profile, url, edgeUrl, server, clientId, accessToken, refreshToken, expiresAt } = value as Login;
  const isText = (each: unknown) => typeof each === 'string';
  const isTextOrAbsent = (each: unknown) => each === undefined || isText(each);
  return (
    [profile, url, clientId, accessToken, server?.issuer, server?.token_endpoint].every(isText) &&
    [edgeUrl, refreshToken, server.revocation_endpoint].every(isTextOrAbsent) &&
    (expiresAt === undefined || Number.isFinite(expiresAt))
  );
}
