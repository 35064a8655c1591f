import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import undici from 'undici';

/** The built program. */
export const main = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'dist', 'main.js');

/** A service in its own process, as users have it. */
export interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
  readonly dataDir: string;
}

/** Starts the service like a kernel does, over new data if necessary, and returns once its address is known. */
export async function startProcess(
  dataDir: string = mkdtempSync(join(tmpdir(), 'bench-service-')),
): Promise<Running> {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const child = spawn(process.execPath, [main, 'serve', '--managed', '--data', dataDir], {
    env: { ...env, UV_THREADPOOL_SIZE: '16' },
    stdio: 'ignore',
  });
  const file = join(dataDir, 'service.json');
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    await delay(2);
  }
  const { url, token } = JSON.parse(readFileSync(file, 'utf8')) as Pick<Running, 'url' | 'token'>;
  // The service ends half a minute after its last stream like this one closes; the stream breaks when the service is killed.
  const alive = request(`${url}/v1/alive`, { headers: { authorization: `Bearer ${token}` }, agent: false });
  alive.on('response', response => response.resume()).on('error', () => {});
  alive.end();
  return { child, url, token, dataDir };
}

/** Returns the CPU time of the threads of the service, in milliseconds; NaN if the system does not report it. */
export function processorMs({ child }: Running): number {
  const threads = `/proc/${child.pid}/task`;
  if (!existsSync(threads)) return Number.NaN;
  const taken = readdirSync(threads).map(thread => readFileSync(join(threads, thread, 'schedstat'), 'utf8'));
  return taken.reduce((total, each) => total + Number(each.split(' ')[0]) / 1e6, 0);
}

/** Returns the peak memory of the service, as reported by Linux; NaN elsewhere. */
export function peakMiB({ child }: Running): number {
  const status = `/proc/${child.pid}/status`;
  if (!existsSync(status)) return Number.NaN;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
}

/** Ends the service and removes its data. */
export async function stopProcess(service: Running): Promise<void> {
  await endProcess(service);
  rmSync(service.dataDir, { recursive: true, force: true });
}

/** Ends the service; another can be started over its data. */
export async function endProcess({ child }: Running): Promise<void> {
  const ended = new Promise(settle => child.on('exit', settle));
  child.kill('SIGTERM');
  await ended;
}

/** Sends a request, by the client that kernels use, and returns the response; throws on a refusal. Without a body it is a GET. */
export async function ask(
  { url, token }: Pick<Running, 'url' | 'token'>,
  path: string,
  body?: string,
  { type = 'application/json', signal }: { readonly type?: string; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const { statusCode, body: answer } = await undici.request(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  });
  const text = await answer.text();
  if (statusCode >= 400) throw new Error(`${path}: ${statusCode} ${text}`);
  return text;
}
