import { closeSync, mkdirSync, openSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { devNull, freemem, homedir, loadavg, tmpdir, totalmem, userInfo } from 'node:os';
import { dirname, parse, sep } from 'node:path';
import process from 'node:process';
import type { ErrorCode } from './errors.js';

/** Returns the maximum memory of this process in bytes: that of the machine, or of its container. */
export function memoryAtMost(): number {
  const container = process.constrainedMemory();
  // Without a limit it is 0, or more than any machine has.
  return container > 0 ? Math.min(container, totalmem()) : totalmem();
}

const MiB = 2 ** 20;

/**
 * Returns the maximum size of a query's answer for a memory limit: a quarter of it, from 512 MiB to 2 GiB. Both in bytes, the answer in
 * whole MiB.
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
    // A container's user id may have no name.
    return `user ${process.getuid?.()}`;
  }
}

/** Returns the home of this process's user; the root directory for a user without one, as in a container. */
export function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return parse(process.cwd()).root;
  }
}

/**
 * Creates a directory for this user alone, and its parents; an existing one is left alone. Throws the system's error. Node's own recursive
 * mode never returns if a file system rejects new names as if the parent were missing, as /proc does.
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

/** Creates a directory whose parent exists. Another process may have created it in the meantime. */
function makeLast(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** True if a path contains a name that begins with a dot, like those of keys and settings; links must be resolved before. */
export function isHidden(path: string): boolean {
  return path.split(sep).some(name => name.startsWith('.') && name !== '.' && name !== '..');
}

/** The reason why the system failed an operation on a file. */
export interface SystemRefusal {
  /** Kind for the caller, one of the kinds of `local/local-errors.ts`. */
  readonly kind: 'failed' | 'invalid' | 'storage' | 'unavailable';
  readonly code: ErrorCode;
  /** Reads as in "could not be written: {reason}". */
  readonly reason: string;
  /** A sentence that says what to do. */
  readonly hint: string;
  /** The system's own message, to recognize the error when its code is not passed on. */
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

/** The system's errors by code. */
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
    reason: 'it is a broken link',
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

/** Returns why the system failed; undefined unless it is a system error about a file. */
export function systemRefusal(error: unknown): SystemRefusal | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && Object.hasOwn(refusals, code) ? refusals[code] : undefined;
}

/** Returns why the system failed, from a library's message that ends in the system's own. */
export function refusalInWords(text: string): SystemRefusal | undefined {
  return Object.values(refusals).find(({ says }) => text.trim().endsWith(says));
}

/** Resources that this process can run out of. */
export type Scarce = 'disk space' | 'memory' | 'open files';

/** Returns a resource that is nearly exhausted; undefined if there is enough of everything. */
export function scarceResource(directories: readonly string[] = [tmpdir()]): Scarce | undefined {
  if (openError() !== undefined) return 'open files';
  if (directories.some(each => (freeBytes(each) ?? leastFree) < leastFree)) return 'disk space';
  return freemem() < totalmem() * leastShare ? 'memory' : undefined;
}

/**
 * Returns the memory that this process uses, in bytes; undefined if the system does not report it, for example with too many open files.
 */
export function processMemory(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

/**
 * Returns the memory that this process uses, in bytes, or its peak if the system reports only that: then the process must be one that does
 * a single thing.
 */
export function ownMemory(): number {
  return processMemory() ?? process.resourceUsage().maxRSS * 1024;
}

/** Returns the used and remaining resources of this process, for the log. */
export function describeResources(directories: readonly string[] = [tmpdir()]): string {
  // The system reports everything else through files.
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

/** Returns why no file can be opened; undefined if one can. */
function openError(): string | undefined {
  try {
    closeSync(openSync(devNull, 'r'));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** Returns the free bytes for a directory: none without free inodes; undefined if it is gone or the system does not report them. */
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
 * Names the file of NODE_EXTRA_CA_CERTS for the local service, which reads it when it first connects to another host: Node would read that
 * variable at every start, which takes longer than all the rest.
 */
export const AUTHORITIES_HANDED_ON = 'APL_KERNEL_CA_CERTS';
