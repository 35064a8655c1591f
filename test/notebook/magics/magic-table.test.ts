import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { splitWords } from '../../../kernel/apl/syntax/syntax-magic.js';
import { parseArguments } from '../../../kernel/notebook/magics/magic-arguments.js';
import { magicLines, magicWords } from '../../../kernel/notebook/magics/magic-lines.js';
import { findMagic, magicReference, magics } from '../../../kernel/notebook/magics/magic-table.js';
import { type Bench, counted, everyday, printed, queries, shown, startBench, traceback } from '../session.js';

let bench: Bench;

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

const hour = 'now 2026-03-04T04:06:07.123456789Z to 2026-03-04T05:06:07.123456789Z, end exclusive';

describe('the arguments', () => {
  test.each<readonly [string, readonly string[]]>([
    ['', []],
    ['a  b', ['a', 'b']],
    ['"a b" \'c "d"\'', ['a b', 'c "d"']],
    ['--name="a b"', ['--name=a b']],
    [String.raw`"a \"b\" \\ \n"`, [String.raw`a "b" \ \n`]],
    [String.raw`C:\logs\a.csv`, [String.raw`C:\logs\a.csv`]],
    ['""', ['']],
  ])('%j', (line, words) => {
    expect(splitWords(line).map(word => word.text)).toEqual(words);
  });

  test.each<readonly [string, string, readonly string[], Record<string, string>]>([
    ['star', 'abc --name "a b" --no-run', ['abc'], { name: 'a b', 'no-run': '' }],
    ['star', '--name=x abc', ['abc'], { name: 'x' }],
    ['time', '-1d -1h --freeze', ['-1d', '-1h'], { freeze: '' }],
    ['import', '"--odd.csv" --dataset d', ['--odd.csv'], { dataset: 'd' }],
  ])('of the magic %s with %s', (name, line, words, options) => {
    const found = parseArguments(findMagic(name), line);
    expect([found.words, Object.fromEntries(found.options)]).toEqual([words, options]);
  });
});

describe('refuses', () => {
  test.each<readonly [string, string, string]>([
    [
      '%%bash',
      '%bash is an IPython magic, not an APL magic',
      'Run shell commands in a terminal. `%import FILE` reads a file, and `%export FILE` writes one.',
    ],
    [
      '%%sql',
      '%sql is an IPython magic, not an APL magic',
      'Write only the query: queries in other languages get a suggested translation.',
    ],
    [
      '%matplotlib inline',
      '%matplotlib is an IPython magic, not an APL magic',
      'Use a Python notebook for this. `%export FILE` writes a result that it can read.',
    ],
    ['%tme 1h', 'unknown magic %tme', 'Did you mean `%time`? `%help` lists all magics.'],
    [
      '%star',
      '%star: give the id or the name of a starred query, or --new',
      'Usage: %star ID|"NAME" [--name NAME] [--no-run] | %star --new [NAME] [--no-run]',
    ],
    [
      '%star --new A --name B',
      '%star: the name is given twice',
      'Usage: %star ID|"NAME" [--name NAME] [--no-run] | %star --new [NAME] [--no-run]',
    ],
    [
      '%star a --nam x',
      '%star: unknown option --nam; did you mean --name?',
      'Usage: %star ID|"NAME" [--name NAME] [--no-run] | %star --new [NAME] [--no-run]',
    ],
    [
      '%star a --name',
      '%star: --name needs a value: NAME',
      'Usage: %star ID|"NAME" [--name NAME] [--no-run] | %star --new [NAME] [--no-run]',
    ],
    [
      '%star a',
      '%star: the cell must contain one query, but it has none',
      'Usage: %star ID|"NAME" [--name NAME] [--no-run] | %star --new [NAME] [--no-run]',
    ],
    ['%time --freeze=yes', '%time: --freeze takes no value', 'Usage: %time [RANGE] [--freeze] [--clear]'],
    [
      '%use a b',
      '%use: b is an unexpected argument; put quotes around values with spaces',
      'Usage: %use [PROFILE] [--token]',
    ],
    ['%peek', '%peek: an argument is missing', 'Usage: %peek DATASET [N]'],
    ['%peek web 0', '%peek: 0 is not a number of rows', 'Usage: %peek DATASET [N]'],
    ['%use "a', '%use: unclosed quote', 'Usage: %use [PROFILE] [--token]'],
    ['%%datasets', '%datasets: it does not apply to a single cell: use %datasets', 'Usage: %datasets'],
    ['%limit -5', '%limit: -5 is not a number of rows', 'Usage: %limit [N] [--clear]'],
    [
      '%stars --who me2',
      '%stars: --who is all, team or me, not me2',
      'Usage: %stars [TEXT] [--who all|team|me] [--dataset DATASET]',
    ],
    ['%datasets --all', '%datasets: unknown option --all; it has none', 'Usage: %datasets'],
    ['%help nothing-like-it', 'there is no help on nothing-like-it', ''],
  ])('%s', async (code, message, hint) => {
    const run = await bench.run(`${code}`);
    const lines = traceback(run);
    expect(lines.slice(0, 4)).toEqual([
      `magic: ${message}`,
      ' --> line 1, column 1 of the cell',
      `1 │ ${code}`,
      `  │ ${'^'.repeat(code.length)}`,
    ]);
    if (hint !== '') expect(lines[4]).toBe(`hint: ${hint}`);
  });

  test('a bad magic before running the query', async () => {
    const run = await bench.run('%tme 1h\nweb | count');
    expect([run.outcome.status, bench.service.seen.length]).toEqual(['error', 0]);
  });
});

describe('%time', () => {
  test('shows, sets, freezes and clears', async () => {
    expect(printed(await bench.run('%time'))).toBe(`Time range: last 1h (${hour})\n`);
    await bench.run('%time -1d -1h');
    expect(printed(await bench.run('%time'))).toBe(
      'Time range: -1d .. -1h (now 2026-03-03T05:06:07.123456789Z to 2026-03-04T04:06:07.123456789Z, end exclusive)\n',
    );
    const frozen = '2026-03-03T05:06:07.123456789Z .. 2026-03-04T04:06:07.123456789Z';
    expect(printed(await bench.run('%time --freeze'))).toBe(
      `Time range: ${frozen} (2026-03-03T05:06:07.123456789Z to 2026-03-04T04:06:07.123456789Z, end exclusive)\n`,
    );
    expect(printed(await bench.run('%time --clear'))).toBe(`Time range: last 1h (${hour})\n`);
  });

  test.each([
    ['%time --freeze', '%time 2026-03-04T04:06:07.123456789Z..2026-03-04T05:06:07.123456789Z'],
    [
      '%limit 5\n%time yesterday --freeze // why\nweb | count',
      '%limit 5\n%time 2026-03-03T00:00:00Z..2026-03-04T00:00:00Z\nweb | count',
    ],
    [
      '%%time last 1h --freeze\nweb',
      '%%time 2026-03-04T04:06:07.123456789Z..2026-03-04T05:06:07.123456789Z\nweb',
    ],
    [
      '%apl\n%time today --freeze\n%%time yesterday --freeze\nweb',
      '%apl\n%time 2026-03-04T00:00:00Z..2026-03-04T05:06:07.123456789Z\n%%time 2026-03-03T00:00:00Z..2026-03-04T00:00:00Z\nweb',
    ],
  ])('--freeze writes the times into the cell: %j', async (code, after) => {
    const rewritten = async (text: string) =>
      (await bench.run(text)).outputs.flatMap(each => (each.kind === 'this cell' ? [each.text] : []));
    expect(await rewritten(code.replace(' // why', ''))).toEqual([after]);
    expect(await rewritten(after)).toEqual([]);
    await bench.run('%time --clear');
  });

  test('--freeze does not rewrite a cell that fails', async () => {
    const { outcome, outputs } = await bench.run('%time today --freeze\n%nonsense');
    expect([outcome.status, outputs.map(({ kind }) => kind)]).toEqual(['error', ['stdout']]);
    await bench.run('%time --clear');
  });

  test('refuses to freeze `all`', async () => {
    expect(traceback(await bench.run('%time all --freeze'))[0]).toBe(
      'time-range: `all` cannot be frozen: its window depends on the datasets of each query',
    );
  });

  test('applies to the queries below and in later cells', async () => {
    await bench.run('%time 2026-01-01..2026-01-02\nweb | count');
    await bench.run('web | count');
    const sent = queries(bench.service).map(({ startTime, endTime }) => `${startTime} ${endTime}`);
    expect(sent).toEqual([
      '2026-01-01T00:00:00Z 2026-01-02T00:00:00Z',
      '2026-01-01T00:00:00Z 2026-01-02T00:00:00Z',
    ]);
  });

  test('applies to one cell if written as %%time', async () => {
    expect(printed(await bench.run('%%time 2026-01-01\nweb | count'))).toBe('');
    await bench.run('web | count');
    const sent = queries(bench.service).map(({ startTime }) => startTime);
    expect(sent).toEqual(['2026-01-01T00:00:00Z', '2026-03-04T04:06:07.123456789Z']);
  });

  test('marks a range that it cannot read', async () => {
    expect(traceback(await bench.run('\n  %time yestreday')).slice(0, 4)).toEqual([
      'time-range: `yestreday` is not a time or a duration',
      ' --> line 2, column 3 of the cell',
      '2 │   %time yestreday',
      '  │   ^^^^^^^^^^^^^^^',
    ]);
  });
});

test('an invalid %time keeps the range, and names it', async () => {
  await bench.run('%time last 2h');
  const lines = traceback(await bench.run('%time last 2 fortnights'));
  expect(lines.at(-1)).toMatch(/^hint: Write .* The time range is still `last 2h`\.$/);
  expect(printed(await bench.run('%time'))).toMatch(/^Time range: last 2h /);
});

describe('%limit', () => {
  test('is sent with later queries', async () => {
    expect(printed(await bench.run('%limit 5_000'))).toBe('Row limit: 5,000\n');
    await bench.run('web');
    await bench.run('%%limit 7\nweb');
    await bench.run('%limit --clear\nweb');
    expect(queries(bench.service).map(query => query.defaultLimit)).toEqual([5000, 7, undefined]);
  });
});

describe('%use', () => {
  const toml = (url: string) =>
    `[deployments.prod]\nurl = "${url}"\ntoken = "xaat-topsecret"\n[deployments.eu]\nurl = "https://api.eu.example"\n`;

  test('lists profiles, switches between them and shows their addresses', async () => {
    await writeFile(join(bench.homeDir, '.axiom.toml'), toml(bench.service.url));
    expect(shown(await bench.run('%use'))).toEqual([
      `Profiles\n\nprofile         address                 token\nlocal (in use)  the local service       its own\nprod            ${bench.service.url}  api token\neu              https://api.eu.example  none`,
    ]);
    expect(printed(await bench.run('%use prod'))).toBe(`Using prod (${bench.service.url})\n`);
    await bench.run('web | count');
    expect(bench.service.seen.at(-1)?.headers.authorization).toBe('Bearer xaat-topsecret');
    expect(printed(await bench.run('%use local\nweb | count'))).toBe('Using local (the local service)\n');
    expect(bench.service.seen.at(-1)?.headers.authorization).toBe('Bearer local-token-4711');
  });

  test('warns once if other users can read the tokens', async () => {
    const path = join(bench.homeDir, '.axiom.toml');
    const warnings = async () =>
      (await bench.run('%use')).outputs.flatMap(output => (output.kind === 'stderr' ? [output.text] : []));
    await writeFile(path, toml(bench.service.url));
    await chmod(path, 0o600);
    expect(await warnings()).toEqual([]);
    await chmod(path, 0o644);
    expect(await warnings()).toEqual([
      'Other users of this machine can read the tokens in ~/.axiom.toml: `chmod 600 ~/.axiom.toml` prevents it.\n',
    ]);
    expect(await warnings()).toEqual([]);
  });

  test('prefers a typed token to the configured one until the kernel ends', async () => {
    await writeFile(join(bench.homeDir, '.axiom.toml'), toml(bench.service.url));
    const sent = () => bench.service.seen.at(-1)?.headers.authorization;
    await bench.run('%use prod --token\nweb | count', { answer: 'xaat-typed' });
    expect(sent()).toBe('Bearer xaat-typed');
    await bench.run('%use local\n%use prod\nweb | count', { answer: 'xaat-other' });
    expect(sent()).toBe('Bearer xaat-typed');
  });

  test('prompts for a missing token and never shows it', async () => {
    const url = `url = "${bench.service.url}"`;
    await writeFile(join(bench.homeDir, '.axiom.toml'), `[deployments.bare]\n${url}\n`, { mode: 0o600 });
    const prompt = { kind: 'asked for a secret', text: `Token for bare (${bench.service.url}): ` };
    const run = await bench.run('%use bare\nweb | count', { answer: ' xaat-typed ' });
    expect(run.outputs[0]).toEqual(prompt);
    expect(bench.service.seen.at(-1)?.headers.authorization).toBe('Bearer xaat-typed');
    const again = await bench.run('%use local\n%use bare\n%use\nweb | count', { answer: 'xaat-other' });
    expect(again.outputs.some(output => output.kind === 'asked for a secret')).toBe(false);
    expect(bench.service.seen.at(-1)?.headers.authorization).toBe('Bearer xaat-typed');
    const changed = await bench.run('%use bare --token\nweb | count', { answer: 'xaat-other' });
    expect(changed.outputs[0]).toEqual(prompt);
    expect(bench.service.seen.at(-1)?.headers.authorization).toBe('Bearer xaat-other');
    expect(JSON.stringify([run, again, changed, bench.logged])).not.toMatch(/xaat-(typed|other)/);
  });

  test.each([
    ['', 'magic: no token was given'],
    ['två ord', 'magic: the input has characters that a token cannot have'],
  ])('refuses %j as a token', async (answer, message) => {
    await writeFile(join(bench.homeDir, '.axiom.toml'), '[deployments.bare]\n');
    expect(traceback(await bench.run('%use bare', { answer }))[0]).toBe(message);
    await bench.run('%use local\nweb | count');
    expect(queries(bench.service).length).toBe(1);
  });

  test('suggests the nearest profile for an unknown one', async () => {
    await writeFile(join(bench.homeDir, '.axiom.toml'), toml(bench.service.url));
    const run = await bench.run('%use pord');
    expect(traceback(run)).toEqual([
      'profile: there is no profile pord',
      'hint: Did you mean `prod`? Profiles: local, prod, eu. They are defined in ~/.axiom.toml as [deployments.NAME].',
    ]);
    expect((await bench.run('web | count')).outcome.status).toBe('ok');
  });
});

describe('magics that query the service:', () => {
  test('%whoami', async () => {
    expect(shown(await bench.run('%whoami'))).toEqual([
      `Profile and user\n\n\nprofile  local\naddress  ${bench.service.url}\ntoken    the local service's own\nuser     Ada, ada@example.org, u1`,
    ]);
  });

  test('%datasets', async () => {
    expect(shown(await bench.run('%datasets'))).toEqual([
      '1 dataset\n\ndataset  kind    description\nweb      events  requests',
    ]);
  });

  test('%schema', async () => {
    const table =
      'web: 4 fields\n\nfield     type      unit  description\n_time     datetime\nstatus    long            HTTP status\nduration  real      ms\ngeo.city  string';
    expect(shown(await bench.run('%schema web'))).toEqual([table]);
    expect(shown(await bench.run('%schema'))).toEqual([table]);
  });

  test('%schema of a missing dataset', async () => {
    const [first] = traceback(await bench.run('%schema nope'));
    expect(first).toBe(
      'not-found: could not read the fields of nope: not found: GET /v2/datasets/nope/fields',
    );
  });

  test('%peek', async () => {
    const { outputs } = await bench.run('%peek "it\'s" 3');
    expect([outputs.map(output => output.kind), queries(bench.service)[0]?.apl]).toEqual([
      ['result'],
      "['it\\'s'] | sort by _time desc | limit 3",
    ]);
  });

  test('%import', async () => {
    bench.service.answer(() => ({
      body: {
        dataset: 'access',
        rows: 1200,
        fields: [{ name: 'ts', type: 'datetime' }],
        timeField: 'ts',
        notes: ['2 lines were empty'],
        rowsBefore: 0,
        rowsNow: 1200,
      },
    }));
    const run = await bench.run('%import ~/access.log.ndjson.gz --time ts');
    expect(JSON.parse(bench.service.seen[0]?.body ?? '')).toEqual({
      path: join(bench.homeDir, 'access.log.ndjson.gz'),
      dataset: 'access',
      timeField: 'ts',
    });
    expect(run.outputs.map(output => output.kind)).toEqual(['display', 'update']);
    expect(shown(run)).toEqual([
      'Importing access.log.ndjson.gz into access \u2026',
      'access: 1,200 rows, 1 field, time from ts\nIt has 1,200 events without a time, included in every time range.\n2 lines were empty\n\nfield  type\nts     datetime',
    ]);
    await bench.run('%import logs/a.csv --dataset mine --format syslog --dates dmy --replace');
    expect(JSON.parse(bench.service.seen[1]?.body ?? '')).toEqual({
      path: '/data/logs/a.csv',
      dataset: 'mine',
      format: 'syslog',
      dates: 'dmy',
      replace: true,
    });
    expect(traceback(await bench.run('%import a.csv --dates ydm'))[0]).toBe(
      'magic: %import: ydm is not a value of --dates: give dmy, mdy, ymd',
    );
  });
});

describe('starred queries', () => {
  const stored = {
    id: 's1',
    dataset: 'web',
    kind: 'apl',
    name: 'Before',
    who: 'u9',
    metadata: { color: 'red' },
    query: { apl: 'web', startTime: 'now-1d', endTime: 'now', queryOptions: { disableCache: true } },
  };
  const ours = { savedBy: 'apl-kernel 1.2.3', savedAt: '2026-03-04T05:06:07.123Z', timeRange: 'last 1h' };

  function withStars() {
    bench.service.answer(seen => {
      if (!seen.path.startsWith('/v2/apl-starred-queries')) return everyday(seen);
      if (seen.path.endsWith('/missing')) return { status: 404, body: { code: 404, message: 'nope' } };
      if (seen.method === 'GET') return { body: seen.path.endsWith('queries') ? [stored] : stored };
      if (seen.method === 'DELETE') return response => response.writeHead(204).end();
      return { body: { ...JSON.parse(seen.body), id: 's7' } };
    });
  }

  function changes() {
    return bench.service.seen.filter(
      each => /^(PUT|POST|DELETE)$/.test(each.method) && each.path.startsWith('/v2/'),
    );
  }

  beforeEach(withStars);

  test('%star saves the query after it ran, and keeps the other properties', async () => {
    const run = await bench.run('%star s1\nweb | where status > 400 | count');
    expect(bench.service.seen.map(each => `${each.method} ${each.path}`)).toEqual([
      'POST /v1/datasets/_apl',
      'GET /v2/apl-starred-queries/s1',
      'PUT /v2/apl-starred-queries/s1',
    ]);
    expect(JSON.parse(changes()[0]?.body ?? '')).toEqual({
      dataset: 'web',
      kind: 'apl',
      name: 'Before',
      who: 'u9',
      metadata: { color: 'red', ...ours },
      query: {
        apl: 'web | where status > 400 | count',
        startTime: 'now-1h',
        endTime: 'now',
        queryOptions: { disableCache: true },
      },
    });
    expect(printed(run)).toBe(
      'Updated the starred query s1, "Before": now-1h to now, in place of now-1d to now; stored in the local service\n',
    );
    expect(run.outputs.map(output => output.kind)).toEqual(['result', 'stdout']);
  });

  test('%star --new with an existing name updates that query', async () => {
    const run = await bench.run('%star --new Before\nweb | count');
    expect(changes().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PUT /v2/apl-starred-queries/s1',
    ]);
    expect(printed(run)).toMatch(
      /^Saved the starred query s1, "Before": now-1h to now, in place of now-1d to now;/,
    );
  });

  test('%star --new creates a query owned by the user', async () => {
    const run = await bench.run('%star --new "Server errors"\n%%time 2026-01-01\nweb | count');
    expect([changes()[0]?.method, changes()[0]?.path]).toEqual(['POST', '/v2/apl-starred-queries']);
    expect(JSON.parse(changes()[0]?.body ?? '')).toEqual({
      dataset: 'web',
      kind: 'apl',
      name: 'Server errors',
      who: 'u1',
      metadata: { ...ours, timeRange: '2026-01-01 (UTC)' },
      query: { apl: 'web | count', startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-02T00:00:00Z' },
    });
    expect(printed(run)).toBe(
      'Saved the starred query s7, "Server errors": 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z; stored in the local service; `%star "Server errors"` updates it from now on\n',
    );
  });

  test('%star --no-run saves without running', async () => {
    await bench.run("%star --new --no-run\n// Slow requests\n['my logs'] | where duration > 1");
    const { dataset, name } = JSON.parse(changes()[0]?.body ?? '');
    expect([queries(bench.service).length, dataset, name]).toEqual([0, 'my logs', 'Slow requests']);
  });

  test('%star does not save a query that failed', async () => {
    bench.service.answer(() => ({ status: 400, body: { message: 'no' } }));
    const run = await bench.run('%star s1\nweb | count');
    expect([run.outcome.status, changes().length]).toEqual(['error', 0]);
  });

  test('the error about an unknown id explains how to create a query', async () => {
    expect(traceback(await bench.run('%star missing\nweb | count'))).toEqual([
      'not-found: there is no starred query missing',
      'hint: To create one, write `%star --new "NAME"` above the query. `%stars --who all` lists all of them.',
    ]);
  });

  test('%stars escapes every value in its table', async () => {
    bench.service.answer(() => ({ body: [{ ...stored, name: '<b onclick="x">`y`</b>' }] }));
    const { outputs } = await bench.run('%stars');
    const html = outputs.flatMap(output => ('data' in output ? [String(output.data['text/html'])] : []));
    expect(html[0]).toContain('<code>%stars --who all</code> lists everyone&#39;s</div>');
    expect(html[0]).toContain('white-space:pre">&#60;b onclick=&#34;x&#34;&#62;&#96;y&#96;&#60;/b&#62;</td>');
  });

  test('%stars lists queries, with its filters as parameters', async () => {
    expect(shown(await bench.run('%stars --who all --dataset web'))).toEqual([
      '1 starred query\n\nid  name    dataset  time range     query\ns1  Before  web      now-1d to now  web',
    ]);
    expect(bench.service.seen[0]?.parameters).toEqual({
      who: 'all',
      dataset: 'web',
      limit: '100',
      offset: '0',
    });
  });

  test('%unstar deletes a query by its id', async () => {
    expect(printed(await bench.run('%unstar s1'))).toBe('Deleted the starred query s1, "Before".\n');
    expect([changes()[0]?.method, changes()[0]?.path]).toEqual(['DELETE', '/v2/apl-starred-queries/s1']);
  });
});

describe('simple magics:', () => {
  test.each<readonly [string, string]>([
    ['%echo  a "b" --c ', 'a "b" --c\n'],
    ['%version', `apl-kernel 1.2.3, Node.js ${process.versions.node}\n`],
    ['%lsmagic', `${magics.map(magic => `%${magic.name}`).join('  ')}\n`],
  ])('%s', async (code, text) => {
    expect([printed(await bench.run(code)), bench.service.seen.length]).toEqual([text, 0]);
  });

  test('%echo --stderr', async () => {
    expect((await bench.run('%echo --stderr  careful --stderr')).outputs).toEqual([
      { kind: 'stderr', text: 'careful --stderr\n' },
    ]);
  });

  test('%help explains a magic and a function', async () => {
    expect(shown(await bench.run('%help %unstar'))[0]?.split('\n')[0]).toBe('### %unstar');
    expect(shown(await bench.run('%help ago'))[0]?.split('\n')[0]).toBe(
      '`ago(timespan: timespan) -> datetime`',
    );
    expect(shown(await bench.run('%help'))[0]?.includes('| `%whoami` |')).toBe(true);
  });
});

describe('the table of magics', () => {
  test('has each name that can begin a line, once', () => {
    const aliases = Object.values(magicLines).flatMap(row => row.aliases ?? []);
    const names = [...magics.map(({ name }) => name), ...aliases];
    expect([...magicWords].sort()).toEqual(names.sort());
    expect(names.length).toBe(new Set(names).size);
  });

  test.each(magics)('$name describes itself', ({ name, usage, summary, help, options }) => {
    expect([usage.startsWith(`%${name}`), /^[a-z`].*[^.]$/.test(summary), help.length > 0]).toEqual([
      true,
      true,
      true,
    ]);
    expect(options.filter(option => !usage.includes(`--${option.name}`))).toEqual([]);
  });

  test('generates the reference', () => {
    expect(magicReference().match(/^### %.*$/gm)).toEqual(magics.map(magic => `### %${magic.name}`));
  });
});

test('%datasets escapes markup in data from the service', async () => {
  bench.service.answer(() => ({
    body: [{ id: 'x', name: '<img src=x onerror=alert(1)>', description: '\u001b[31m"&' }],
  }));
  const { outputs } = await bench.run('%datasets');
  const output = outputs[0];
  const html = output !== undefined && 'data' in output ? String(output.data['text/html']) : '';
  expect([
    html.includes('<img'),
    html.includes('&#60;img src=x onerror=alert(1)&#62;'),
    html.includes('\u27e8U+001B\u27e9[31m&#34;&#38;'),
  ]).toEqual([false, true, true]);
});

describe('never prints a token', () => {
  const secret = 'xaat-5ec2e7aa-0000';

  test.each([
    '%whoami',
    '%use',
    '%use prod',
    'web | count',
    '%datasets',
    '%star s1\nweb | count',
    '%help',
    '%unstar xaat-5ec2e7aa-0000',
    '%use xaat-5ec2e7aa-0000',
  ])('in %j', async code => {
    await bench.close();
    bench = await startBench({
      environment: ({ url }) => ({ url, token: secret }),
      reply: seen => ({
        status: 403,
        body: { code: 403, message: `no: ${seen.headers.authorization} ${secret}` },
      }),
    });
    const run = await bench.run(code);
    expect(JSON.stringify([run, bench.logged])).not.toContain('5ec2e7aa');
  });

  test('in a result', async () => {
    await bench.close();
    bench = await startBench({
      environment: ({ url }) => ({ url, token: secret }),
      reply: () => ({ body: counted }),
    });
    const run = await bench.run('web | count');
    expect([run.outcome.status, JSON.stringify([run, bench.logged]).includes('5ec2e7aa')]).toEqual([
      'ok',
      false,
    ]);
  });

  test('in an error about a malformed response', async () => {
    await bench.close();
    bench = await startBench({
      environment: ({ url }) => ({ url, token: secret }),
      reply: seen => ({ body: `{"tables":[${seen.headers.authorization}]}` }),
    });
    const run = await bench.run('web | count');
    expect([run.outcome.status, JSON.stringify([run, bench.logged]).includes('5ec2e7aa')]).toEqual([
      'error',
      false,
    ]);
  });
});
