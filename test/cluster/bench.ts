import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProfileFile } from '../../kernel/api/profile.js';
import { realService } from '../notebook/real-bench.js';
import { type Bench, type BenchOptions, type CellRun, startBench } from '../notebook/session.js';

/** A notebook on a local service with configured clusters. */
export interface ClusterBench {
  readonly bench: Bench;
  readonly service: Awaited<ReturnType<typeof realService>>;
  /** Runs a cell; returns all of its output as text, with any error and hint. */
  readonly run: (code: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Starts a notebook with deployments in the format of `deployment`. */
export async function clusterBench(
  deployments: string,
  options: Pick<BenchOptions, 'workDir'> = {},
): Promise<ClusterBench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
  let profiles: ProfileFile | undefined;
  const service = await realService(dataDir, { deploymentOf: name => (profiles as ProfileFile).named(name) });
  const connect = async () => ({ url: service.url, token: service.token, restarted: false });
  const bench = await startBench({ ...options, local: () => ({ connect, close: () => undefined }) });
  profiles = new ProfileFile(bench.homeDir);
  await writeFile(join(bench.homeDir, '.axiom.toml'), deployments, { mode: 0o600 });
  const close = async () => {
    await bench.close();
    await service.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { bench, service, run: async code => shown(await bench.run(code)), close };
}

/** Returns the configuration section of a cluster deployment, with optional extra members. */
export function deployment(name: string, url: string, catalog: string, schema: string, more = ''): string {
  return `[deployments.${name}]\nengine = "trino"\nurl = "${url}"\nuser = "me"\ncatalog = "${catalog}"\nschema = "${schema}"\n${more}\n`;
}

function shown({ outcome, outputs }: CellRun): string {
  const texts = outputs.map(output =>
    'data' in output ? String(output.data['text/plain'] ?? '') : 'text' in output ? String(output.text) : '',
  );
  return [...texts, ...(outcome.status === 'error' ? [outcome.evalue, ...outcome.traceback] : [])].join('\n');
}
