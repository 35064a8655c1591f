import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { serve } from '../../kernel/commands/service.js';
import { spawnEngine } from '../local/engine/spawned.js';
import { type Bench, type BenchOptions, type CellRun, startBench } from './session.js';

/** A local service that really runs, on a port of its own. */
export function realService(dataDir: string) {
  return serve({
    dataDir,
    version: '1.2.3',
    port: 0,
    managed: false,
    token: undefined,
    spawnEngine,
    log: () => undefined,
  });
}

/** An interpreter on a local service that really runs, over datasets that were really imported; one for all tests of a file. */
export function realBench(
  datasets: Readonly<Record<string, readonly object[]>>,
  options: Pick<BenchOptions, 'allowed'> = {},
): () => Bench {
  let bench: Bench | undefined;
  let end: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
    const service = await realService(dataDir);
    const { url, token } = service;
    const connect = async () => ({ url, token, restarted: false });
    const started = await startBench({ ...options, local: () => ({ connect, close: () => undefined }) });
    bench = started;
    end = async () => {
      await started.close();
      await service.close();
      await rm(dataDir, { recursive: true, force: true });
    };
    for (const [name, rows] of Object.entries(datasets)) await importRows(started, dataDir, name, rows);
  });
  afterAll(() => end());
  return () => {
    if (bench === undefined) throw new Error('the service has not started');
    return bench;
  };
}

/** The notices above each table that a cell showed. */
export function notices({ outcome, outputs }: CellRun): readonly string[] {
  if (outcome.status === 'error') return [outcome.evalue];
  return outputs.flatMap(output => {
    // A chart carries the facts of its table, which follows it.
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
