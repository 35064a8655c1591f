import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { checkData } from '../../../kernel/local/check/check.js';
import { type LayoutName, layout } from '../../../kernel/local/data-layout.js';
import { type Answer, isCampaign, mainProgram, temporaryDirectory, Victim } from '../bench.js';
import { giveTo, stranger } from './damages.js';
import { namesOf, titlesOf } from './data.js';

/** Obstacles in place of a file or directory. */
const places: Readonly<Record<string, (path: string) => void>> = {
  'a directory with a file': path => {
    mkdirSync(path);
    chownSync(path, stranger, stranger);
    writeFileSync(join(path, 'inside'), 'x');
  },
  'a directory of another user': path => {
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(path, 'inside'), 'x');
  },
  'a file of another program': path => writeFileSync(path, 'neither JSON nor a directory\n'),
  'a file of another user': path => {
    writeFileSync(path, '{}\n');
    chmodSync(path, 0o600);
  },
  'a named pipe': path => void execFileSync('mkfifo', ['-m', '666', path]),
  'a link to itself': path => symlinkSync(path, path),
  'a link that leads nowhere': path => symlinkSync(join(path, '..', 'unmounted', 'data'), path),
};

const named = (owner: 'user' | 'ours') =>
  (Object.keys(layout) as LayoutName[]).filter(name => layout[name].of === owner);

/** Runs the program as a user unknown to the system, as in a container. */
async function runAs(home: string, args: readonly string[]): Promise<string> {
  const env = { HOME: home, PATH: process.env.PATH, APL_KERNEL_DATA: join(home, 'data') };
  const options = { cwd: home, env, uid: stranger, gid: stranger };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [mainProgram, ...args], options);
  return stdout + stderr;
}

/** Runs a notebook of one query, which starts a service, and returns its output. */
async function answerIn(home: string): Promise<string> {
  const [script, output] = [join(home, 'n.apl'), join(home, 'out.ipynb')];
  writeFileSync(script, 'range n from 1 to 3 step 1 | summarize total = sum(n)\n');
  onTestFinished(() => runAs(home, ['serve', '--stop']).then(() => undefined));
  await runAs(home, ['run', script, '-o', output]);
  const { cells } = JSON.parse(readFileSync(output, 'utf8'));
  return [cells.at(-1).outputs.at(-1).data['text/plain']].flat().join('');
}

test.each(Object.entries(places))(
  'with %s in place of every file of the data directory, queries still run',
  async (_, place) => {
    const home = await temporaryDirectory();
    const dataDir = join(home, 'data');
    mkdirSync(dataDir);
    giveTo(dataDir, stranger);
    // Another profile, which local queries do not need.
    writeFileSync(
      join(home, '.axiom.toml'),
      '[deployments.prod]\nurl = "https://api.example.org"\ntoken = "none"\n',
    );
    for (const name of Object.keys(layout)) place(join(dataDir, name));
    expect(await answerIn(home)).toMatch(/total\n─+\n\s+6\n/);
  },
);

const event = { _time: '2026-01-01T00:00:00Z', n: 7 };
const star = { kind: 'apl', metadata: {}, name: 'one', who: 'local', query: { apl: 'whole | count' } };
const mark = { type: 'deploy', title: 'one', datasets: ['whole'], time: event._time };

/** Creates a data directory with a file of each kind, owned by the stranger. */
async function whole(): Promise<string> {
  const dataDir = join(await temporaryDirectory(), 'data');
  const victim = await Victim.start(dataDir);
  expect((await victim.send('POST', '/v2/datasets', { name: 'whole' })).status).toBe(200);
  expect((await victim.ingest('whole', [event])).status).toBe(200);
  expect((await victim.send('POST', '/v2/apl-starred-queries', star)).status).toBe(200);
  expect((await victim.send('POST', '/v2/annotations', mark)).status).toBe(201);
  await victim.stop();
  mkdirSync(join(dataDir, 'external'));
  writeFileSync(join(dataDir, 'external', 'x.csv'), 'a\n1\n');
  giveTo(dataDir, stranger);
  return dataDir;
}

/** Response to a request, with its notice. */
type Told = readonly [status: number, body: unknown, notice?: string];

interface Question {
  /** Without it, there is no right answer. */
  readonly needs?: LayoutName;
  ask(victim: Victim): Promise<Told>;
}

/** One question of each kind, reads before writes. */
const questions: Readonly<Record<string, Question>> = {
  'a query without data': { ask: victim => rowsOf(victim, 'print x = 7') },
  'a query of a sample': { ask: victim => rowsOf(victim, "['sample-http-logs'] | take 1 | project x = 7") },
  'a query of a dataset': { needs: 'datasets', ask: victim => rowsOf(victim, 'whole | summarize sum(n)') },
  'a query of all datasets': {
    needs: 'datasets',
    ask: victim => rowsOf(victim, 'union wh* | summarize sum(n)'),
  },
  'a query of a dataset that is not there': {
    needs: 'datasets',
    ask: victim => rowsOf(victim, 'hole | count'),
  },
  'a query of a file': {
    needs: 'external',
    ask: victim =>
      rowsOf(victim, 'externaldata (a: long) ["x.csv"] with (format="csv", ignoreFirstRecord=true)'),
  },
  'the list of datasets': {
    needs: 'datasets',
    ask: async victim => {
      const { status, body } = await victim.send('GET', '/v1/local/datasets');
      return [status, status === 200 ? namesOf(body) : body.message];
    },
  },
  'the list of starred queries': {
    needs: 'starred',
    ask: victim => listOf(victim, '/v2/apl-starred-queries', namesOf),
  },
  'the list of annotations': {
    needs: 'annotations',
    ask: victim => listOf(victim, '/v2/annotations', titlesOf),
  },
  'an event': { needs: 'datasets', ask: async victim => statusOf(await victim.ingest('whole', [event])) },
  'a dataset': {
    needs: 'datasets',
    ask: async victim => statusOf(await victim.send('POST', '/v2/datasets', { name: 'another' })),
  },
  'a starred query': {
    needs: 'starred',
    ask: async victim => statusOf(await victim.send('POST', '/v2/apl-starred-queries', star)),
  },
  'an annotation': {
    ask: async victim => {
      const about = { ...mark, datasets: ['sample-http-logs'] };
      return statusOf(await victim.send('POST', '/v2/annotations', about));
    },
    needs: 'annotations',
  },
};

async function rowsOf(victim: Victim, apl: string): Promise<Told> {
  const { status, body } = await victim.query(apl);
  return [status, status === 200 ? body.tables[0].columns : body.message];
}

async function listOf(
  victim: Victim,
  path: string,
  read: (body: unknown) => readonly string[],
): Promise<Told> {
  const { names, notice } = await victim.listing(path);
  return [200, read(names), notice];
}

function statusOf({ status, body }: Answer): Told {
  return status < 300 ? [status, undefined] : [status, body.message];
}

async function answersIn(dataDir: string): Promise<ReadonlyMap<string, Told>> {
  const victim = await Victim.start(dataDir, { uid: stranger });
  const answers = new Map<string, Told>();
  for (const [name, { ask }] of Object.entries(questions)) answers.set(name, await ask(victim));
  await victim.kill();
  return answers;
}

async function copyOf(directory: string): Promise<string> {
  const copy = join(await temporaryDirectory(), 'data');
  cpSync(directory, copy, { recursive: true });
  giveTo(copy, stranger);
  return copy;
}

test('an obstacle in place of a file is reported by what needs the file, and by nothing else', async () => {
  const base = await whole();
  const truth = await answersIn(await copyOf(base));
  expect([...truth.values()].filter(([status]) => status >= 300)).toEqual([
    [400, 'unknown dataset `hole`. Did you mean `whole`?'],
  ]);
  const names = named('user');
  // Each obstacle and each name at least once; a campaign tries every combination.
  const pairs = Object.entries(places).flatMap(([what, place], row) =>
    names.flatMap((name, column) => ((row + column) % 3 === 0 || isCampaign ? [{ what, place, name }] : [])),
  );
  for (const { what, place, name } of pairs) {
    const dataDir = await copyOf(base);
    const path = join(dataDir, name);
    rmSync(path, { recursive: true });
    place(path);
    for (const ours of named('ours')) {
      rmSync(join(dataDir, ours), { recursive: true, force: true });
      place(join(dataDir, ours));
    }
    const isEmpty = what === 'a directory with a file';
    const reported = (await checkData(dataDir)).faults.map(({ file }) => file);
    // This process can read even unreadable files.
    if (!what.includes('of another user') && !isEmpty) expect(reported).toContain(path);
    for (const [question, told] of await answersIn(dataDir)) {
      const about = [what, name, question];
      if (questions[question]?.needs !== name) expect([about, told]).toEqual([about, truth.get(question)]);
      // Query responses do not contain local paths.
      else if (!isEmpty)
        expect([about, JSON.stringify(told)]).toEqual([
          about,
          expect.stringContaining(name === 'external' ? '`external`' : path),
        ]);
    }
  }
});
