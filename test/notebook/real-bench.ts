import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type ServeRequest, serve } from '../../kernel/commands/service.js';
import { spawnEngine } from '../local/engine/spawned.js';
import { type Bench, type BenchOptions, type CellRun, startBench } from './session.js';

/** Starts a real local service on its own port; `deploymentOf` resolves its cluster deployments. */
export function realService(dataDir: string, more: Pick<ServeRequest, 'deploymentOf'> = {}) {
  return serve({
    ...more,
    dataDir,
    version: '1.2.3',
    port: 0,
    managed: false,
    token: undefined,
    spawnEngine,
    log: () => undefined,
  });
}

interface RealBenchOptions extends Pick<BenchOptions, 'allowed' | 'now'> {
  /** Status members to add to answers about these datasets; the local service never returns them. */
  readonly status?: Readonly<Record<string, object>>;
  /** Sends client data to the service before the tests. */
  readonly prepare?: (service: { readonly url: string; readonly token: string }) => Promise<void>;
}

/** Sets up an interpreter on a real local service with imported datasets, shared by all tests of a file. */
export function realBench(
  datasets: Readonly<Record<string, readonly object[]>>,
  { status, prepare, ...options }: RealBenchOptions = {},
): () => Bench {
  let bench: Bench | undefined;
  let end: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
    const service = await realService(dataDir);
    const { token } = service;
    const relay = status === undefined ? undefined : await startRelay(service.url, status);
    const url = relay?.url ?? service.url;
    const connect = async () => ({ url, token, restarted: false });
    const started = await startBench({ ...options, local: () => ({ connect, close: () => undefined }) });
    bench = started;
    end = async () => {
      await started.close();
      await relay?.close();
      await service.close();
      await rm(dataDir, { recursive: true, force: true });
    };
    for (const [name, rows] of Object.entries(datasets)) await importRows(started, dataDir, name, rows);
    await prepare?.(service);
  });
  afterAll(() => end());
  return () => {
    if (bench === undefined) throw new Error('the service has not started');
    return bench;
  };
}

/** Starts a relay that changes the answers' status for the datasets that their queries read. */
async function startRelay(
  url: string,
  statuses: Readonly<Record<string, object>>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray());
    const changed = Object.entries(statuses).find(([name]) => readsDataset(incoming.url, body, name))?.[1];
    const { accept = '', host: _, ...others } = incoming.headers;
    const headers = { ...others, accept: changed === undefined ? accept : 'application/json' };
    const passed = request(
      new URL(incoming.url ?? '/', url),
      { method: incoming.method, headers },
      answer => {
        if (changed === undefined) {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
          return;
        }
        void answer.toArray().then(chunks => {
          outgoing.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/json' });
          outgoing.end(withStatus(Buffer.concat(chunks).toString(), changed));
        });
      },
    );
    passed.end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function readsDataset(path: string | undefined, body: Buffer, name: string): boolean {
  return (path ?? '').includes('_apl') && new RegExp(`"apl":"${name}\\b`).test(body.toString());
}

function withStatus(text: string, changed: object): string {
  const answer = JSON.parse(text) as { status: object };
  return JSON.stringify({ ...answer, status: { ...answer.status, ...changed } });
}

/** Returns the notices above each table that a cell showed. */
export function notices({ outcome, outputs }: CellRun): readonly string[] {
  if (outcome.status === 'error') return [outcome.evalue];
  return outputs.flatMap(output => {
    // A chart carries the facts of the table that follows it.
    if (!('data' in output) || 'image/svg+xml' in output.data) return [];
    const apl = 'metadata' in output ? (output.metadata.apl as Apl | undefined) : undefined;
    return apl?.limits.map(({ text }) => text) ?? [];
  });
}

interface Apl {
  readonly limits: readonly { readonly text: string }[];
}

async function importRows(
  bench: Bench,
  directory: string,
  name: string,
  rows: readonly object[],
): Promise<void> {
  const file = join(directory, `${name}.ndjson`);
  await writeFile(file, rows.map(row => JSON.stringify(row)).join('\n'));
  const { outcome } = await bench.run(`%import ${file} --dataset ${name}`);
  if (outcome.status === 'error') throw new Error(outcome.evalue);
}
