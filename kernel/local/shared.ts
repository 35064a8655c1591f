import { execFile } from 'node:child_process';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The runtime file, mode 0600, that a shared service writes once it listens. */
export interface RuntimeFile {
  readonly url: string;
  readonly token: string;
  /** Known only to those who can read the file; never sent. */
  readonly secret: string;
  readonly pid: number;
  /** When the process started, as {@link processStart} has it; empty where that cannot be known. */
  readonly started: string;
  /** Of the program that serves. */
  readonly version: string;
  /** Of what kernels and the service say to each other; 0 in files of before it was written down. */
  readonly format: number;
}

/** The format of this program's service. A kernel works with one of an older format, and not with one of a newer. */
export const serviceFormat = 1;

/** The state of the service that a runtime file names. */
export type SharedService =
  | { readonly kind: 'none' }
  /** It has proved itself: its token may be sent to it. */
  | { readonly kind: 'running'; readonly file: RuntimeFile }
  /** Its process runs but does not answer. */
  | { readonly kind: 'frozen'; readonly file: RuntimeFile }
  /** It is gone; something else may answer at its address. */
  | { readonly kind: 'gone'; readonly file: RuntimeFile };

/** The route on which a service proves that it wrote the runtime file; the only one without a token. */
export const proofPath = '/v1/local/proof';

/** How long a service may take to prove itself before it counts as frozen, in milliseconds. */
const patienceMs = 10_000;
const graceMs = 5_000;

/** Returns the path of the runtime file in a data directory. */
export function runtimeFilePath(dataDir: string): string {
  return join(dataDir, 'service.json');
}

/** Returns the state of the service that kernels share in a data directory. */
export async function findShared(dataDir: string, waitMs = patienceMs): Promise<SharedService> {
  const file = await readRuntimeFile(dataDir);
  if (file === undefined) return { kind: 'none' };
  if ((await isProcessOf(file)) === false) return { kind: 'gone', file };
  const answer = await probe(file, waitMs);
  if (answer === 'proved') return { kind: 'running', file };
  return answer === 'silence' && (await isProcessOf(file))
    ? { kind: 'frozen', file }
    : { kind: 'gone', file };
}

/** Returns the answer to a nonce, which only a holder of the secret can give; the port in it keeps others from relaying it. */
export function proofOf(secret: string, nonce: string, port: number): string {
  return createHmac('sha256', secret).update(`apl-kernel ${port} ${nonce}`).digest('base64url');
}

/**
 * Ends the process of a service that has proved itself or is frozen, by force after a while, and removes its runtime file.
 * Returns whether it has ended.
 */
export async function endShared(dataDir: string, file: RuntimeFile, termMs = graceMs): Promise<boolean> {
  const ended = (await signalled(file, 'SIGTERM', termMs)) || (await signalled(file, 'SIGKILL', graceMs));
  const { secret } = (await readRuntimeFile(dataDir)) ?? {};
  if (ended && secret === file.secret) await rm(runtimeFilePath(dataDir), { force: true });
  return ended;
}

/**
 * Returns a text that no two processes of a machine share, whatever their ids; empty where the system does not tell, and 'ended' for
 * one that its parent has not asked about yet.
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
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // The part before the last parenthesis is a name, which may hold anything.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? 'ended' : `${boot.trim()} ${fields[18]}`;
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

/**
 * Returns the name of this process, which no other of this machine has, before it or after it: the pid with a digest of the time at
 * which it started. It stands before a hyphen in the names of what a process leaves behind when it is killed.
 */
export async function ownName(): Promise<string> {
  return `${process.pid}-${digestOf(await processStart(process.pid))}`;
}

/**
 * Whether a name begins with that of a process which is surely gone. Where the system did not tell when a process started, its own
 * or the one that has the id now, they may be the same.
 */
export async function isOrphan(name: string): Promise<boolean> {
  const [, pid = '', owner] = /^(\d+)-([0-9a-f]{12})-/.exec(name) ?? [];
  if (owner === undefined) return false;
  if (!isAlive(Number(pid))) return true;
  const unknown = digestOf('');
  return owner !== unknown && ![owner, unknown].includes(digestOf(await processStart(Number(pid))));
}

function digestOf(start: string): string {
  return createHash('sha256').update(start).digest('hex').slice(0, 12);
}

/** Undefined where the system cannot tell one process from a later one of the same id. */
async function isProcessOf({ pid, started }: RuntimeFile): Promise<boolean | undefined> {
  if (started !== '') return (await processStart(pid)) === started;
  return isAlive(pid) ? undefined : false;
}

/** Whether a process runs, our own or another user's. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const pollMs = 20;

async function signalled(file: RuntimeFile, signal: NodeJS.Signals, limitMs: number): Promise<boolean> {
  if ((await isProcessOf(file)) === false) return true;
  try {
    process.kill(file.pid, signal);
  } catch {
    // It has ended meanwhile, or belongs to another user: the loop finds out.
  }
  for (const from = performance.now(); performance.now() - from < limitMs; await delay(pollMs)) {
    if ((await isProcessOf(file)) === false) return true;
  }
  return false;
}

async function readRuntimeFile(dataDir: string): Promise<RuntimeFile | undefined> {
  try {
    const { url, token, secret, pid, started, version, format } = JSON.parse(
      await readFile(runtimeFilePath(dataDir), 'utf8'),
    ) as Record<string, unknown>;
    if (typeof url !== 'string' || typeof token !== 'string' || typeof secret !== 'string') return undefined;
    if (!isLoopback(url) || !Number.isSafeInteger(pid) || Number(pid) <= 0) return undefined;
    return {
      ...{ url, token, secret, pid: Number(pid), started: String(started ?? '') },
      ...{ version: String(version), format: Number(format ?? 0) },
    };
  } catch {
    return undefined;
  }
}

/** Requests go to this machine only, whatever address the file has. */
function isLoopback(url: string): boolean {
  return URL.canParse(url) && ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
}

type Answer = 'proved' | 'silence' | 'something else';

function probe({ url, secret }: RuntimeFile, waitMs: number): Promise<Answer> {
  const nonce = randomBytes(32).toString('hex');
  const proof = proofOf(secret, nonce, Number(new URL(url).port));
  return new Promise(resolve => {
    const sent = request(`${url}${proofPath}?nonce=${nonce}`, { agent: false });
    const timer = setTimeout(() => {
      resolve('silence');
      sent.destroy();
    }, waitMs);
    sent.on('response', response => {
      textOf(response).then(
        text => resolve(isEqual(text, proof) ? 'proved' : 'something else'),
        () => resolve('something else'),
      );
    });
    sent.on('error', () => resolve('something else'));
    sent
      .on('close', () => {
        clearTimeout(timer);
        resolve('something else');
      })
      .end();
  });
}

const longestProof = 256;

/** A stranger may send anything, for any length of time. */
async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of response) {
    text += String(part);
    if (text.length > longestProof) break;
  }
  return text;
}

function isEqual(text: string, proof: string): boolean {
  const [given, wanted] = [Buffer.from(text), Buffer.from(proof)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
