import { closeSync, constants, lstatSync, openSync, readdirSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openFileSync } from '../../files.js';
import { present } from '../../present.js';
import { sealedLine, unsealed } from '../sealed.js';
import type { ProcessId } from './processes.js';

/** Contents of a lease file about its holder. */
export interface Holder extends Required<ProcessId> {
  /** From {@link ownName}. */
  readonly owner: string;
  readonly host: string;
  readonly user: string;
  /** When it took the lease, as ISO time. */
  readonly since: string;
  readonly version: string;
  readonly phase: Phase;
  /** Its address, once it is listening. */
  readonly url?: string;
  /** Silence after which others may take the lease, in milliseconds. */
  readonly takeoverMs: number;
  /** A counter that increases for as long as the holder lives. */
  readonly beat: number;
}

export type Phase = 'starting' | 'open' | 'closing' | 'ended';

/** Returns the numbers of the leases in a data directory, in descending order. */
export function leasesIn(dataDir: string): readonly number[] {
  return readdirSync(dataDir)
    .flatMap(name => /^lease-([1-9]\d{0,14})\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

/** Returns the path of a lease. */
export function leaseFile(dataDir: string, number: number): string {
  return join(dataDir, `lease-${number}.json`);
}

/** Fixed size, so the file is overwritten in place, which needs no space on a full disk. */
const fileBytes = 2_048;

function encode(holder: Holder): Buffer {
  const bytes = Buffer.alloc(fileBytes, ' ');
  bytes.write(sealedLine(holder));
  return bytes;
}

/** Creates a world-readable file, which has no secrets; returns false if it exists. */
export function createFile(file: string, holder: Holder): boolean {
  try {
    const handle = openSync(file, 'wx', 0o644);
    try {
      writeSync(handle, encode(holder));
    } finally {
      closeSync(handle);
    }
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    rmSync(file, { force: true });
    throw error;
  }
}

/**
 * Rewrites a lease file. Reopens it each time: on a network file system, only opening makes the client check with the server that it still
 * exists.
 */
export function rewrite(file: string, holder: Holder): void {
  const handle = openFileSync(file, constants.O_RDWR);
  try {
    writeSync(handle, encode(holder), 0, fileBytes, 0);
  } finally {
    closeSync(handle);
  }
}

/** Returns the contents of a lease file. For an unreadable one, at least its modification time changes. */
export function readHolder(file: string): { readonly text: string; readonly holder?: Holder } {
  try {
    const handle = openFileSync(file);
    try {
      const bytes = Buffer.alloc(fileBytes);
      const text = bytes.toString('utf8', 0, readSync(handle, bytes));
      return { text, ...present({ holder: holderIn(text) }) };
    } finally {
      closeSync(handle);
    }
  } catch {
    return { text: String(lstatSync(file, { throwIfNoEntry: false })?.mtimeMs) };
  }
}

/** Result for a missing lease. */
export const nobody = { text: '', holder: undefined };

/**
 * Returns the holder, or undefined if the text is not a lease, half written or altered: one changed digit would lock others out for hours,
 * or let them in too early. Older versions wrote no checksum.
 */
function holderIn(text: string): Holder | undefined {
  try {
    const [line = ''] = text.split('\n');
    const { content: found, intact } = unsealed(JSON.parse(line));
    if (intact === false) return undefined;
    const content = found as Record<string, unknown>;
    const texts = ['started', 'scope', 'owner', 'host', 'user', 'since', 'version', 'phase'];
    const numbers = ['pid', 'takeoverMs', 'beat'];
    const isWhole =
      texts.every(name => typeof content[name] === 'string') &&
      numbers.every(name => Number.isSafeInteger(content[name]) && Number(content[name]) >= 0);
    return isWhole ? (content as unknown as Holder) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a file exists. Throws if the system cannot tell. */
export function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Returns whether a file or its directory has been removed, locally or on a server. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ESTALE'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}
