import { cpSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, test } from 'vitest';
import { type Answer, randomOf, rounds, temporaryDirectory, Victim } from '../bench.js';
import { damages, giveTo, stranger } from './damages.js';
import { Said } from './said.js';

/** The kinds of files in a data directory. */
const places: Readonly<Record<string, RegExp>> = {
  Parquet: /\.parquet$/,
  '.replaces': /\.replaces$/,
  'dataset.json': /dataset\.json$/,
  journal: /\.log$/,
  'starred query': /starred\/.*\.json$/,
  annotation: /annotations\/.*\.json$/,
  'kept summaries': /\.cache\/files\/.*\.json$/,
  'format.json': /^format\.json$/,
  'service.json': /^service\.json$/,
  lease: /^lease-\d+\.json$/,
};

interface Truth {
  readonly datasets: ReadonlyMap<string, string>;
  readonly stars: readonly string[];
  readonly annotations: readonly string[];
}

test('a damaged file stops nothing but what needs it, is named, and nothing untrue is shown', async () => {
  const base = await temporaryDirectory();
  const truth = await fill(base);
  const files = Object.entries(places).map(([place, pattern]) => [place, filesIn(base, pattern)] as const);
  expect(files.filter(([, found]) => found.length === 0)).toEqual([]);
  const random = randomOf('damages');
  const said = new Said();
  const cases = Object.keys(damages).flatMap(damage =>
    files.map(([place, found]) => ({ damage, place, found })),
  );
  const count = rounds('damages', cases.length, 2_000);
  for (let round = 0; round < count; round++) {
    const { damage, place, found } = cases[round % cases.length] as (typeof cases)[number];
    const file = found[Math.floor(random() * found.length)] ?? '';
    const dataDir = join(await temporaryDirectory(), 'data');
    cpSync(base, dataDir, { recursive: true, preserveTimestamps: true });
    if (damage === 'unreadable') giveTo(dataDir, stranger);
    damages[damage]?.(join(dataDir, file), random);
    const outcome = await consequences(dataDir, file, truth, damage === 'unreadable', round % 10 === 0).catch(
      error => {
        throw new Error(`round ${round}: ${file}, ${damage}`, { cause: error });
      },
    );
    said.add(place, damage, outcome);
    rmSync(dataDir, { recursive: true, force: true });
  }
  said.expectKnown();
});

/** Two datasets with replaced rows and batches in a log, two starred queries and two annotations; returns what they hold. */
async function fill(dataDir: string): Promise<Truth> {
  const imported = join(await temporaryDirectory(), 'in.ndjson');
  const first = await Victim.start(dataDir);
  for (const name of ['left', 'right']) {
    await first.send('POST', '/v2/datasets', { name, description: `Events of the ${name}` });
    for (const version of [1, 2]) {
      const lines = Array.from({ length: 3_000 }, (_, n) =>
        JSON.stringify({ _time: `2026-01-0${version}T00:00:00Z`, n, text: `${name} ${n} ${version}` }),
      );
      writeFileSync(imported, lines.join('\n'));
      const request = { path: imported, dataset: name, replace: version === 2 };
      expect((await first.send('POST', '/v1/local/import', request)).status).toBe(200);
    }
    await first.send('PUT', `/v2/datasets/${name}/fields/n`, { unit: 'ms', description: 'A number' });
  }
  for (const name of ['one', 'two']) {
    const query = { apl: 'left | count' };
    await first.send('POST', '/v2/apl-starred-queries', {
      kind: 'apl',
      metadata: {},
      name,
      who: 'local',
      query,
    });
    const time = '2026-01-02T00:00:00Z';
    await first.send('POST', '/v2/annotations', { type: 'deploy', title: name, datasets: ['left'], time });
  }
  await first.stop();
  // What is acknowledged and in no file yet stays in a log.
  const second = await Victim.start(dataDir);
  for (const name of ['left', 'right']) {
    await second.columns(`${name} | count`);
    const events = Array.from({ length: 5 }, (_, n) => ({
      _time: '2026-01-03T00:00:00Z',
      n: 10_000 + n,
      text: 'late',
    }));
    expect((await second.ingest(name, events)).status).toBe(200);
  }
  await second.kill();
  const copy = join(await temporaryDirectory(), 'data');
  cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true });
  const third = await Victim.start(copy);
  const datasets = new Map<string, string>();
  for (const name of ['left', 'right']) datasets.set(name, await contentOf(third, name));
  const truth = {
    datasets,
    stars: namesOf((await third.send('GET', '/v2/apl-starred-queries')).body),
    annotations: titlesOf((await third.send('GET', '/v2/annotations')).body),
  };
  await third.kill();
  expect(datasets.get('left')).toContain('3005');
  return truth;
}

/** Starts a service over the damaged directory, asks it for everything, and returns what it says of the damaged file. */
async function consequences(
  dataDir: string,
  file: string,
  truth: Truth,
  asStranger: boolean,
  everyLane: boolean,
): Promise<string> {
  const victim = await Victim.start(dataDir, asStranger ? { uid: stranger } : {});
  const said: string[] = [];
  expect(await victim.columns('print x = 7')).toEqual([[7]]);
  const listed = await victim.send('GET', '/v1/local/datasets');
  expect(listed.status).toBe(200);
  expect(namesOf(listed.body).filter(name => truth.datasets.has(name))).toEqual([...truth.datasets.keys()]);
  for (const [name, content] of truth.datasets) {
    const answer = await victim.query(contentQuery(name));
    const outcome = outcomeOf(answer, content, file);
    said.push(`${file.includes(`datasets/${name}/`) ? 'its dataset' : 'the other'} ${outcome}`);
    if (!file.includes(`datasets/${name}/`)) expect([file, name, outcome]).toEqual([file, name, 'right']);
    const info = listed.body.find((each: { name: string }) => each.name === name);
    if (outcome.startsWith('refused')) expect(JSON.stringify(info.problems)).toContain(file);
    if (outcome.startsWith('refused'))
      expect((await victim.send('DELETE', `/v2/datasets/${name}`)).status).toBe(204);
  }
  said.push(listOutcome(await victim.listing('/v2/apl-starred-queries'), namesOf, truth.stars, file));
  said.push(listOutcome(await victim.listing('/v2/annotations'), titlesOf, truth.annotations, file));
  if (everyLane) await victim.expectHealthy();
  await victim.kill();
  return said.filter(each => !each.endsWith('right')).join('; ') || 'changes nothing';
}

/** A dataset is right, refused with the name of the damaged file, or right but for what a notice names. */
function outcomeOf({ status, body }: Answer, content: string, file: string): string {
  // A log gets the name of the process that takes it in; its id stays.
  const id = /[0-9a-f-]{36}(?=\.log$)/.exec(file)?.[0] ?? file;
  if (status !== 200) {
    expect([status, String(body.message)]).toEqual([400, expect.stringContaining(id)]);
    return `refused: ${sentenceOf(body.message, id)}`;
  }
  const messages: readonly { readonly msg: string }[] = body.status.messages ?? [];
  const notice = messages.find(({ msg }) => msg.includes(id))?.msg;
  const isSame = JSON.stringify(body.tables[0].columns) === content;
  if (notice !== undefined)
    return `${isSame ? 'answered whole' : 'answered without some rows'}, with a notice: ${sentenceOf(notice, id)}`;
  expect([file, JSON.stringify(body.tables[0].columns)]).toEqual([file, content]);
  return 'right';
}

function listOutcome(
  { names, notice }: { readonly names: unknown; readonly notice: string },
  read: (body: unknown) => readonly string[],
  truth: readonly string[],
  file: string,
): string {
  const found = read(names);
  if (notice.includes(file)) {
    expect(found).toEqual(truth.filter(name => found.includes(name)));
    expect(found.length).toBe(truth.length - 1);
    return `listed without it, with a notice: ${sentenceOf(notice, file)}`;
  }
  // A letter of a name may be another one: such files are meant to be edited.
  if (!/^(?:starred|annotations)\//.test(file)) expect(found).toEqual(truth);
  expect(found.length).toBe(truth.length);
  return 'right';
}

/** A message with FILE for the path of the damaged one and D for a dataset, up to the end of its first sentence. */
function sentenceOf(message: unknown, file: string): string {
  const [first = ''] = String(message)
    .replace(/^\["/, '')
    .split(/(?<=\.)\s/);
  return first
    .replaceAll(/\S*\/[^\s:,;`]*/g, 'FILE')
    .replaceAll(file, 'FILE')
    .replaceAll(/\b(?:ann_)?[0-9a-f]{32}\b/g, 'ID')
    .replaceAll(/\b(?:left|right)\b/g, 'D');
}

const contentQuery = (name: string) =>
  `${name} | summarize rows = count(), sum(n), least = min(text), greatest = max(text), kinds = dcount(text)`;

async function contentOf(victim: Victim, name: string): Promise<string> {
  return JSON.stringify(await victim.columns(contentQuery(name)));
}

function namesOf(body: unknown): readonly string[] {
  return (body as readonly { readonly name: string }[]).map(each => each.name).sort();
}

function titlesOf(body: unknown): readonly string[] {
  return (body as readonly { readonly title: string }[]).map(each => each.title).sort();
}

/** The paths of files within a directory, with slashes. */
function filesIn(directory: string, pattern: RegExp): readonly string[] {
  return readdirSync(directory, { recursive: true })
    .map(name => String(name).split(sep).join('/'))
    .filter(name => pattern.test(name) && statSync(join(directory, name)).isFile());
}
