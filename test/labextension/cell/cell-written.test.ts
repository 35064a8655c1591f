import { describe, expect, test } from 'vitest';
import type { WrittenCell } from '../../../kernel/apl/editor/editor-link.js';
import { adopted, changesOf, type StandingCell } from '../../../labextension/src/cell/cell-written.js';

const code = (source: string): WrittenCell => ({ kind: 'code', source });
const own = (source: string): StandingCell => ({ kind: 'code', source, origin: undefined, isLocked: false });

/** Returns the cells after a run of the first has written these below it. */
function rewrite(standing: readonly StandingCell[], ...sources: readonly string[]): readonly StandingCell[] {
  const cells = [...standing];
  for (const each of changesOf(cells, 0, { below: 'i', cells: sources.map(code) })) {
    if (each.change === 'delete') cells.splice(each.at, 1);
    else cells.splice(each.at, 0, { ...each.cell, origin: each.origin, isLocked: false });
  }
  return cells;
}

const texts = (cells: readonly StandingCell[]) => cells.map(({ source }) => source).join(' ');
const changed = (cells: readonly StandingCell[], from: string, to: string) =>
  cells.map(cell => (cell.source === from ? { ...cell, source: to } : cell));

describe('cells written below', () => {
  const first = rewrite([own('i'), own('mine')], 'a', 'b', 'c');

  test('go between the cell that ran and the next one', () => {
    expect(texts(first)).toBe('i a b c mine');
    expect(texts(rewrite([own('i')], 'a'))).toBe('i a');
  });

  test('do not change when written again', () => {
    expect(changesOf(first, 0, { below: 'i', cells: ['a', 'b', 'c'].map(code) })).toEqual([]);
  });

  test('replace the previous ones, and equal ones stay in place', () => {
    expect(texts(rewrite(first, 'd', 'b', 'e'))).toBe('i d b e mine');
    expect(texts(rewrite(first, 'c', 'a'))).toBe('i c a mine');
    expect(texts(rewrite(first))).toBe('i mine');
  });

  test('keep the edits of a reader', () => {
    const edited = changed(first, 'b', 'B!');
    expect(texts(rewrite(edited, 'a', 'b', 'c'))).toBe('i a B! c mine');
    expect(texts(rewrite(edited, 'x', 'y'))).toBe('i x y B! mine');
  });

  test('keep cells that a reader inserted between them', () => {
    const [i, a, ...rest] = first as [StandingCell, StandingCell, ...StandingCell[]];
    expect(texts(rewrite([i, a, own('note'), ...rest], 'a', 'b', 'd'))).toBe('i a note b d mine');
  });

  test('do not reuse equal cells of another cell', () => {
    const both = [own('j'), ...first];
    const written = changesOf(both, 0, { below: 'j', cells: [code('a')] });
    expect(written).toEqual([
      { change: 'insert', at: 1, cell: code('a'), origin: { below: 'j', mark: expect.any(String) } },
    ]);
  });

  test('are recognized in a notebook without ids, unlike those of other cells', () => {
    const before = first.slice(1, 4);
    const others = rewrite([own('j')], 'x').slice(1);
    const theirs = others.map(cell => ({ ...cell, origin: { ...(cell.origin as object), below: 'k' } }));
    const again = adopted([own('i'), ...before, own('j'), ...theirs], 0, 'i2', new Set(['i2', 'j2']));
    const changes = changesOf(again, 0, { below: 'i2', cells: ['a', 'b', 'd'].map(code) });
    expect(changes.map(({ change, at }) => [change, at])).toEqual([
      ['insert', 3],
      ['delete', 4],
    ]);
    const kept = [own('i'), ...before];
    expect(adopted(kept, 0, 'i2', new Set(['i2', 'i']))).toBe(kept);
    const apart = [own('i'), own('mine'), ...before];
    expect(adopted(apart, 0, 'i2', new Set(['i2']))).toBe(apart);
  });

  test('do not replace a locked cell', () => {
    expect(
      texts(
        rewrite(
          first.map(cell => ({ ...cell, isLocked: true })),
          'x',
        ),
      ),
    ).toBe('i x a b c mine');
  });

  test.each([[null], ['i'], [{ below: 'i' }], [{ below: 'other', mark: '1-2' }], [{ below: 7, mark: {} }]])(
    'do not replace cells of another origin: %j',
    origin => {
      expect(texts(rewrite([own('i'), { ...own('theirs'), origin }], 'a'))).toBe('i a theirs');
    },
  );
});
