import { describe, expect, test } from 'vitest';
import { type Notebook, notebookText, parseNotebook, sourceOf } from '../../kernel/headless/notebook.js';
import { prepareNotebook, type RunInputs } from '../../kernel/headless/prepare.js';

type Sample = readonly [source: string, ...tags: readonly string[]];

function notebookOf(samples: readonly Sample[]): Notebook {
  const cells = samples.map(([source, ...tags]) => ({
    cell_type: 'code',
    source,
    metadata: { tags },
    outputs: [],
  }));
  const notebook = parseNotebook(JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 4 }));
  if (typeof notebook === 'string') throw new Error(notebook);
  return notebook;
}

function check(samples: readonly Sample[], inputs: Partial<RunInputs>, after: readonly string[]): void {
  const notebook = notebookOf(samples);
  prepareNotebook(notebook, { parameters: [], ...inputs });
  expect(notebook.cells.map(sourceOf)).toEqual(after);
}

/** A query that uses every parameter below. */
const USE = 'print n, s, flag, list, text, none, big';

describe('parameters go into their own cell', () => {
  const parameters = [
    'n=5',
    's=a "b" %\n',
    'flag=true',
    'list=["a",1]',
    'text="5"',
    'none=null',
    'big=9007199254740993',
  ];
  const cell = [
    '%param n = 5',
    '%param s = "a \\"b\\" %\\n"',
    '%param flag = true',
    '%param list = dynamic(["a",1])',
    '%param text = "5"',
    '%param none = "null"',
    '%param big = 9007199254740993',
  ].join('\n');
  test('after the tagged cell', () =>
    check([[USE], ['b', 'parameters'], ['%param n = 1']], { parameters }, [USE, 'b', cell, '%param n = 1']));
  test('without a tag, after the last cell that sets parameters', () =>
    check([[USE], ['%param n = 1'], ['declare query_parameters(s: string);'], ['b']], { parameters }, [
      USE,
      '%param n = 1',
      'declare query_parameters(s: string);',
      cell,
      'b',
    ]));
  test('without such a cell, at the beginning', () => check([[USE]], { parameters }, [cell, USE]));
  test('replacing the one of an earlier run', () =>
    check(
      [['a', 'parameters'], ['%param n = 1', 'injected-parameters'], ['print n']],
      { parameters: ['n=2'] },
      ['a', '%param n = 2', 'print n'],
    ));
  test.each(['n', '=5', '5=n', 'a b=1'])('%j is rejected as a parameter', text => {
    expect(() => prepareNotebook(notebookOf([]), { parameters: [text] })).toThrow(
      `${text} is not a parameter`,
    );
  });
});

test.each([
  [[['%param city = "Ulm" days = 3'], ['print city']], 'the notebook has city, days'],
  [[['declare query_parameters(city: string);'], ['cty_id']], 'the notebook has city'],
  [[['print 1']], 'the notebook has no parameters'],
] as const)('a parameter that no cell names is rejected', (samples, hint) => {
  const prepared = () => prepareNotebook(notebookOf(samples), { parameters: ['cty="Bonn"'] });
  expect(prepared).toThrow(
    expect.objectContaining({ code: 'option-invalid', message: 'no cell names the parameter cty', hint }),
  );
});

describe('range and profile', () => {
  test('replace the notebook-wide lines', () =>
    check(
      [['%use local\n%time last 1h\nweb'], ['%%time last 5m\nweb'], ['%time\n%time today\nweb']],
      { time: 'yesterday', profile: 'prod' },
      ['%use prod\n%time yesterday\nweb', '%%time last 5m\nweb', '%time\n%time yesterday\nweb'],
    ));
  test('are added in a cell at the beginning if no line sets them', () =>
    check([['web']], { time: 'yesterday', profile: 'prod' }, ['%use prod\n%time yesterday', 'web']));
});

test("a notebook is written in Jupyter's format", () => {
  const text = [
    '{',
    ' "cells": [',
    '  {',
    '   "cell_type": "code",',
    '   "execution_count": 1,',
    '   "id": "a",',
    '   "metadata": {},',
    '   "outputs": [',
    '    {',
    '     "name": "stdout",',
    '     "output_type": "stream",',
    '     "text": [',
    '      "one\\n",',
    '      "two"',
    '     ]',
    '    }',
    '   ],',
    '   "source": [',
    '    "web\\n",',
    '    "| count"',
    '   ]',
    '  }',
    ' ],',
    ' "metadata": {},',
    ' "nbformat": 4,',
    ' "nbformat_minor": 5',
    '}',
    '',
  ].join('\n');
  const notebook = parseNotebook(text);
  expect(typeof notebook === 'string' ? notebook : notebookText(notebook)).toBe(text);
});
