import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';

/** A process as identified in a file of the data directory. */
export interface ProcessId {
  readonly pid: number;
  /** Its start time from {@link processStart}; empty if unknown. */
  readonly started: string;
  /** The scope of its pid, from {@link ownScope}; absent in files of older versions. */
  readonly scope?: string;
}

/**
 * Returns whether a process runs; `unknown` if it is on another machine, in another container, hidden by the system, or identified by its
 * pid alone.
 */
export async function stateOf({ pid, started, scope = ownScope() }: ProcessId): Promise<ProcessState> {
  if (scope !== ownScope()) return 'unknown';
  const now = started === '' ? '' : await processStart(pid);
  if (now !== '') return now === started ? 'running' : 'gone';
  return isThere(pid) ? 'unknown' : 'gone';
}

export type ProcessState = 'running' | 'gone' | 'unknown';

/** Returns the id of this process. */
export async function ownProcess(): Promise<Required<ProcessId>> {
  return { pid: process.pid, started: await processStart(process.pid), scope: ownScope() };
}

/**
 * Returns a name shared by all processes that can see each other: the current boot of this machine and the pid namespace in it, so every
 * container has its own. If the system does not reveal it, no two processes share a scope.
 */
export function ownScope(): string {
  scope ??= digest(scopeText(), 8);
  return scope;
}

let scope: string | undefined;

function scopeText(): string {
  if (process.platform !== 'linux') return hostname();
  try {
    return `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return randomUUID();
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/**
 * Returns a string that no two processes of a scope share, even with the same pid; empty if the system does not reveal it, and 'ended' for
 * a process that its parent has not yet reaped.
 */
export function processStart(pid: number): Promise<string> {
  if (pid !== process.pid) return readStart(pid);
  ownStart ??= readStart(pid);
  return ownStart;
}

let ownStart: Promise<string> | undefined;

async function readStart(pid: number): Promise<string> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return '';
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The part up to the last parenthesis is a name, which may contain anything.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? 'ended' : `${bootId()} ${fields[18]}`;
  } catch {
    return process.platform === 'linux' ? '' : startByPs(pid);
  }
}

async function startByPs(pid: number): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'lstart=']);
    return stdout.trim();
  } catch {
    return '';
  }
}

/** Returns whether there is a process with this pid, from any user. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns the name of this process, unique over machines and time: its scope, its pid, and a digest of its start time. Names of files that
 * the process leaves behind when killed begin with it and a hyphen.
 */
export async function ownName(): Promise<string> {
  return `${ownScope()}-${await nameInScope(process.pid)}`;
}

/**
 * Returns whether the process named at the start of `name` is running; `unknown` for another scope, for one that may be the current owner
 * of its pid, and for other kinds of names.
 */
export async function ownerOf(name: string): Promise<ProcessState> {
  // Older versions omitted the scope.
  const [, scope = ownScope(), pid = '', start] =
    /^(?:([0-9a-f]{8})-)?(\d+)-([0-9a-f]{12})-/.exec(name) ?? [];
  if (start === undefined || scope !== ownScope()) return 'unknown';
  if (!isThere(Number(pid))) return 'gone';
  const now = digest(await processStart(Number(pid)), startLength);
  // If the start time is unknown, then or now, it may be the same process.
  if (Number(pid) !== process.pid && [start, now].includes(digest('', startLength))) return 'unknown';
  return now === start ? 'running' : 'gone';
}

const startLength = 12;

async function nameInScope(pid: number): Promise<string> {
  return `${pid}-${digest(await processStart(pid), startLength)}`;
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
