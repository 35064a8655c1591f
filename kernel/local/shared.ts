import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOfSync, removeFile, textOf } from '../files.js';
import { present } from '../present.js';
import { inDataDir } from './data-layout.js';
import { ownScope, type ProcessId, stateOf } from './lease/processes.js';

/** The runtime file, mode 0600, that a shared service writes once it listens. */
export interface RuntimeFile extends ProcessId {
  readonly url: string;
  readonly token: string;
  /** Known only to those who can read the file; never sent. */
  readonly secret: string;
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
const timeoutMs = 10_000;
const graceMs = 5_000;

/** Returns the path of the runtime file in a data directory. */
export function runtimeFilePath(dataDir: string): string {
  return inDataDir(dataDir, 'service.json');
}

/** Returns the state of the service that kernels share in a data directory. */
export async function findShared(dataDir: string, waitMs = timeoutMs): Promise<SharedService> {
  const file = await readRuntimeFile(dataDir);
  if (file === undefined) return { kind: 'none' };
  if ((await stateOf(file)) === 'gone') return { kind: 'gone', file };
  // One in another container may share the network with this one.
  const answer = await probe(file, waitMs);
  if (answer === 'proved') return { kind: 'running', file };
  return answer === 'silence' && (await stateOf(file)) === 'running'
    ? { kind: 'frozen', file }
    : { kind: 'gone', file };
}

/** Whether the runtime file of a data directory is the one with this secret. */
export function isAnnounced(dataDir: string, secret: string): boolean {
  try {
    return JSON.parse(bytesOfSync(runtimeFilePath(dataDir)).toString()).secret === secret;
  } catch (error) {
    // A file that cannot be read at the moment, for lack of descriptors say, may still be there.
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? 'ENOENT');
  }
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
  // In another container the pid is that of some other process; the service ends by itself when its file is gone.
  if ((file.scope ?? ownScope()) !== ownScope()) {
    await removeRuntimeFile(dataDir, file.secret);
    return ceases(async () => (await probe(file, graceMs)) === 'proved', 2 * graceMs);
  }
  const ended = (await signaled(file, 'SIGTERM', termMs)) || (await signaled(file, 'SIGKILL', graceMs));
  if (ended) await removeRuntimeFile(dataDir, file.secret);
  return ended;
}

/** Removes the runtime file of the service with this secret; that of another, which may have taken over meanwhile, stays. */
export async function removeRuntimeFile(dataDir: string, secret: string): Promise<void> {
  if (isAnnounced(dataDir, secret)) await removeFile(runtimeFilePath(dataDir));
}

async function signaled(file: RuntimeFile, signal: NodeJS.Signals, limitMs: number): Promise<boolean> {
  if ((await stateOf(file)) === 'gone') return true;
  try {
    process.kill(file.pid, signal);
  } catch {
    // It has ended meanwhile, or belongs to another user: what follows finds out.
  }
  return ceases(async () => (await stateOf(file)) !== 'gone', limitMs);
}

const pollMs = 20;

/** Whether a condition ceases to hold within a while. */
async function ceases(condition: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  for (const from = performance.now(); performance.now() - from < limitMs; await delay(pollMs)) {
    if (!(await condition())) return true;
  }
  return false;
}

async function readRuntimeFile(dataDir: string): Promise<RuntimeFile | undefined> {
  try {
    const { url, token, secret, pid, started, scope, version, format } = JSON.parse(
      await textOf(runtimeFilePath(dataDir)),
    ) as Record<string, unknown>;
    if (typeof url !== 'string' || typeof token !== 'string' || typeof secret !== 'string') return undefined;
    if (!isLoopback(url) || !Number.isSafeInteger(pid) || Number(pid) <= 0) return undefined;
    return {
      ...{ url, token, secret, pid: Number(pid), started: String(started ?? '') },
      ...present({ scope: typeof scope === 'string' ? scope : undefined }),
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
      bodyOf(response).then(
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

/** A stranger may send anything, for as long as it likes. */
async function bodyOf(response: IncomingMessage): Promise<string> {
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
