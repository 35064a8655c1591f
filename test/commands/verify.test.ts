import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aplKernel } from './command.js';

const SCRIPT = [
  '%use local\n%import data.csv --dataset web --replace\n%time 2026-01-01',
  'web | summarize n = count(), total = sum(ms), mean = avg(ms) by host',
  'web | project host, ms | sort by ms asc',
  '%%time last 1h\nprint at = now()',
].join('\n// %%\n');

const rows = ['a,5', 'a,7', 'b,1.5', 'c,9'];

const folder = mkdtempSync(join(tmpdir(), 'apl-kernel-verify-'));
const notebook = join(folder, 'nb.ipynb');
const env = { HOME: folder, PATH: '', APL_KERNEL_DATA: join(folder, 'data') };
let ran = '';

beforeAll(async () => {
  write(rows);
  writeFileSync(join(folder, 'in.apl'), SCRIPT);
  expect(await aplKernel(['run', 'in.apl', '-o', 'nb.ipynb'], env)).toMatchObject({ code: 0 });
  ran = readFileSync(notebook, 'utf8');
});

afterAll(async () => {
  await aplKernel(['serve', '--stop'], env);
  rmSync(folder, { recursive: true });
});

/** Runs verify on the executed notebook after a change to it or to its rows. */
async function verified(change: () => void, args: readonly string[] = []) {
  write(rows);
  writeFileSync(notebook, ran);
  change();
  const before = readFileSync(notebook, 'utf8');
  const finished = await aplKernel(['verify', 'nb.ipynb', ...args], env);
  if (args.length === 0) expect(readFileSync(notebook, 'utf8')).toBe(before);
  return finished;
}

function write(lines: readonly string[], head = 'host,ms'): void {
  const times = lines.map((line, index) => `2026-01-01T00:00:0${index}Z,${line}`);
  writeFileSync(join(folder, 'data.csv'), [`_time,${head}`, ...times, ''].join('\n'));
}

interface Cell {
  readonly source: readonly string[];
}

function without(change: (cells: readonly Cell[]) => readonly Cell[]): void {
  const parsed = JSON.parse(ran);
  writeFileSync(notebook, JSON.stringify({ ...parsed, cells: change(parsed.cells) }));
}

/** Comments out the query of a cell. */
function quiet(cell: Cell): Cell {
  return { ...cell, source: cell.source.map(line => line.replace('print', '// print')) };
}

const clock =
  'cell 4, result 1: different: rows: 1 added, 1 removed, 0 the same (its range is relative; apl-kernel freeze makes it absolute)';
const lines = ({ stdout }: { readonly stdout: string }) =>
  stdout
    .split('\n')
    .filter(line => !/^ {2}(added|removed): at/.test(line))
    .slice(0, -1);

describe('verify', () => {
  test('finds differences only in a range that follows the clock, if the data is the same', async () => {
    const run = await verified(() => undefined);
    expect([run.code, lines(run)]).toEqual([3, ['nb.ipynb: 2 the same, 1 different, 0 impossible', clock]]);
  });

  test('exits with 0 if all results are the same, and with 1 if one is missing', async () => {
    const whole = await verified(() => without(cells => cells.slice(0, 3)));
    expect([whole.code, lines(whole)]).toEqual([0, ['nb.ipynb: 2 the same, 0 different, 0 impossible']]);
    const run = await verified(() => without(cells => cells.map(quiet)));
    expect([run.code, lines(run)]).toEqual([
      1,
      [
        'nb.ipynb: 2 the same, 0 different, 1 impossible',
        'cell 4, result 1: impossible: the cell no longer gives this result',
      ],
    ]);
  });

  test('identifies a changed value by its group key', async () => {
    const run = await verified(() => write(rows.with(1, 'a,8')));
    expect([run.code, lines(run)]).toEqual([
      3,
      [
        'nb.ipynb: 0 the same, 3 different, 0 impossible',
        'cell 2, result 1: different: rows: 1 changed, 2 the same',
        '  changed: host a, total 12 -> 13, mean 6 -> 6.5',
        'cell 3, result 1: different: rows: 1 changed, 3 the same',
        '  changed: host a, ms 7 -> 8',
        clock,
      ],
    ]);
  });

  test('reports results that it could not get, and continues', async () => {
    const run = await verified(() => write(rows, 'server,ms'));
    expect([run.code, lines(run).slice(0, 2)]).toEqual([
      3,
      [
        'nb.ipynb: 0 the same, 1 different, 2 impossible',
        expect.stringMatching(/^cell 2, result 1: impossible: unknown-field: /),
      ],
    ]);
  });

  test('prints JSON', async () => {
    const { code, stdout } = await verified(() => write([...rows, 'd,1']), ['--json']);
    const { different, results } = JSON.parse(stdout);
    expect([code, different, results[0]]).toEqual([
      3,
      3,
      {
        cell: 2,
        table: 1,
        frozen: true,
        rowsBefore: 3,
        rowsAfter: 4,
        status: 'different',
        reason: 'rows: 1 added, 3 the same',
        changes: {
          schema: [],
          key: ['host'],
          same: 3,
          added: 1,
          removed: 0,
          changed: 0,
          reordered: false,
          examples: [{ kind: 'added', cells: { host: 'd', n: '1', total: '1', mean: '1' } }],
        },
      },
    ]);
  });

  test('of a notebook without results is a usage error', async () => {
    writeFileSync(join(folder, 'none.apl'), '%echo one');
    const { code, stderr } = await aplKernel(['verify', 'none.apl'], env);
    expect([code, stderr.split('\n').at(-3)]).toEqual([
      2,
      'apl-kernel: none.apl has no results to compare with',
    ]);
  });
});
