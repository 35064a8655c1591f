import { execFile } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { eventsFile, sharedBucket } from '../../local/store/dataset/bucket/server.js';
import { type Answer, mainProgram, randomOf, rounds, temporaryDirectory, Victim } from '../bench.js';
import { damages, giveTo, stranger, zeroUnseen } from './damages.js';
import { Said } from './said.js';

const bucket = sharedBucket();

/** Cached data about objects in a bucket, by path below `.cache/buckets`. */
const ofBuckets: Readonly<Record<string, RegExp>> = {
  'footer of an object': /^footers\//,
  'row group of an object': /^chunks\/.*\.parquet$/,
  'note on a row group': /^chunks\/.*\.json$/,
};

interface Case {
  readonly place: string;
  readonly damage: string;
  readonly dataset: string;
}

const cases: readonly Case[] = Object.keys(ofBuckets).flatMap((place, row) =>
  Object.keys(damages).map((damage, column) => ({ place, damage, dataset: `far${row}${column}` })),
);

const timesMs = Array.from({ length: 500 }, (_, n) => Date.UTC(2026, 5, 1) + n * 1_000);
const contentOf = (dataset: string) => `${dataset} | summarize count(), sum(n), min(n), max(n), max(_time)`;

/** Fills a data directory with the cached data of one object for each case; returns the files to damage. */
async function filled(dataDir: string): Promise<{ truth: unknown; files: ReadonlyMap<Case, string> }> {
  const directory = join(dataDir, '.cache', 'buckets');
  const victim = await Victim.start(dataDir);
  const files = new Map<Case, string>();
  const seen = new Set<string>();
  const answers = new Set<string>();
  for (const each of cases) {
    await bucket.put(`${each.dataset}/a.parquet`, eventsFile(timesMs));
    const request = { path: `s3://logs/${each.dataset}`, dataset: each.dataset };
    expect((await victim.send('POST', '/v1/local/import', request)).status).toBe(200);
    answers.add(JSON.stringify(await victim.columns(contentOf(each.dataset))));
    const fresh = filesIn(directory).filter(file => !seen.has(file));
    for (const file of fresh) seen.add(file);
    const its = fresh.filter(file => ofBuckets[each.place]?.test(file));
    expect([each.place, its.length]).toEqual([each.place, 1]);
    files.set(each, join('.cache', 'buckets', its[0] ?? ''));
  }
  await victim.kill();
  const [truth = ''] = answers;
  expect(answers.size).toBe(1);
  return { truth: JSON.parse(truth), files };
}

function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true })
    .map(String)
    .filter(name => statSync(join(directory, name)).isFile());
}

test('damaged cache files of a bucket are fetched again, even while the service runs', async () => {
  const base = join(await temporaryDirectory(), 'data');
  const { truth, files } = await filled(base);
  const random = randomOf('caches');
  const said = new Said();
  const count = rounds(`starts beside ${cases.length} damaged caches, and damages beside them`, 1, 30);
  for (let round = 0; round < count; round++) {
    const dataDir = join(await temporaryDirectory(), 'data');
    cpSync(base, dataDir, { recursive: true, preserveTimestamps: true });
    giveTo(dataDir, stranger);
    const damage = () => {
      for (const [each, name] of files) {
        const file = join(dataDir, name);
        // A damaged file may still have been replaced by something else.
        if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) damages[each.damage]?.(file, random);
      }
    };
    damage();
    const victim = await Victim.start(dataDir, { uid: stranger });
    const expectTruth = async (about: unknown, { dataset }: Case) =>
      expect([about, ...told(await victim.query(contentOf(dataset)))]).toEqual([about, 200, truth]);
    for (const when of ['', ', while the service runs']) {
      if (when !== '') damage();
      for (const each of cases) {
        await expectTruth([round, when, each], each);
        bucket.taken();
        await expectTruth([round, when, each, 'again'], each);
        const isKept = bucket.taken().every(request => request.includes('list-type'));
        said.add(each.place, `${each.damage}${when}`, isKept ? 'read again' : 'read again by each query');
      }
    }
    for (const [each, name] of files) {
      if (!name.endsWith('.parquet')) continue;
      zeroUnseen(join(dataDir, name));
      await expectTruth([round, 'unseen', each], each);
      said.add(each.place, 'zeros, its time as it was, while the service runs', 'read again');
    }
    await victim.kill();
  }
  said.expectKnown();
});

function told({ status, body }: Answer): readonly unknown[] {
  return [status, body.tables?.[0]?.columns ?? body.message];
}

test('damaged compiled code is not run, and is compiled again', async () => {
  const random = randomOf('compiled');
  const said = new Said();
  const home = join(await temporaryDirectory(), 'home');
  const [whole, folder] = [join(home, 'whole'), join(home, 'compiled')];
  mkdirSync(home);
  giveTo(home, stranger);
  const run = (compiled: string) =>
    promisify(execFile)(process.execPath, [mainProgram, '--version'], {
      env: { PATH: process.env.PATH, HOME: home, APL_KERNEL_COMPILED: compiled },
      uid: stranger,
      gid: stranger,
    });
  const truth = await run(whole);
  const [name = ''] = readdirSync(whole);
  const all = Object.keys(damages);
  const count = rounds('starts beside damaged compiled code', all.length, 100);
  for (let round = 0; round < count; round++) {
    const damage = all[round % all.length] ?? '';
    rmSync(folder, { recursive: true, force: true });
    cpSync(whole, folder, { recursive: true, preserveTimestamps: true });
    giveTo(folder, stranger);
    damages[damage]?.(join(folder, name), random);
    expect([damage, await run(folder)]).toEqual([damage, truth]);
    expect(readdirSync(folder)).toEqual([name]);
    const isWhole = statSync(join(folder, name)).isFile() && readFileSync(join(folder, name)).length > 1_000;
    said.add('compiled code', damage, isWhole ? 'compiled again' : 'compiled by each start');
  }
  said.expectKnown();
});
