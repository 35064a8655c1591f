import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryDirectory, Victim } from '../bench.js';

/** Contents of a data directory. */
export interface Truth {
  /** Content of each dataset, by name. */
  readonly datasets: ReadonlyMap<string, string>;
  readonly stars: readonly string[];
  readonly annotations: readonly string[];
}

/** A dataset whose small files were merged. */
const mergedDataset = 'merged';

/**
 * Creates datasets with replaced rows and batches in a log, one with merged files, two starred queries and two annotations; returns
 * their contents.
 */
export async function fill(dataDir: string, datasets: readonly string[]): Promise<Truth> {
  await importInto(dataDir, datasets);
  const imported = join(await temporaryDirectory(), 'imported');
  cpSync(dataDir, imported, { recursive: true, preserveTimestamps: true });
  // On a busy machine a log may have been turned into a file before the service is killed.
  for (let tried = 1; !(await leaveLogs(dataDir, datasets)) && tried < mostTries; tried++) {
    rmSync(dataDir, { recursive: true });
    cpSync(imported, dataDir, { recursive: true, preserveTimestamps: true });
  }
  const copy = join(await temporaryDirectory(), 'data');
  cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true });
  const victim = await Victim.start(copy);
  const contents = new Map<string, string>();
  const names = [...datasets, mergedDataset].sort();
  for (const name of names) contents.set(name, await contentOf(victim, name));
  const truth = {
    datasets: contents,
    stars: namesOf((await victim.send('GET', '/v2/apl-starred-queries')).body),
    annotations: titlesOf((await victim.send('GET', '/v2/annotations')).body),
  };
  await victim.kill();
  const rows = [...contents.values()].map(content => JSON.parse(content)[0]);
  expect(rows).toEqual(names.map(name => [name === mergedDataset ? fewestMerged : 3005]));
  return truth;
}

async function importInto(dataDir: string, datasets: readonly string[]): Promise<void> {
  const imported = join(await temporaryDirectory(), 'in.ndjson');
  const victim = await Victim.start(dataDir);
  for (const name of datasets) {
    await victim.send('POST', '/v2/datasets', { name, description: `Events of ${name}` });
    for (const version of [1, 2]) {
      const lines = Array.from({ length: 3_000 }, (_, n) =>
        JSON.stringify({ _time: `2026-01-0${version}T00:00:00Z`, n, text: `${name} ${n} ${version}` }),
      );
      writeFileSync(imported, lines.join('\n'));
      const request = { path: imported, dataset: name, replace: version === 2 };
      expect((await victim.send('POST', '/v1/local/import', request)).status).toBe(200);
    }
    await victim.send('PUT', `/v2/datasets/${name}/fields/n`, { unit: 'ms', description: 'A number' });
  }
  const [first = ''] = datasets;
  for (const name of ['one', 'two']) {
    const query = { apl: `${first} | count` };
    const star = { kind: 'apl', metadata: {}, name, who: 'local', query };
    await victim.send('POST', '/v2/apl-starred-queries', star);
    const time = '2026-01-02T00:00:00Z';
    await victim.send('POST', '/v2/annotations', { type: 'deploy', title: name, datasets: [first], time });
  }
  await mergeFiles(victim, imported);
  await victim.stop();
}

/** Minimum number of files that are merged. */
const fewestMerged = 8;

async function mergeFiles(victim: Victim, imported: string): Promise<void> {
  for (let n = 0; n < fewestMerged; n += 1) {
    writeFileSync(imported, JSON.stringify({ _time: '2026-01-01T00:00:00Z', n, text: `part ${n}` }));
    const request = { path: imported, dataset: mergedDataset };
    expect((await victim.send('POST', '/v1/local/import', request)).status).toBe(200);
  }
  // Files are merged a while after they are first read.
  expect(await victim.columns(`${mergedDataset} | count`)).toEqual([[fewestMerged]]);
  await expect.poll(() => mergedFiles(victim.dataDir), { interval: 50 }).toHaveLength(1);
}

/** Returns the paths of merged files below a data directory; each lists the files that it replaces. */
export function mergedFiles(dataDir: string): readonly string[] {
  return readdirSync(join(dataDir, 'datasets', mergedDataset))
    .filter(name => name.endsWith('.parquet'))
    .map(name => `datasets/${mergedDataset}/${name}`)
    .filter(file => readFileSync(join(dataDir, file)).includes('"replaces":["'));
}

const mostTries = 20;

/** Leaves acknowledged events in a log, before they are in a file; returns whether each dataset has a log. */
async function leaveLogs(dataDir: string, datasets: readonly string[]): Promise<boolean> {
  const victim = await Victim.start(dataDir);
  const events = Array.from({ length: 5 }, (_, n) => ({
    _time: '2026-01-03T00:00:00Z',
    n: 10_000 + n,
    text: 'late',
  }));
  for (const name of datasets) await victim.columns(`${name} | count`);
  // Concurrently: events in a log become a file after a while.
  const answers = await Promise.all(datasets.map(name => victim.ingest(name, events)));
  await victim.kill();
  expect(answers.map(({ status }) => status)).toEqual(datasets.map(() => 200));
  return datasets.every(name =>
    readdirSync(join(dataDir, 'datasets', name)).some(each => each.endsWith('.log')),
  );
}

/** Returns a query that summarizes all data in a dataset. */
export function contentQuery(name: string): string {
  return `${name} | summarize rows = count(), sum(n), least = min(text), greatest = max(text), kinds = dcount(text)`;
}

async function contentOf(victim: Victim, name: string): Promise<string> {
  return JSON.stringify(await victim.columns(contentQuery(name)));
}

/** Returns the names in a listing, in order. */
export function namesOf(body: unknown): readonly string[] {
  return (body as readonly { readonly name: string }[]).map(each => each.name).sort();
}

/** Returns the titles of annotations, in order. */
export function titlesOf(body: unknown): readonly string[] {
  return (body as readonly { readonly title: string }[]).map(each => each.title).sort();
}
