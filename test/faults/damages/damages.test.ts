import { cpSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, test } from 'vitest';
import { checkData } from '../../../kernel/local/check/check.js';
import { changedReason } from '../../../kernel/local/sealed.js';
import { type Answer, randomOf, rounds, temporaryDirectory, Victim } from '../bench.js';
import { damages, damagesAndEdits, giveTo, namedOf, stranger } from './damages.js';
import { contentQuery, fill, mergedFiles, namesOf, type Truth, titlesOf } from './data.js';
import { Said } from './said.js';

/** Kinds of files in a dataset. */
const ofDatasets: Readonly<Record<string, RegExp>> = {
  Parquet: /\.parquet$/,
  '.replaces': /\.replaces$/,
  'dataset.json': /dataset\.json$/,
  journal: /\.log$/,
  'kept summaries': /\.cache\/files\/.*\.json$/,
};

/** Kinds of files in a data directory outside its datasets. */
const ofDirectory: Readonly<Record<string, RegExp>> = {
  'starred query': /^starred\/.*\.json$/,
  annotation: /^annotations\/.*\.json$/,
  'format.json': /^format\.json$/,
  'service.json': /^service\.json$/,
  lease: /^lease-\d+\.json$/,
};

/** Datasets that each have one damaged file at each start. */
const hurt = Array.from({ length: 16 }, (_, n) => `hurt${n + 10}`);

interface Damaged {
  readonly place: string;
  readonly damage: string;
  /** Path relative to the data directory. */
  readonly file: string;
}

test('a damaged file affects only what needs it, is named, and never gives wrong data', async () => {
  const base = await temporaryDirectory();
  const truth = await fill(base, [...hurt, 'whole']);
  const random = randomOf('damages');
  const said = new Said();
  const each = hurt.length + Object.keys(ofDirectory).length + 1;
  // At least each damage of a dataset once; fifteen starts cover each damage of every kind of file.
  const count = rounds(`starts beside ${each} damages`, 6, 100);
  const cases = casesOf(base, count, random);
  for (const [round, damaged] of cases.entries()) {
    const dataDir = join(await temporaryDirectory(), 'data');
    cpSync(base, dataDir, { recursive: true, preserveTimestamps: true });
    giveTo(dataDir, stranger);
    for (const { damage, file } of damaged) damagesAndEdits[damage]?.(join(dataDir, file), random);
    try {
      const outcomes = await consequences(dataDir, damaged, truth);
      for (const [{ place, damage }, outcome] of outcomes) said.add(place, damage, outcome);
    } catch (error) {
      throw new Error(`start ${round}: ${JSON.stringify(damaged)}`, { cause: error });
    }
    rmSync(dataDir, { recursive: true, force: true });
  }
  said.expectKnown();
});

/** Damage to a whole file: a flipped bit within values is only noticed by the next start. */
const ofWhole = Object.keys(damages).filter(damage => damage !== 'flipped');

test('a file damaged while the service runs is named by the next query, which does not hang', async () => {
  const dataDir = join(await temporaryDirectory(), 'data');
  const first = await Victim.start(dataDir);
  for (const index of ofWhole.keys()) {
    expect((await first.send('POST', '/v2/datasets', { name: `hurt${index}` })).status).toBe(200);
    expect((await first.ingest(`hurt${index}`, [{ n: 1 }, { n: 2 }])).status).toBe(200);
  }
  await first.stop();
  giveTo(dataDir, stranger);
  const victim = await Victim.start(dataDir, { uid: stranger });
  const random = randomOf('damages while it runs');
  const said = new Said();
  for (const [index, damage] of ofWhole.entries()) {
    const query = `hurt${index} | summarize sum(n)`;
    expect(await victim.columns(query)).toEqual([[3]]);
    const [file = ''] = filesIn(dataDir).filter(
      each => each.startsWith(`datasets/hurt${index}/`) && each.endsWith('.parquet'),
    );
    damages[damage]?.(join(dataDir, file), random);
    said.add(
      'Parquet',
      `${damage}, while the service runs`,
      `its dataset ${outcomeOf(await victim.query(query), '', file)}`,
    );
  }
  said.expectKnown();
});

/** Returns the files to damage at each start: one of each dataset, a merged one, and one of each other kind. */
function casesOf(base: string, count: number, random: () => number): readonly (readonly Damaged[])[] {
  const files = filesIn(base);
  const [merged = ''] = mergedFiles(base);
  const kinds = Object.keys(damagesAndEdits);
  const inDatasets = kinds.flatMap(damage =>
    Object.entries(ofDatasets).map(([place, pattern]) => ({ place, damage, pattern })),
  );
  const oneOf = (pattern: RegExp, dataset?: string) => {
    const found = files.filter(
      file => pattern.test(file) && (dataset ?? datasetOf(file)) === datasetOf(file),
    );
    expect([pattern, found.length]).not.toEqual([pattern, 0]);
    return found[Math.floor(random() * found.length)] ?? '';
  };
  return Array.from({ length: count }, (_, round) => [
    ...hurt.map((dataset, index) => {
      const kind = inDatasets[
        (round * hurt.length + index) % inDatasets.length
      ] as (typeof inDatasets)[number];
      return { place: kind.place, damage: kind.damage, file: oneOf(kind.pattern, dataset) };
    }),
    ...Object.entries(ofDirectory).map(([place, pattern], index) => ({
      place,
      damage: kinds[(round + index) % kinds.length] ?? '',
      file: oneOf(pattern),
    })),
    { place: 'merged file', damage: kinds[round % kinds.length] ?? '', file: merged },
  ]);
}

/** Starts a service on the damaged directory, queries everything, and returns the reported outcome for each damaged file. */
async function consequences(
  dataDir: string,
  damaged: readonly Damaged[],
  truth: Truth,
): Promise<ReadonlyMap<Damaged, string>> {
  const reported = (await checkData(dataDir)).faults.map(({ file }) =>
    slashed(file.slice(dataDir.length + 1)),
  );
  const victim = await Victim.start(dataDir, { uid: stranger });
  const outcomes = new Map<Damaged, string>();
  expect(await victim.columns('print x = 7')).toEqual([[7]]);
  const listed = await victim.send('GET', '/v1/local/datasets');
  expect(listed.status).toBe(200);
  expect(namesOf(listed.body).filter(name => truth.datasets.has(name))).toEqual([...truth.datasets.keys()]);
  for (const [name, content] of truth.datasets) {
    const its = damaged.find(({ file }) => datasetOf(file) === name);
    const answer = await victim.query(contentQuery(name));
    const outcome = outcomeOf(answer, content, its === undefined ? 'no file' : namedOf(its.damage, its.file));
    if (its === undefined) expect([name, outcome]).toEqual([name, 'right']);
    else outcomes.set(its, outcome === 'right' ? harmless : `its dataset ${outcome}`);
    if (!outcome.startsWith('refused')) continue;
    const info = listed.body.find((each: { name: string }) => each.name === name);
    expect(JSON.stringify(info.problems)).toContain(its && namedOf(its.damage, its.file));
    expect((await victim.send('DELETE', `/v2/datasets/${name}`)).status).toBe(204);
  }
  const lists = [
    { place: 'starred query', path: '/v2/apl-starred-queries', read: namesOf, names: truth.stars },
    { place: 'annotation', path: '/v2/annotations', read: titlesOf, names: truth.annotations },
  ];
  for (const { place, path, read, names } of lists) {
    const its = damaged.find(each => each.place === place) as Damaged;
    outcomes.set(its, listOutcome(await victim.listing(path), read, names, namedOf(its.damage, its.file)));
  }
  // Everything above was correct.
  for (const each of damaged) if (!outcomes.has(each)) outcomes.set(each, harmless);
  await victim.expectHealthy();
  await victim.kill();
  // This process can read even unreadable files.
  const told = [...outcomes].filter(
    ([{ damage }, outcome]) => outcome !== harmless && damage !== 'unreadable',
  );
  const named = ({ damage, file }: Damaged) => namedOf(damage, file);
  expect(told.map(([each]) => named(each)).filter(file => !reported.includes(file))).toEqual([]);
  expect(reported.filter(file => !damaged.some(each => named(each) === file))).toEqual([]);
  return outcomes;
}

const harmless = 'changes nothing';

/** Returns the outcome for a dataset: right, refused with the name of the damaged file, or right except for what a notice names. */
function outcomeOf({ status, body }: Answer, content: string, file: string): string {
  // An adopted log is renamed after its new process but keeps its id.
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
  if (!notice.includes(file)) {
    expect([file, found]).toEqual([file, truth]);
    return harmless;
  }
  const said = `with a notice: ${sentenceOf(notice, file)}`;
  // It may belong to another user, or have another name.
  if (notice.includes(changedReason)) return `listed as it is, ${said}`;
  if (notice.includes('is a copy of')) {
    expect([file, found]).toEqual([file, truth]);
    return `listed once, ${said}`;
  }
  expect([file, found.length]).toEqual([file, truth.length - 1]);
  expect(found).toEqual(truth.filter(name => found.includes(name)));
  return `listed without it, ${said}`;
}

/** Returns the first sentence of a message, with FILE for the path of the damaged file and D for a dataset. */
function sentenceOf(message: unknown, file: string): string {
  const [first = ''] = String(message)
    .replace(/^\["/, '')
    .split(/(?<=\.)\s/);
  return first
    .replaceAll(/\S*\/[^\s:,;`]*(?: \(1\)\.\w+)?/g, 'FILE')
    .replaceAll(/(?<=is a copy of )[^,\s]+?(?=,|\.$)/g, 'NAME')
    .replaceAll(file, 'FILE')
    .replaceAll(/\b(?:ann_)?[0-9a-f]{32}\b/g, 'ID')
    .replaceAll(/\bhurt\d+\b|(?<=`)merged(?=`)/g, 'D')
    .replaceAll(/`[^:]+`(?= is not a member)/g, '`NAME`')
    .replace(
      /(?<=cannot be read: )(?!the permission).*(?: should | is missing|` is empty).*(?= FILE)/,
      'a member of it should be another',
    );
}

/** Returns the dataset that a file below the data directory belongs to. */
function datasetOf(file: string): string | undefined {
  return /^(?:datasets|\.cache\/files)\/(\w+)/.exec(file)?.[1];
}

/** Returns the paths of the files below a directory. */
function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true })
    .map(name => slashed(String(name)))
    .filter(name => lstatSync(join(directory, name)).isFile());
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}
