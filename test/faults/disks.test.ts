import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { create } from 'tar';
import { expect, onTestFinished, test } from 'vitest';
import { samples } from '../../kernel/local/samples/all-samples.js';
import { present } from '../../kernel/present.js';
import { freeze, temporaryDirectory, Victim } from './bench.js';

/** A disk problem of a running service: how it begins and ends, and the error for writes in the meantime. */
interface Condition {
  /** Options of the file system; absent if it needs no mount of its own. */
  readonly mount?: string;
  /** User to run the service as. */
  readonly uid?: number;
  readonly begin: (dataDir: string) => void;
  readonly end: (dataDir: string) => void;
  readonly status: number;
  readonly code: string;
  readonly reason: RegExp;
  /** Whether files can still be deleted, which frees space. */
  readonly deletes: boolean;
}

const nobody = 65_534;

const fullDisk =
  /^(?:The operation failed(?: in \/.*)?: the disk is full\.|The disk with the local service is full\.|The disk with \/.* is full: nothing was stored\.)$/;

const conditions: Readonly<Record<string, Condition>> = {
  'becomes read-only': {
    mount: 'size=32m',
    begin: dataDir => void execFileSync('mount', ['-o', 'remount,ro', dataDir]),
    end: dataDir => void execFileSync('mount', ['-o', 'remount,rw', dataDir]),
    status: 507,
    code: 'not-writable',
    reason: /^The operation failed in \/.*: the file system is read-only\.$/,
    deletes: false,
  },
  'has no space left': {
    mount: 'size=32m',
    begin: dataDir =>
      expect(() => writeFileSync(join(dataDir, 'filler'), Buffer.alloc(64 * 2 ** 20))).toThrow('ENOSPC'),
    end: dataDir => rmSync(join(dataDir, 'filler')),
    status: 507,
    code: 'engine-disk',
    reason: fullDisk,
    deletes: true,
  },
  'has room for no more files': {
    mount: 'size=32m,nr_inodes=160',
    begin: dataDir => {
      mkdirSync(join(dataDir, 'fillers'));
      const fill = () => {
        for (let index = 0; ; index++) writeFileSync(join(dataDir, 'fillers', String(index)), '');
      };
      expect(fill).toThrow('ENOSPC');
    },
    end: dataDir => rmSync(join(dataDir, 'fillers'), { recursive: true }),
    status: 507,
    code: 'engine-disk',
    reason: fullDisk,
    deletes: true,
  },
  'belongs to somebody else': {
    uid: nobody,
    begin: dataDir => permit(dataDir, 0o555),
    end: dataDir => permit(dataDir, 0o755),
    status: 507,
    code: 'not-writable',
    reason: /^The operation failed in \/.*: the permission is missing\.$/,
    deletes: false,
  },
};

/** Sets the permissions of all directories that are written to. */
function permit(dataDir: string, mode: number): void {
  for (const below of ['starred', 'annotations', 'datasets', 'datasets/d', '.tmp', ''])
    chmodSync(join(dataDir, below), mode);
}

const star = { kind: 'apl', name: 's', who: 'local', metadata: {}, query: { apl: 'd' } };
const note = { datasets: ['d'], type: 'deploy', time: '2026-06-15T10:00:00Z' };

interface Prepared {
  readonly star: string;
  readonly annotation: string;
  /** A file to import. */
  readonly file: string;
}

/** All kinds of writes. */
const writing: Readonly<Record<string, (victim: Victim, prepared: Prepared) => ReturnType<Victim['send']>>> =
  {
    'create a starred query': victim => victim.send('POST', '/v2/apl-starred-queries', star),
    'replace a starred query': (victim, { star: id }) =>
      victim.send('PUT', `/v2/apl-starred-queries/${id}`, { ...star, name: 't' }),
    'create an annotation': victim => victim.send('POST', '/v2/annotations', note),
    'change an annotation': (victim, { annotation }) =>
      victim.send('PUT', `/v2/annotations/${annotation}`, { title: 'x' }),
    'create a dataset': victim => victim.send('POST', '/v2/datasets', { name: 'e' }),
    'import a file': (victim, { file }) =>
      victim.send('POST', '/v1/local/import', { path: file, dataset: 'imported' }),
    'describe a field': victim => victim.send('PUT', '/v2/datasets/d/fields/a', { unit: 'ms' }),
  };

/** All kinds of deletions. */
const deleting: typeof writing = {
  'delete a starred query': (victim, { star: id }) => victim.send('DELETE', `/v2/apl-starred-queries/${id}`),
  'delete an annotation': (victim, { annotation }) => victim.send('DELETE', `/v2/annotations/${annotation}`),
  'delete a dataset': victim => victim.send('DELETE', '/v2/datasets/d'),
};

const sample = {
  apl: "['sample-http-logs'] | take 1 | count",
  startTime: '2026-06-15T10:00:00Z',
  endTime: '2026-06-15T10:01:00Z',
};

/** Runs all kinds of reads; returns their results. */
async function read(victim: Victim): Promise<unknown> {
  const names = async (path: string) => (await victim.send('GET', path)).body.length;
  return {
    print: await victim.columns('print x = 1'),
    samples: (await victim.send('POST', '/v1/datasets/_apl?format=tabular', sample)).body.tables[0].columns,
    stored: await victim.columns('d | summarize sum(a)'),
    datasets: await names('/v2/datasets'),
    stars: await names('/v2/apl-starred-queries'),
    annotations: await names('/v2/annotations'),
  };
}

const found = {
  print: [[1]],
  samples: [[1]],
  stored: [[3]],
  datasets: samples.length + 1,
  stars: 1,
  annotations: 1,
};

test.each(Object.entries(conditions))(
  'a data directory that %s can be read, and writes say why they fail',
  async (name, condition) => {
    const dataDir = await temporaryDirectory();
    if (condition.mount !== undefined && !mounted(dataDir, condition.mount, name)) return;
    if (condition.uid !== undefined) chownSync(dataDir, condition.uid, condition.uid);
    const elsewhere = await temporaryDirectory();
    chmodSync(elsewhere, 0o755);
    const file = join(elsewhere, 'rows.ndjson');
    writeFileSync(
      file,
      Array.from({ length: 20_000 }, (_, a) => `{"a":${a},"b":"${Math.sin(a)}"}`).join('\n'),
    );
    const victim = await Victim.start(dataDir, present({ uid: condition.uid }));
    await victim.send('POST', '/v2/datasets', { name: 'd' });
    await victim.ingest('d', [{ a: 1 }, { a: 2 }]);
    const prepared = {
      file,
      star: (await victim.send('POST', '/v2/apl-starred-queries', star)).body.id,
      annotation: (await victim.send('POST', '/v2/annotations', note)).body.id,
    };
    expect(await read(victim)).toEqual(found);
    const before = contentOf(dataDir);

    condition.begin(dataDir);
    const refused = [condition.status, condition.code, expect.stringMatching(condition.reason)];
    for (const [operation, write] of Object.entries(writing)) {
      expect([operation, ...said(await write(victim, prepared))]).toEqual([operation, ...refused]);
      expect([operation, await read(victim)]).toEqual([operation, found]);
    }
    if (!condition.deletes)
      for (const [operation, remove] of Object.entries(deleting))
        expect([operation, ...said(await remove(victim, prepared))]).toEqual([operation, ...refused]);
    expect(await read(victim)).toEqual(found);
    const undone = contentOf(dataDir);
    condition.end(dataDir);
    expect([undone.filter(name => !/^fillers?/.test(name)), contentOf(dataDir)]).toEqual([before, before]);

    if (condition.deletes) condition.begin(dataDir);
    else
      for (const [operation, write] of Object.entries(writing))
        expect([operation, Math.floor((await write(victim, prepared)).status / 100)]).toEqual([operation, 2]);
    for (const [operation, remove] of Object.entries(deleting))
      expect([operation, (await remove(victim, prepared)).status]).toEqual([operation, 204]);
  },
);

/** A service running as another user has its own runtime directory, which is not checked here. */
const ownConditions = Object.entries(conditions).filter(([, { uid }]) => uid === undefined);

test.each(ownConditions)(
  'a data directory that %s before the service starts can be read, and writes say why they fail',
  async (name, condition) => {
    const dataDir = await temporaryDirectory();
    if (condition.mount !== undefined && !mounted(dataDir, condition.mount, name)) return;
    const first = await Victim.start(dataDir);
    await first.send('POST', '/v2/datasets', { name: 'd' });
    await first.ingest('d', [{ a: 1 }, { a: 2 }]);
    const prepared = {
      file: fileURLToPath(import.meta.url),
      star: (await first.send('POST', '/v2/apl-starred-queries', star)).body.id,
      annotation: (await first.send('POST', '/v2/annotations', note)).body.id,
    };
    await first.stop();
    const before = contentOf(dataDir);

    condition.begin(dataDir);
    const second = await Victim.start(dataDir);
    expect(await read(second)).toEqual(found);
    const refused = [condition.status, condition.code, expect.stringMatching(condition.reason)];
    for (const [operation, write] of Object.entries({ ...writing, ...deleting }))
      expect([operation, ...said(await write(second, prepared))]).toEqual([operation, ...refused]);
    const events = await second.ingest('d', [{ a: 3 }]);
    expect(said(events)).toEqual(refused);
    expect(await read(second)).toEqual(found);
    condition.end(dataDir);
    expect(contentOf(dataDir)).toEqual(before);
  },
);

/** Returns the error in a response. */
function said({ status, body }: Awaited<ReturnType<Victim['send']>>): readonly unknown[] {
  return [status, body?.detail?.errorType, body?.detail?.message];
}

/** Mounts a file system in memory; returns false, and prints why, if that is not permitted. */
function mounted(directory: string, options: string, name: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', directory], { stdio: 'pipe' });
  } catch (error) {
    console.log(`a data directory that ${name}: not tried, as nothing can be mounted here (${error})`);
    return false;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', directory]));
  return true;
}

/** Returns all paths except the engines' scratch files and the summaries, which a service caches after ten seconds. */
function contentOf(dataDir: string): readonly string[] {
  return readdirSync(dataDir, { recursive: true })
    .map(String)
    .filter(name => !/^\.(?:tmp|cache)/.test(name))
    .sort();
}

test('events of a killed service are reported in a read-only directory, and stored later', async () => {
  const dataDir = await temporaryDirectory();
  if (!mounted(dataDir, 'size=32m', 'holds a log and becomes read-only')) return;
  const first = await Victim.start(dataDir);
  for (const name of ['d', 'e']) {
    await first.send('POST', '/v2/datasets', { name });
    await first.ingest(name, [{ a: 1 }]);
    expect(await first.columns(`${name} | count`)).toEqual([[1]]);
  }
  // Otherwise the events would be stored within a second.
  await freeze(first.pid);
  const ingested = first.ingest('d', [{ a: 2 }, { a: 3 }]);
  process.kill(first.pid, 'SIGCONT');
  expect((await ingested).status).toBe(200);
  await first.kill();
  const logs = () => readdirSync(join(dataDir, 'datasets', 'd')).filter(name => name.endsWith('.log'));
  const before = logs();
  expect(before.length).toBe(1);
  execFileSync('mount', ['-o', 'remount,ro', dataDir]);
  const second = await Victim.start(dataDir);
  expect(said(await second.query('d | count'))).toEqual([
    507,
    'not-writable',
    'The dataset `d` has logged events that cannot be stored: the file system is read-only.',
  ]);
  expect(await second.columns('e | count')).toEqual([[1]]);
  const { body } = await second.send('GET', '/v1/local/datasets/d');
  expect(body.problems).toEqual(['acknowledged events are not stored yet: the file system is read-only']);
  await second.kill();
  expect(logs()).toEqual(before);
  execFileSync('mount', ['-o', 'remount,rw', dataDir]);
  const third = await Victim.start(dataDir);
  expect(await third.columns('d | summarize count(), sum(a)')).toEqual([[3], [6]]);
  expect(logs()).toEqual([]);
});

/** Files of 48 MB of zeros, compressed: more than the disk of their test holds. */
const bombs: Readonly<Record<string, (directory: string) => Promise<string>>> = {
  'an archive': async directory => {
    writeFileSync(join(directory, 'app.log'), Buffer.alloc(48 * 2 ** 20));
    await create({ gzip: true, file: join(directory, 'logs.tar.gz'), cwd: directory }, ['app.log']);
    return join(directory, 'logs.tar.gz');
  },
  'two files': async directory => {
    mkdirSync(join(directory, 'logs'));
    const packed = gzipSync(Buffer.alloc(24 * 2 ** 20));
    for (const name of ['a.log.gz', 'b.log.gz']) writeFileSync(join(directory, 'logs', name), packed);
    return join(directory, 'logs');
  },
};

test.each(Object.entries(bombs))(
  'an import of %s that unpacks to more than the disk has is refused, and ingestion continues',
  async (name, write) => {
    const dataDir = await temporaryDirectory();
    if (!mounted(dataDir, 'size=32m', `takes ${name}`)) return;
    const victim = await Victim.start(dataDir);
    await victim.send('POST', '/v2/datasets', { name: 'd' });
    const path = await write(await temporaryDirectory());
    const statuses = new Set<number>();
    let over = false;
    const ingesting = (async () => {
      for (; !over; ) statuses.add((await victim.ingest('d', [{ a: 1 }])).status);
    })();
    const refused = await victim.send('POST', '/v1/local/import', { path, dataset: 'e' });
    over = true;
    await ingesting;
    expect(said(refused)).toEqual([
      507,
      'engine-disk',
      'The disk has no space left for an unpacked copy of the import.',
    ]);
    expect([...statuses]).toEqual([200]);
    expect(statfsSync(dataDir).bavail * statfsSync(dataDir).bsize).toBeGreaterThan(20 * 2 ** 20);
  },
);
