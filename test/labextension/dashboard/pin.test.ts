import { expect, test } from 'vitest';
import { inPlaces, pinOf, setPin, setPlaces } from '../../../labextension/src/dashboard/pin.js';

/** Returns a cell with this metadata. */
function cell(apl?: unknown) {
  const metadata: Record<string, unknown> = apl === undefined ? {} : { apl };
  return {
    metadata,
    getMetadata: (name: string) => metadata[name],
    setMetadata: (name: string, value: unknown) => {
      metadata[name] = value;
    },
    deleteMetadata: (name: string) => {
      delete metadata[name];
    },
  };
}

interface Cell {
  readonly name: string;
  readonly model: ReturnType<typeof cell>;
}

const plain = { isWide: false, showsTable: false };

test('pinning a cell writes its metadata and keeps other entries', () => {
  const starred = cell({ star: { id: 'a' } });
  setPin(starred, plain);
  expect(starred.metadata).toEqual({ apl: { star: { id: 'a' }, dashboard: true } });
  setPin(starred, { isWide: true, showsTable: true });
  expect(starred.metadata).toEqual({ apl: { star: { id: 'a' }, dashboard: { wide: true, table: true } } });
  expect(pinOf(starred)).toEqual({ isWide: true, showsTable: true });
  setPin(starred, undefined);
  expect(starred.metadata).toEqual({ apl: { star: { id: 'a' } } });
  const bare = cell();
  setPin(bare, plain);
  setPin(bare, undefined);
  expect(bare.metadata).toEqual({});
});

test.each<[unknown, object | undefined]>([
  [undefined, undefined],
  ['x', undefined],
  [{ dashboard: 'yes' }, undefined],
  [{ dashboard: null }, undefined],
  [{ dashboard: true }, plain],
  [{ dashboard: { wide: 'yes', table: 1 } }, plain],
  [{ dashboard: { place: '1' } }, plain],
  [{ dashboard: { place: 1.5 } }, plain],
  [{ dashboard: { place: 2 } }, { ...plain, place: 2 }],
])('reads pins from untrusted metadata: %j', (apl, expected) => {
  expect(pinOf(cell(apl))).toEqual(expected);
});

test('tiles follow their saved positions, then the order of the notebook', () => {
  const cells = ['a', 'b', 'c', 'd'].map(name => ({ name, model: cell({ dashboard: true }) }));
  const names = () => inPlaces(cells).map(({ name }) => name);
  expect(names()).toEqual(['a', 'b', 'c', 'd']);
  const [a, b, c, d] = cells as [Cell, Cell, Cell, Cell];
  setPlaces([d, a, c]);
  expect(names()).toEqual(['d', 'a', 'c', 'b']);
  setPin(b.model, { isWide: true, showsTable: false, place: 1 });
  expect(b.model.metadata).toEqual({ apl: { dashboard: { wide: true, place: 1 } } });
  // Equal positions fall back to notebook order.
  expect(names()).toEqual(['d', 'a', 'b', 'c']);
});
