import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { aplKernel, scratchDirectory } from './command.js';

const used: Record<string, string>[] = [];

/** An environment with a home and a data directory of its own; its local service ends with the test. */
function fresh(): Record<string, string> {
  const home = scratchDirectory();
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
  used.push(env);
  return env;
}

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
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
  readonly text?: string;
  readonly ename?: string;
  readonly data?: Readonly<Record<string, string>>;
}

describe('run', () => {
  test('writes an executed notebook and a page, without Jupyter', async () => {
    const env = fresh();
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
    const { cells } = JSON.parse(readFileSync(join(home, 'out/look.ipynb'), 'utf8')) as Written;
    expect(cells.map(cell => [cell.cell_type, cell.execution_count])).toEqual([
      ['markdown', undefined],
      ['code', 1],
      ['code', 2],
    ]);
    expect(cells[1]?.outputs).toEqual([{ output_type: 'stream', name: 'stdout', text: '<b>\n' }]);
    expect(cells[2]?.outputs?.map(({ data }) => data?.['text/plain']?.includes('42'))).toEqual([true]);
    const page = readFileSync(join(home, 'out/look.html'), 'utf8');
    expect(page).toContain('<h1>Count &amp; cost</h1>');
    expect(page).toContain('&#60;b&#62;');
    expect(page).not.toMatch(/<script/i);
  });

  test('ends at a failing cell, writes what there is, and exits with 1', async () => {
    const env = fresh();
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
      '        2 | %nonsense',
    ]);
    const { cells } = JSON.parse(readFileSync(join(home, 'out/bad.ipynb'), 'utf8')) as Written;
    expect(cells.map(cell => cell.outputs?.map(output => output.output_type))).toEqual([
      ['stream'],
      ['stream', 'error'],
      [],
    ]);
  });

  test('goes on after a failing cell that is tagged so', async () => {
    const env = fresh();
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
    const written = JSON.parse(readFileSync(join(home, 'out/n.ipynb'), 'utf8')) as Written;
    expect(written.cells.map(({ outputs }) => outputs?.[0]?.text ?? outputs?.[0]?.ename)).toEqual([
      'magic',
      'after\n',
    ]);
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
    const env = fresh();
    if (content !== undefined) writeFileSync(join(env.HOME ?? '', file), content);
    const { code, stderr } = await aplKernel(['run', file], env);
    expect([code, stderr.split('\n')[0]]).toEqual([1, `apl-kernel: ${message}`]);
  });
});

describe('import', () => {
  test('makes a dataset that a query can read', async () => {
    const env = fresh();
    const { HOME: home = '' } = env;
    writeFileSync(join(home, 'own.csv'), 'when,n\n2026-01-01T00:00:00Z,1\n2026-01-02T00:00:00Z,41\n');
    const { code, stdout } = await aplKernel(
      ['import', 'own.csv', '--dataset', 'own', '--time', 'when'],
      env,
    );
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(/^own: 2 rows, \d fields, _time from when$/);
    writeFileSync(join(home, 'q.apl'), '%time 2026-01-01..2026-01-03\nown | summarize total = sum(n)\n');
    expect(await aplKernel(['run', 'q.apl'], env)).toMatchObject({ code: 0 });
    const { cells } = JSON.parse(readFileSync(join(home, 'out/q.ipynb'), 'utf8')) as Written;
    expect(cells[0]?.outputs?.at(-1)?.data?.['text/plain']).toContain('42');
  });
});
