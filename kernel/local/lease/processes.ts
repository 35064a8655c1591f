import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';

/** One process, as other processes find it named in a file of the data directory. */
export interface ProcessId {
  readonly pid: number;
  /** When it started, as {@link processStart} has it; empty if that cannot be known. */
  readonly started: string;
  /** Where its pid means something, as {@link ownScope} has it; absent in the files of older versions. */
  readonly scope?: string;
}

/**
 * Returns whether a process runs; `unknown` where this process cannot tell: on another machine, in another container, hidden by the
 * system, or by its pid alone.
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
 * Returns a name for all that can see the processes of each other: this boot of this machine, and in it the namespace of process ids,
 * so that each container has its own. If the system does not tell, no two processes are in one scope.
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
 * Returns a text that no two processes of a scope share, whatever their ids; empty if the system does not tell, and 'ended' for one
 * that its parent has not asked about yet.
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
    // The part before the last parenthesis is a name, which may hold anything.
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

/** Whether there is a process of this id, our own or another user's. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns the name of this process, which no other has, on any machine, before it or after it: its scope, its pid, and a digest of
 * the time at which it started. It stands before a hyphen in the names of what a process leaves behind when it is killed.
 */
export async function ownName(): Promise<string> {
  return `${ownScope()}-${await nameInScope(process.pid)}`;
}

/**
 * Returns whether the process that a name begins with runs; `unknown` for one of another scope, for one that may be the one which has
 * its id now, and for names of another kind.
 */
export async function ownerOf(name: string): Promise<ProcessState> {
  // Older versions left the scope out.
  const [, scope = ownScope(), pid = '', start] =
    /^(?:([0-9a-f]{8})-)?(\d+)-([0-9a-f]{12})-/.exec(name) ?? [];
  if (start === undefined || scope !== ownScope()) return 'unknown';
  if (!isThere(Number(pid))) return 'gone';
  const now = digest(await processStart(Number(pid)), startLength);
  // If the system does not tell when it started, then or now, it may be the same.
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
