import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QueryLog } from '../../../../kernel/notebook/query/query-log.js';
import { type Bench, everyday, printed, queries, shown, startBench, traceback } from '../../session.js';

let bench: Bench;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-config-'));
  const token = 'xaat-11111111-2222-3333-4444-555555555555';
  bench = await startBench({
    workDir: directory,
    queryLog: new QueryLog(join(directory, 'queries.jsonl')),
    environment: service => ({ url: `${service.url}/secret-base`, token, orgId: 'org-77' }),
  });
});

afterEach(async () => {
  await bench.close();
  await rm(directory, { recursive: true, force: true });
});

const userFile = () => join(bench.homeDir, '.apl-kernel.toml');
const projectFile = () => join(directory, '.apl-kernel.toml');
const sent = () => queries(bench.service).at(-1);

describe('%config', () => {
  test('applies immediately and in later kernels; the project file takes precedence', async () => {
    await writeFile(userFile(), '# mine\nlimit = 7 # few\n');
    await writeFile(projectFile(), 'time = "2026-01-02"\n');
    await bench.run('web');
    expect(sent()).toMatchObject({ defaultLimit: 7, startTime: '2026-01-02T00:00:00Z' });
    expect(printed(await bench.run('%config limit 9 --project'))).toBe(
      'limit is 9 from now on, in .apl-kernel.toml\n',
    );
    await bench.run('web');
    expect(sent()).toMatchObject({ defaultLimit: 9 });
    expect(await readFile(projectFile(), 'utf8')).toBe('limit = "9"\ntime = "2026-01-02"\n');
    expect(printed(await bench.run('%config limit --clear'))).toBe(
      'limit is no longer set, in ~/.apl-kernel.toml\n',
    );
    expect(await readFile(userFile(), 'utf8')).toBe('# mine\n');
    const lines = shown(await bench.run('%config'))[0]?.split('\n') ?? [];
    expect(
      lines.filter(line => /toml|default/.test(line)).map(line => line.trim().split(/ {2,}/).slice(0, 3)),
    ).toEqual([
      ['time', '2026-01-02', '.apl-kernel.toml'],
      ['limit', '9', '.apl-kernel.toml'],
      ['timeout', '120', 'default'],
      ['rows', 'all up to 100, otherwise 30', 'default'],
      ['retain', 'on', 'default'],
      ['annotations', 'on', 'default'],
    ]);
  });

  test.each(['"limit" = 7\n', 'limit = """\n7"""\n'])(
    'leaves a file unchanged that it cannot edit: %j',
    async text => {
      await writeFile(userFile(), text);
      for (const line of ['%config limit 9', '%config limit --clear'])
        expect(traceback(await bench.run(line))[0]).toBe(
          `setting: limit is written in ${userFile()} in a form that only an editor can change`,
        );
      expect(await readFile(userFile(), 'utf8')).toBe(text);
    },
  );

  test('applies a time limit immediately', async () => {
    const own = await startBench({
      reply: seen => (seen.body.includes('slow') ? () => undefined : everyday(seen)),
    });
    await own.run('web');
    expect(queries(own.service)[0]).not.toHaveProperty('queryOptions');
    expect(printed(await own.run('%config timeout 1'))).toBe(
      'timeout is 1 from now on, in ~/.apl-kernel.toml\n',
    );
    expect(traceback(await own.run('slow | count')).join('\n')).toContain(
      'did not finish within the time limit of 1 s',
    );
    expect(queries(own.service).at(-1)).toMatchObject({ queryOptions: { timeLimitMs: 1000 } });
    await own.close();
  });

  test.each(['0', '86401', '1.5', 'never'])('refuses a time limit of %s', async value => {
    expect(traceback(await bench.run(`%config timeout ${value}`)).join('\n')).toContain(
      `the setting timeout cannot be ${value}`,
    );
  });

  test.each<[setting: string, accepted: readonly string[], refused: readonly string[]]>([
    ['limit', ['1', '999999999'], ['0', '-1', '1000000000', '1e3']],
    ['timeout', ['1', '86400'], ['0', '86401', '1.5']],
    ['rows', ['1', '999999999'], ['0', '-1', '1000000000', 'all']],
    ['retain', ['on', 'off'], ['yes', 'true', '1']],
    ['annotations', ['on', 'off'], ['no', 'false', '0']],
  ])('accepts and refuses values of %s', async (setting, accepted, refused) => {
    for (const value of accepted)
      expect(printed(await bench.run(`%config ${setting} ${value}`))).toBe(
        `${setting} is ${value} from now on, in ~/.apl-kernel.toml\n`,
      );
    const last = accepted.at(-1);
    for (const value of refused)
      expect(traceback(await bench.run(`%config ${setting} ${value}`))[0]).toContain(
        `the setting ${setting} cannot be ${value}`,
      );
    expect(await readFile(userFile(), 'utf8')).toBe(`${setting} = "${last}"\n`);
  });

  test('refuses a time range beyond the limits of a time, and keeps the one before', async () => {
    await bench.run('%config time "last 2h"');
    expect(traceback(await bench.run('%config time "last 600y"'))[0]).toBe(
      'time-range: the range `last 600y` goes beyond 1677-09-22 to 2262-04-11, the range of 64-bit nanoseconds',
    );
    expect(printed(await bench.run('%time'))).toContain('Time range: last 2h ');
    expect(await readFile(userFile(), 'utf8')).toBe('time = "last 2h"\n');
  });

  test("gives a notebook's own settings precedence over the files", async () => {
    await writeFile(userFile(), 'limit = 7\n');
    await bench.run('%limit 3\nweb');
    expect(sent()).toMatchObject({ defaultLimit: 3 });
  });

  test.each([
    ['limit = 7\nlimit = ', 'is not valid TOML at line 2'],
    ['profile = "prod"', 'profile is not a setting'],
    ['limit = true', 'limit is not a setting, or its value is not a string or a number'],
    ['limit = "many"', 'the setting limit cannot be many'],
  ])('reports a file with %j once, without failing a cell', async (content, message) => {
    await writeFile(userFile(), content);
    const [first, second] = [await bench.run('web'), await bench.run('web')];
    const told = [first, second].map(({ outputs }) => outputs.filter(({ kind }) => kind === 'stderr'));
    expect([traceback(first), told[0]?.length, told[1]]).toEqual([[], 1, []]);
    expect(JSON.stringify(told[0])).toContain(message);
  });

  test.each([
    [
      '%config speed 9',
      'there is no setting speed; the settings are time, limit, timeout, rows, retain, annotations',
    ],
    ['%config limit', 'give limit a value, or --clear'],
    ['%config limit 5 --clear', 'give limit a value, or --clear'],
  ])('refuses %s', async (line, message) => {
    expect(traceback(await bench.run(line))[0]).toBe(`magic: %config: ${message}`);
  });

  test('does not write an invalid value', async () => {
    expect(traceback(await bench.run('%config limit many'))[0]).toContain('limit cannot be many');
    await expect(readFile(userFile())).rejects.toThrow();
  });
});

describe('%bugreport', () => {
  test('of a new kernel reports no settings and no errors', async () => {
    const [text = ''] = shown(await bench.run('%bugreport'));
    expect(text.split('\n').slice(2)).toEqual([
      'profile: the local service',
      'settings: none',
      'results cached: 0, recording: off',
      'last error: none',
    ]);
  });

  test('has versions, settings and the last error code, and no personal data', async () => {
    await bench.run('%config rows 50');
    await bench.run('%param secret = "parameter-4711"\n%time 2026-01-02');
    await bench.run(
      "['customers-of-acme'] | where mail == 'ann@example.org' and x == secret | summarize n = count() by bin(_time, 1h)",
    );
    await bench.run('%load star:"Payroll of Ann"');
    const [text = ''] = shown(await bench.run('%bugreport --queries'));
    const ofThisMachine = (line: string) => line.includes('Node.js') || line.startsWith(platform());
    expect(text.split('\n').filter(line => !ofThisMachine(line))).toEqual([
      'profile: the local service',
      'settings: rows = 50 (user)',
      'results cached: 1, recording: off',
      'last error: not-found: could not list starred queries: not found: GET \u2026',
      "query: declare query_parameters ( name : string ) ; [ dataset ] | where name == '' and name == name | summarize name = count ( ) by bin ( name , 0s )",
    ]);
    for (const word of [
      'acme',
      'ann',
      'Payroll',
      '4711',
      'xaat',
      'secret',
      'org-77',
      '127.0.0.1',
      bench.homeDir,
    ])
      expect([word, text.toLowerCase().includes(word.toLowerCase())]).toEqual([word, false]);
    expect(shown(await bench.run('%bugreport'))[0]).not.toContain('summarize');
  });
});
