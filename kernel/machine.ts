import { closeSync, mkdirSync, openSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { devNull, freemem, homedir, loadavg, tmpdir, totalmem, userInfo } from 'node:os';
import { dirname, parse, sep } from 'node:path';
import process from 'node:process';
import type { ErrorCode } from './errors.js';

/** Returns how many bytes of memory this process may use at most: those of the machine, or of the container that it runs in. */
export function memoryAtMost(): number {
  const container = process.constrainedMemory();
  // Without a bound it is 0, or more than any machine has.
  return container > 0 ? Math.min(container, totalmem()) : totalmem();
}

const MiB = 2 ** 20;

/**
 * Returns how large the answer of a query may be where so much memory may be used: a quarter of it, from 512 MiB to 2 GiB. Both in
 * bytes, the answer in whole MiB.
 */
export function largestAnswer(memory: number): number {
  const share = Math.floor(memory / 4 / MiB) * MiB;
  return Math.max(512 * MiB, Math.min(share, 2048 * MiB));
}

/** Returns the name of this process's user. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user id of a container may have no name.
    return `user ${process.getuid?.()}`;
  }
}

/** Returns the home of this process's user; the root directory, as in a container, for one that has none. */
export function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return parse(process.cwd()).root;
  }
}

/**
 * Makes a directory for this user alone, and those above it; one that is there stays as it is. Throws what the system says.
 * Node's own recursive way never returns where a file system refuses new names as if the directory above were missing, as /proc does.
 */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(directory).isDirectory()) return;
    const above = dirname(directory);
    if (code !== 'ENOENT' || above === directory) throw error;
    makeDirectory(above);
    makeLast(directory);
  }
}

/** Another process may have made it meanwhile. */
function makeLast(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Whether a path goes through a name that begins with a dot, as those of keys and settings do; links are to be resolved before. */
export function isHidden(path: string): boolean {
  return path.split(sep).some(name => name.startsWith('.') && name !== '.' && name !== '..');
}

/** Why the system did not do something with a file. */
export interface SystemRefusal {
  /** What it is to whoever asked, one of the kinds of `local/local-errors.ts`. */
  readonly kind: 'failed' | 'invalid' | 'storage' | 'unavailable';
  readonly code: ErrorCode;
  /** Reads as in "could not be written: {reason}". */
  readonly reason: string;
  /** A sentence that says what to do. */
  readonly hint: string;
  /** The system's own words, by which it is known where nobody passes its code on. */
  readonly says: string;
}

const full = {
  kind: 'storage',
  code: 'engine-disk',
  hint: 'Free some space there, then try again.',
} as const;
const unwritable = { kind: 'storage', code: 'not-writable' } as const;
const permission = {
  ...unwritable,
  reason: 'the permission is missing',
  hint: 'Check who owns the directory and its files, and their permissions.',
} as const;
const short = { kind: 'unavailable', code: 'engine-short' } as const;
const handles = {
  ...short,
  reason: 'too many files are open',
  hint: 'Try again in a moment, or start the program with a higher `ulimit -n`.',
} as const;
const held = {
  kind: 'unavailable',
  code: 'in-use',
  reason: 'another program is using it',
  hint: 'Try again once that program has closed it.',
} as const;
const other = { kind: 'failed', code: 'unreadable', hint: 'Move the existing file away.' } as const;

/** Each way in which the system refuses, by its code. */
const refusals: Readonly<Record<string, SystemRefusal>> = {
  EROFS: {
    ...unwritable,
    reason: 'the file system is read-only',
    hint: 'Reading goes on. To write, make it writable, or set APL_KERNEL_DATA to a directory that is.',
    says: 'Read-only file system',
  },
  EACCES: { ...permission, says: 'Permission denied' },
  EPERM: { ...permission, says: 'Operation not permitted' },
  ENOSPC: { ...full, reason: 'the disk is full', says: 'No space left on device' },
  EDQUOT: { ...full, reason: 'the quota of the disk is used up', says: 'Disk quota exceeded' },
  EFBIG: {
    ...unwritable,
    reason: 'the file system does not support files of this size',
    hint: 'Use another file system, or a smaller file.',
    says: 'File too large',
  },
  ENOLINK: {
    ...other,
    reason: 'it is a link that leads nowhere',
    hint: 'Make what it leads to, or remove the link.',
    says: 'Link has been severed',
  },
  EOVERFLOW: {
    ...other,
    reason: 'it is too large to be read at once',
    says: 'Value too large for defined data type',
  },
  EMFILE: { ...handles, says: 'Too many open files' },
  ENFILE: { ...handles, says: 'Too many open files in system' },
  ENOMEM: {
    ...short,
    reason: 'the machine is out of memory',
    hint: 'Close other programs, then try again.',
    says: 'Cannot allocate memory',
  },
  ENOLCK: {
    ...unwritable,
    reason: 'the file system does not support locks',
    hint: 'Set APL_KERNEL_DATA to a directory on another file system.',
    says: 'No locks available',
  },
  EBUSY: { ...held, says: 'Device or resource busy' },
  ETXTBSY: { ...held, says: 'Text file busy' },
  EIO: {
    kind: 'failed',
    code: 'disk-failed',
    reason: 'the disk failed',
    hint: 'Check the system log, and copy the data directory to another disk.',
    says: 'Input/output error',
  },
  ESTALE: {
    kind: 'unavailable',
    code: 'disk-failed',
    reason: 'the network file system has lost the file',
    hint: 'Try again; if that fails again, mount the file system again.',
    says: 'Stale file handle',
  },
  ENAMETOOLONG: {
    kind: 'invalid',
    code: 'invalid-name',
    reason: 'its name is too long',
    hint: 'Choose a shorter name.',
    says: 'File name too long',
  },
  EISDIR: { ...other, reason: 'it is a directory', says: 'Is a directory' },
  ENOTEMPTY: { ...other, reason: 'it is a directory', says: 'Directory not empty' },
  ENOTDIR: { ...other, reason: 'a part of the path is not a directory', says: 'Not a directory' },
  ENXIO: {
    ...other,
    reason: 'it is a pipe, a socket or a device',
    says: 'No such device or address',
  },
  ELOOP: { ...other, reason: 'its symbolic links form a loop', says: 'Too many levels of symbolic links' },
};

/** Returns why the system refused; undefined for an error that is not the system's about a file. */
export function systemRefusal(error: unknown): SystemRefusal | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && Object.hasOwn(refusals, code) ? refusals[code] : undefined;
}

/** Returns why the system refused, from the words of a library that ends in the system's own. */
export function refusalInWords(text: string): SystemRefusal | undefined {
  return Object.values(refusals).find(({ says }) => text.trim().endsWith(says));
}

/** What this process can run out of. */
export type Scarce = 'disk space' | 'memory' | 'open files';

/** Returns what there is nearly none left of; undefined when there is enough of everything. */
export function scarceResource(directories: readonly string[] = [tmpdir()]): Scarce | undefined {
  if (openError() !== undefined) return 'open files';
  if (directories.some(each => (freeBytes(each) ?? leastFree) < leastFree)) return 'disk space';
  return freemem() < totalmem() * leastShare ? 'memory' : undefined;
}

/** Returns how many bytes of memory this process uses; undefined if the system does not tell, as it cannot with too many files open. */
export function processMemory(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

/**
 * Returns how many bytes of memory this process uses, or the most that it has used if the system tells no more: there the process has
 * to be one that does a single thing.
 */
export function ownMemory(): number {
  return processMemory() ?? process.resourceUsage().maxRSS * 1024;
}

/** Returns how much is left, and in use, of what this process can run out of, for the log. */
export function describeResources(directories: readonly string[] = [tmpdir()]): string {
  // The system tells everything else by files.
  const error = openError();
  if (error !== undefined) return error;
  return [
    `memory: ${mebibytes(freemem())} of ${mebibytes(totalmem())} free, ${mebibytes(processMemory())} of at most ${mebibytes(memoryAtMost())} in use`,
    ...directories.map(each => `disk: ${mebibytes(freeBytes(each))} free for ${each}`),
    `open files: ${openFiles()}`,
    `load: ${loadavg()[0]?.toFixed(1)}`,
  ].join('; ');
}

/** In bytes. */
const leastFree = MiB;

const leastShare = 0.02;

/** Why no file can be opened; undefined when one can. */
function openError(): string | undefined {
  try {
    closeSync(openSync(devNull, 'r'));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** Returns the bytes that are free for a directory: none without free inodes; undefined if it is gone or the system does not tell. */
export function freeBytes(directory: string): number | undefined {
  try {
    const { blocks, bavail, bsize, files, ffree } = statfsSync(directory);
    if (blocks === 0) return undefined;
    return files > 0 && ffree === 0 ? 0 : bavail * bsize;
  } catch {
    return undefined;
  }
}

function openFiles(): string {
  try {
    return String(readdirSync('/proc/self/fd').length);
  } catch {
    return 'unknown';
  }
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? 'unknown' : `${Math.floor(bytes / MiB)} MiB`;
}

/**
 * Names the file of NODE_EXTRA_CA_CERTS for the local service, which reads it once it connects to another host: Node would read that
 * variable at every start, which takes longer than all else.
 */
export const AUTHORITIES_HANDED_ON = 'APL_KERNEL_CA_CERTS';
