import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOfSync, removeFile, textOf } from '../files.js';
import { present } from '../present.js';
import { inDataDir } from './data-layout.js';
import { ownScope, type ProcessId, stateOf } from './lease/processes.js';

/** The runtime file, mode 0600, that a shared service writes once it is listening. */
export interface RuntimeFile extends ProcessId {
  readonly url: string;
  readonly token: string;
  /** Known only to processes that can read the file; never sent. */
  readonly secret: string;
  /** Version of the serving program. */
  readonly version: string;
  /** Format of the protocol between kernels and the service; 0 in files from before it was recorded. */
  readonly format: number;
}

/** Format of this program's service. A kernel works with an older format, but not with a newer one. */
export const serviceFormat = 1;

/** State of the service named in a runtime file. */
export type SharedService =
  | { readonly kind: 'none' }
  /** It has proved its identity, so it may be sent its token. */
  | { readonly kind: 'running'; readonly file: RuntimeFile }
  /** Its process is running but does not respond. */
  | { readonly kind: 'frozen'; readonly file: RuntimeFile }
  /** It is gone; something else may respond at its address. */
  | { readonly kind: 'gone'; readonly file: RuntimeFile };

/** Route on which a service proves that it wrote the runtime file; the only one without a token. */
export const proofPath = '/v1/local/proof';

/** Time for a service to prove its identity before it counts as frozen, in milliseconds. */
const timeoutMs = 10_000;
const graceMs = 5_000;

/** Returns the path of the runtime file in a data directory. */
export function runtimeFilePath(dataDir: string): string {
  return inDataDir(dataDir, 'service.json');
}

/** Returns the state of the service shared by kernels in a data directory. */
export async function findShared(dataDir: string, waitMs = timeoutMs): Promise<SharedService> {
  const file = await readRuntimeFile(dataDir);
  if (file === undefined) return { kind: 'none' };
  if ((await stateOf(file)) === 'gone') return { kind: 'gone', file };
  // A service in another container may share the network with this one.
  const answer = await probe(file, waitMs);
  if (answer === 'proved') return { kind: 'running', file };
  return answer === 'silence' && (await stateOf(file)) === 'running'
    ? { kind: 'frozen', file }
    : { kind: 'gone', file };
}

/** Returns whether a data directory's runtime file is the one with this secret. */
export function isAnnounced(dataDir: string, secret: string): boolean {
  try {
    return JSON.parse(bytesOfSync(runtimeFilePath(dataDir)).toString()).secret === secret;
  } catch (error) {
    // A file that is temporarily unreadable, for lack of descriptors say, may still be there.
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? 'ENOENT');
  }
}

/** Returns the response to a nonce, which requires the secret; including the port prevents relaying. */
export function proofOf(secret: string, nonce: string, port: number): string {
  return createHmac('sha256', secret).update(`apl-kernel ${port} ${nonce}`).digest('base64url');
}

/**
 * Ends the process of a service that has proved its identity or is frozen, by force after a while, and removes its runtime file. Returns
 * whether it has ended.
 */
export async function endShared(dataDir: string, file: RuntimeFile, termMs = graceMs): Promise<boolean> {
  // In another container, the pid belongs to some other process; the service ends on its own once its file is gone.
  if ((file.scope ?? ownScope()) !== ownScope()) {
    await removeRuntimeFile(dataDir, file.secret);
    return ceases(async () => (await probe(file, graceMs)) === 'proved', 2 * graceMs);
  }
  const ended = (await signaled(file, 'SIGTERM', termMs)) || (await signaled(file, 'SIGKILL', graceMs));
  if (ended) await removeRuntimeFile(dataDir, file.secret);
  return ended;
}

/** Removes the runtime file of the service with this secret, but not that of another, which may have taken over in the meantime. */
export async function removeRuntimeFile(dataDir: string, secret: string): Promise<void> {
  if (isAnnounced(dataDir, secret)) await removeFile(runtimeFilePath(dataDir));
}

async function signaled(file: RuntimeFile, signal: NodeJS.Signals, limitMs: number): Promise<boolean> {
  if ((await stateOf(file)) === 'gone') return true;
  try {
    process.kill(file.pid, signal);
  } catch {
    // It has ended in the meantime, or belongs to another user: the check below finds out.
  }
  return ceases(async () => (await stateOf(file)) !== 'gone', limitMs);
}

const pollMs = 20;

/** Waits for a condition to stop holding; returns whether it did within the limit. */
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

/** Requests go only to this machine, whatever the address in the file. */
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

/** Reads the body up to a limit: a stranger may send anything, for as long as it likes. */
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
