import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { endless } from '../setup/endless.js';
import { aplKernel, scratchDirectory, startAplKernel } from './command.js';

const used: Record<string, string>[] = [];
const data = mkdtempSync(join(tmpdir(), 'apl-kernel-run-'));

/** Returns an environment with a new home and the shared service of these tests. */
function shared(): Record<string, string> {
  return { HOME: scratchDirectory(), PATH: '', APL_KERNEL_DATA: join(data, 'data') };
}

/** Returns an environment with a new home and data directory; its local service ends with the test. */
function fresh(): Record<string, string> {
  const home = scratchDirectory();
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
  used.push(env);
  return env;
}

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
});

afterAll(async () => {
  await aplKernel(['serve', '--stop'], { HOME: data, PATH: '', APL_KERNEL_DATA: join(data, 'data') });
  rmSync(data, { recursive: true });
});

interface Written {
  readonly cells: readonly {
    readonly cell_type: string;
    readonly execution_count?: number;
    readonly outputs?: readonly Output[];
  }[];
}

interface Output {
  readonly output_type: string;
  readonly text?: readonly string[];
  readonly ename?: string;
  readonly data?: Readonly<Record<string, readonly string[]>>;
}

function read(...path: readonly string[]): Written {
  return JSON.parse(readFileSync(join(...path), 'utf8')) as Written;
}

/** Returns the text of each output, by cell. */
function texts({ cells }: Written): readonly (readonly string[])[] {
  return cells.map(({ outputs = [] }) =>
    outputs.map(({ text, ename, data }) => text?.join('') ?? ename ?? data?.['text/plain']?.join('') ?? ''),
  );
}

describe('run', () => {
  test('writes an executed notebook and a page, without Jupyter', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    const script = [
      '// %% [markdown]',
      '// # Count & cost',
      '// %%',
      '%echo <b>',
      '// %%',
      'print answer = 6 * 7',
      '',
    ];
    writeFileSync(join(home, 'look.apl'), script.join('\n'));
    const { code, stdout } = await aplKernel(['run', 'look.apl', '--out', 'out'], env);
    expect([code, stdout]).toEqual([0, 'ok      look.apl: out/look.html, out/look.ipynb\n']);
    const { cells } = read(home, 'out/look.ipynb');
    expect(cells.map(cell => [cell.cell_type, cell.execution_count])).toEqual([
      ['markdown', undefined],
      ['code', 1],
      ['code', 2],
    ]);
    expect(cells[1]?.outputs).toEqual([{ output_type: 'stream', name: 'stdout', text: ['<b>\n'] }]);
    expect(cells[2]?.outputs?.map(({ data }) => data?.['text/plain']?.join('').includes('42'))).toEqual([
      true,
    ]);
    const page = readFileSync(join(home, 'out/look.html'), 'utf8');
    expect(page).toContain('<h1>Count &amp; cost</h1>');
    expect(page).toContain('&#60;b&#62;');
    expect(page).not.toMatch(/<script/i);
  });

  test('prints results as text up to a line of the file, and writes no files', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    const script = [
      '// %%',
      '%echo \x1b[31mred\u202e',
      '',
      '// %%',
      'print answer = 6 * 7',
      '// %%',
      'print nosuch',
      '',
    ];
    writeFileSync(join(home, 'look.apl'), script.join('\n'));
    const printed = await aplKernel(['run', 'look.apl', '--print', '--to-line', '5'], env);
    expect(printed.code).toBe(0);
    expect(printed.stdout).toMatch(/^red⟨U\+202E⟩\n.*answer.*42/s);
    expect(printed.stdout).not.toContain('ok ');
    expect(readdirSync(home).sort()).toEqual(['look.apl']);
    const whole = await aplKernel(['run', 'look.apl', '--print', '-o', 'look.ipynb'], env);
    expect(whole.code).toBe(1);
    expect(whole.stdout).toContain('FAILED  look.apl: look.ipynb\n');
    const wrong = await aplKernel(['run', 'look.ipynb', '--to-line', '5'], env);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--to-line counts the lines of an .apl file');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s interrupts the cell and writes the notebook, even if this run started the service',
    async signal => {
      const env = fresh();
      const { HOME: home = '' } = env;
      const cells = ['print 1', `print 6 * 7\n\n${endless}`, 'print 2'];
      writeFileSync(join(home, 'long.apl'), cells.map(cell => `// %%\n${cell}\n`).join(''));
      const running = startAplKernel(['run', 'long.apl', '--out', 'out'], env);
      // The first query of the second cell has ended, so that cell has begun.
      const log = join(home, 'data', 'queries.jsonl');
      const logged = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
      await expect.poll(logged).toContain('print 6 * 7');
      running.kill(signal);
      expect(await once(running, 'exit')).toEqual([1, null]);
      const [, interrupted, after] = texts(read(home, 'out/long.ipynb'));
      expect([interrupted?.at(-1), after]).toEqual(['Interrupted', []]);
    },
  );

  test('stops at a failing cell, writes the notebook so far, and exits with 1', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    const script = [
      '// %%',
      '%echo first',
      '// %%',
      '',
      '%echo second',
      '%nonsense',
      '// %%',
      '%echo never',
      '',
    ];
    writeFileSync(join(home, 'bad.apl'), script.join('\n'));
    const { code, stdout } = await aplKernel(['run', 'bad.apl'], env);
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      'FAILED  bad.apl: out/bad.html, out/bad.ipynb',
      '        cell [2], which begins at line 5:',
      expect.stringMatching(/^ {8}magic: /),
      '         --> line 2, column 1 of the cell',
      '        2 │ %nonsense',
    ]);
    const { cells } = read(home, 'out/bad.ipynb');
    expect(cells.map(cell => cell.outputs?.map(output => output.output_type))).toEqual([
      ['stream'],
      ['stream', 'error'],
      [],
    ]);
  });

  test('continues after a failing cell tagged raises-exception', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    const cell = (source: string, tags: string[]) => ({
      cell_type: 'code',
      source,
      metadata: { tags },
      outputs: [],
    });
    const cells = [cell('%nonsense', ['raises-exception']), cell('%echo after', [])];
    writeFileSync(
      join(home, 'n.ipynb'),
      JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }),
    );
    expect(await aplKernel(['run', 'n.ipynb'], env)).toMatchObject({ code: 0 });
    expect(texts(read(home, 'out/n.ipynb'))).toEqual([['magic'], ['after\n']]);
  });

  test('writes the requested files, with the range and profile from the command line', async () => {
    const env = fresh();
    const { HOME: home = '' } = env;
    writeFileSync(join(home, 'in.apl'), '%use prod\n%time last 1h\n// %%\n%time\nprint x = 1 // %%\n');
    const { code, stdout, stderr } = await aplKernel(
      [
        'run',
        'in.apl',
        '-o',
        'done.ipynb',
        '--html',
        'page.html',
        '--time',
        '2026-01-01',
        '--profile',
        'local',
      ],
      env,
    );
    expect([code, stdout]).toEqual([0, 'ok      in.apl: page.html, done.ipynb\n']);
    expect(stderr.replace(/\d+\.\d s/g, 'N s').split('\n')).toEqual([
      'in.apl 1/2 ok N s  %use local',
      '[apl-kernel] starting the local service',
      'in.apl 2/2 ok N s  %time',
      '',
    ]);
    const range =
      'Time range: 2026-01-01 (UTC) (2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z, end exclusive)\n';
    expect(texts(read(home, 'done.ipynb')).map(([first]) => first)).toEqual([
      `Using local (the local service)\n${range}`,
      range,
    ]);
    expect(readFileSync(join(home, 'page.html'), 'utf8')).toContain(
      '2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z',
    );
  });

  test('continues after failing cells with --keep-going, and exits with 1', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    writeFileSync(join(home, 'bad.apl'), '%nonsense\n// %%\n%echo second\n// %%\n%nonsense\n');
    const { code, stdout } = await aplKernel(['run', 'bad.apl', '--keep-going'], env);
    expect([code, stdout.match(/cell \[\d\]/g)]).toEqual([1, ['cell [1]', 'cell [3]']]);
    expect(texts(read(home, 'out/bad.ipynb'))).toEqual([['magic'], ['second\n'], ['magic']]);
  });

  test('performs an effect that needs consent only if --allow or APL_KERNEL_ALLOW allows it', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    writeFileSync(join(home, 'ask.apl'), '%config limit 7\n');
    const settings = () => existsSync(join(home, '.apl-kernel.toml'));
    const refused = await aplKernel(['run', 'ask.apl', '--allow', 'overwrite,drop,send'], env);
    expect([refused.code, settings()]).toEqual([1, false]);
    expect(refused.stdout).toContain('apl-kernel run --allow config');
    const allowed = await aplKernel(['run', 'ask.apl', '--allow', 'config'], env);
    expect([allowed.code, settings()]).toEqual([0, true]);
    writeFileSync(join(home, 'ask.apl'), '%config limit --clear\n');
    const byEnvironment = await aplKernel(['run', 'ask.apl'], {
      ...env,
      APL_KERNEL_ALLOW: 'config,nonsense',
    });
    expect([byEnvironment.code, readFileSync(join(home, '.apl-kernel.toml'), 'utf8')]).toEqual([0, '']);
    const { stdout, stderr } = byEnvironment;
    expect(stdout + stderr + readFileSync(join(home, 'out/ask.ipynb'), 'utf8')).toContain(
      'APL_KERNEL_ALLOW: nonsense is not an effect that can be allowed',
    );
  });

  test('reruns a notebook that replaces its own import, without asking', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    writeFileSync(join(home, 'rows.csv'), 'n\n1\n');
    writeFileSync(join(home, 'own.apl'), '%import rows.csv --replace\n');
    for (const _ of [1, 2]) expect((await aplKernel(['run', 'own.apl'], env)).code).toBe(0);
    writeFileSync(join(home, 'own.apl'), '%import rows.csv\n// %%\n%import rows.csv --replace\n');
    expect((await aplKernel(['run', 'own.apl'], env)).code).toBe(1);
    expect((await aplKernel(['run', 'own.apl', '--allow', 'drop'], env)).code).toBe(0);
  });

  test.each([
    [['run'], "error: missing required argument 'notebook'"],
    [['run', 'a.apl', '--nonsense'], "error: unknown option '--nonsense'"],
    [['run', 'a.apl', '--timeout', 'soon'], 'apl-kernel: soon is not a number of seconds'],
    [['run', 'a.apl', '-p', '5'], 'apl-kernel: 5 is not a parameter'],
    [['run', 'a.apl', '--allow', 'query'], 'apl-kernel: query is not an effect that can be allowed'],
    [['verify', 'a.apl', '--allow', 'all,drop'], 'apl-kernel: all is not an effect that can be allowed'],
    [
      ['run', 'a.apl', 'a.apl', '-o', 'b.ipynb'],
      'apl-kernel: -o and --html name one file, but there are several notebooks',
    ],
    [['run', 'a.apl', '-o', 'none/b.ipynb'], 'apl-kernel: cannot write none/b.ipynb'],
  ])('%j is a usage error with exit code 2', async (args, message) => {
    const env = shared();
    writeFileSync(join(env.HOME ?? '', 'a.apl'), '%echo one\n');
    const { code, stderr } = await aplKernel(args, env);
    expect([code, stderr.split('\n')[0]]).toEqual([2, message]);
  });

  const unreadable: readonly (readonly [file: string, content: string | undefined, message: string])[] = [
    ['gone.ipynb', undefined, 'cannot read gone.ipynb'],
    ['list.ipynb', '[]', 'list.ipynb is not a notebook: it is not a JSON object'],
    ['three.ipynb', '{"nbformat": 3}', 'three.ipynb is not a notebook: its nbformat is 3, not 4'],
    [
      'cell.ipynb',
      '{"nbformat": 4, "cells": [{}]}',
      'cell.ipynb is not a notebook: cell 1 has no type or no source',
    ],
  ];
  test.each(unreadable)('says what is wrong with %s', async (file, content, message) => {
    const env = shared();
    if (content !== undefined) writeFileSync(join(env.HOME ?? '', file), content);
    const { code, stderr } = await aplKernel(['run', file], env);
    expect([code, stderr.split('\n')[0]]).toEqual([2, `apl-kernel: ${message}`]);
  });
});

describe('import', () => {
  test('makes a dataset that a query can read', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    writeFileSync(join(home, 'own.csv'), 'when,n\n2026-01-01T00:00:00Z,1\n2026-01-02T00:00:00Z,41\n');
    const { code, stdout } = await aplKernel(['import', 'own.csv', '--time', 'when'], env);
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(/^own: 2 rows, \d fields, time from when$/);
    writeFileSync(join(home, 'q.apl'), '%time 2026-01-01..2026-01-03\nown | summarize total = sum(n)\n');
    expect(await aplKernel(['run', 'q.apl'], env)).toMatchObject({ code: 0 });
    expect(texts(read(home, 'out/q.ipynb'))[0]?.at(-1)).toContain('42');
    const other = await aplKernel(['import', 'own.csv', '--dataset', 'other', '--time', 'when'], env);
    expect([other.code, other.stdout.split(':')[0]]).toEqual([0, 'other']);
  });

  test('asks for the order of ambiguous dates', async () => {
    const env = shared();
    writeFileSync(join(env.HOME ?? '', 'uk.csv'), 'Date,Amount\n05/11/2026 10:00,1\n');
    const asked = await aplKernel(['import', 'uk.csv'], env);
    expect([asked.code, asked.stderr.includes('`--dates dmy` or `--dates mdy`')]).toEqual([1, true]);
    expect((await aplKernel(['import', 'uk.csv', '--dates', 'dmy'], env)).stdout).toContain('time from Date');
    const unknown = await aplKernel(['import', 'uk.csv', '--dates', 'ydm'], env);
    expect([unknown.code, unknown.stderr.includes('give dmy, mdy, ymd')]).toEqual([2, true]);
  });

  test('reads several files as one, and standard input', async () => {
    const env = shared();
    const { HOME: home = '' } = env;
    writeFileSync(join(home, 'app.log'), '2026-01-02T00:00:00Z b\n');
    writeFileSync(join(home, 'app.log.1'), '2026-01-01T00:00:00Z a\n');
    const set = await aplKernel(['import', 'app.log*'], env);
    expect(set.stdout.split('\n').slice(0, 2)).toEqual([
      'app: 2 rows, 3 fields, time from _time',
      '  Imported 2 files together.',
    ]);
    const args = ['import', '-', '--pattern', '%{TIMESTAMP_ISO8601:time} %{WORD:what}'];
    const piped = await aplKernel([...args, '--dataset', 'piped'], env, '2026-01-01T00:00:00Z x\n');
    expect([piped.code, piped.stdout.split(',')[0]]).toEqual([0, 'piped: 1 row']);
    const nameless = await aplKernel(args, env, 'x\n');
    expect([nameless.code, nameless.stderr.split('\n')[0]]).toEqual([
      2,
      'apl-kernel: standard input has no name',
    ]);
  });
});

describe('freeze', () => {
  const notebook = (sources: readonly string[]) =>
    JSON.stringify({
      cells: sources.map((source, index) => ({
        cell_type: 'code',
        id: `c${index}`,
        metadata: {},
        execution_count: null,
        outputs: [],
        source,
      })),
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    });
  const sources = [
    '%use local\n%time last 2h',
    "['sample-http-logs'] | summarize count(), avg(req_duration_ms) by bin(_time, 10m)",
    "['sample-http-logs'] | where _time > ago(1h) | project uri, status, id | limit 300",
    '%%time yesterday\nprint x = now()',
  ];

  test('running a frozen notebook again writes the same bytes', async () => {
    const env = fresh();
    const { HOME: home = '' } = env;
    const text = (name: string) => readFileSync(join(home, name), 'utf8');
    writeFileSync(join(home, 'a.ipynb'), notebook(sources));
    expect(await aplKernel(['run', 'a.ipynb', '-o', 'run.ipynb'], env)).toMatchObject({ code: 0 });
    const { code, stdout } = await aplKernel(['freeze', 'run.ipynb', '-o', 'frozen.ipynb'], env);
    const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          String.raw`^cell 1: %time last 2h -> %time ${time}\.\.${time} \(the window of its outputs\)\ncell 4: %%time yesterday -> %%time ${time}\.\.${time} \(the window of its outputs\)\n$`,
        ),
      ),
    ]);
    await aplKernel(['run', 'frozen.ipynb', '-o', 'first.ipynb'], env);
    await aplKernel(['serve', '--stop'], env);
    await aplKernel(['run', 'first.ipynb', '-o', 'second.ipynb'], env);
    expect(text('second.ipynb')).toBe(text('first.ipynb'));
    expect(text('first.ipynb').match(/"sha256"/g)?.length).toBeGreaterThanOrEqual(4);
    expect(await aplKernel(['freeze', 'first.ipynb'], env)).toMatchObject({
      code: 0,
      stdout: 'first.ipynb: every range is already absolute\n',
    });
    expect(text('first.ipynb')).toBe(text('second.ipynb'));
  });

  test('APL_KERNEL_NOW sets the current time', async () => {
    const env = shared();
    writeFileSync(join(env.HOME ?? '', 'a.ipynb'), notebook(['%time last 2h']));
    const { stdout } = await aplKernel(['freeze', 'a.ipynb'], {
      ...env,
      APL_KERNEL_NOW: '2026-01-31T12:00:00Z',
    });
    const [, time] = /-> %time (\S{16})\S*\.\.2026-01-31T12:00:\S+ \(as of now\)\n$/.exec(stdout) ?? [];
    expect(time).toBe('2026-01-31T10:00');
  });

  test('names a range that cannot be frozen, and exits with 1', async () => {
    const env = shared();
    writeFileSync(join(env.HOME ?? '', 'a.ipynb'), notebook(['%time all']));
    const { code, stdout } = await aplKernel(['freeze', 'a.ipynb'], env);
    expect([code, stdout]).toEqual([
      1,
      'cell 1: not frozen: `%time all` is the window of its results, and there are none: run the notebook first\n',
    ]);
  });
});

test('a run from a recording gives the same notebook without a service or its data', async () => {
  const home = scratchDirectory();
  const environment = (data: string) => ({ HOME: home, PATH: '', APL_KERNEL_DATA: join(home, data) });
  const cells = [
    '%import events.ndjson --dataset events --replace',
    "%time all\n['events'] | summarize n = count() by host",
    "slow << ['events'] | where ms > 5 | project _time, host, ms\n\nslow | summarize max(ms) by host",
    "%time last 6h\n['sample-http-logs'] | summarize count() by bin_auto(_time)",
  ];
  writeFileSync(join(home, 'in.apl'), cells.join('\n// %%\n'));
  const rows = ['a', 'b'].map((host, index) => ({
    _time: `2026-01-02T1${index}:00:00Z`,
    host,
    ms: index * 9,
  }));
  writeFileSync(join(home, 'events.ndjson'), rows.map(row => JSON.stringify(row)).join('\n'));
  const first = environment('first');
  const run = (output: string, env: Record<string, string>) =>
    aplKernel(['run', 'in.apl', '-o', output, '--cache', 'answers'], env);
  // An existing directory does not count as a recording.
  mkdirSync(join(home, 'answers'));
  expect(await run('first.ipynb', first)).toMatchObject({ code: 0 });
  await aplKernel(['serve', '--stop'], first);
  writeFileSync(join(home, 'events.ndjson'), '');
  mkdirSync(join(home, 'second'), { mode: 0o500 });
  expect(await run('second.ipynb', environment('second'))).toMatchObject({ code: 0 });
  const text = (file: string) => readFileSync(join(home, file), 'utf8');
  expect(text('second.ipynb')).toBe(text('first.ipynb'));
  expect(text('first.ipynb').match(/"sha256"/g)?.length).toBeGreaterThan(3);
});
