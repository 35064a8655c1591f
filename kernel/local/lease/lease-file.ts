import { closeSync, constants, lstatSync, openSync, readdirSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openFileSync } from '../../files.js';
import { present } from '../../present.js';
import { sealedLine, unsealed } from '../sealed.js';
import type { ProcessId } from './processes.js';

/** What the file of a lease says of its holder. */
export interface Holder extends Required<ProcessId> {
  /** As {@link ownName} has it. */
  readonly owner: string;
  readonly host: string;
  readonly user: string;
  /** When it took the lease, as an ISO time. */
  readonly since: string;
  readonly version: string;
  readonly phase: Phase;
  /** Where it answers, once it does. */
  readonly url?: string;
  /** After how long a silence others may take the lease, in milliseconds. */
  readonly takeoverMs: number;
  /** A number that grows for as long as it lives. */
  readonly beat: number;
}

export type Phase = 'starting' | 'open' | 'closing' | 'ended';

/** Returns the numbers of the leases in a data directory, the highest first. */
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

/** Of the same length each time: it is written over in place, which needs no room on a full disk. */
const fileBytes = 2_048;

function encode(holder: Holder): Buffer {
  const bytes = Buffer.alloc(fileBytes, ' ');
  bytes.write(sealedLine(holder));
  return bytes;
}

/** Creates a file that all may read; returns false when there is one. It holds no secret. */
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

/** Opened anew each time: over a network, only then does the system ask the server whether it is still there. */
export function rewrite(file: string, holder: Holder): void {
  const handle = openFileSync(file, constants.O_RDWR);
  try {
    writeSync(handle, encode(holder), 0, fileBytes, 0);
  } finally {
    closeSync(handle);
  }
}

/** What a lease file holds; one that cannot be read changes by its time at least. */
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

/** What is read if there is no lease. */
export const nobody = { text: '', holder: undefined };

/**
 * Undefined for what is not a lease, is half written, or is not as it was written: one changed digit would keep others out for hours, or
 * let them in too early. Older versions wrote no checksum.
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

/** Whether a file is there; throws if the system does not tell. */
export function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Whether a file or what it was in has been removed, here or on a server. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ESTALE'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}
