import { expect, test } from 'vitest';
import { pinOf, setPin } from '../../../labextension/src/dashboard/pin.js';

/** The metadata of a cell. */
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

const plain = { isWide: false, showsTable: false };

test('a pinned cell is one by its metadata, beside what else stands there', () => {
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
])('metadata that a stranger wrote: %j', (apl, expected) => {
  expect(pinOf(cell(apl))).toEqual(expected);
});
