import { Dictionary, Int32, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import { fillTable } from '../../../kernel/local/results/fill.js';
import { readSentTable } from '../../../kernel/local/results/sent-arrow.js';
import { temporaryDirectory } from '../service.js';

/** Returns the type of the engine's column, and its values, for texts sent as one dictionary. */
async function filled(texts: readonly (string | null)[]): Promise<readonly [type: string, values: unknown]> {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), families: [] });
  onTestFinished(() => engine.close());
  const table = new Table({ c0: vectorFromArray(texts, new Dictionary(new Utf8(), new Int32())) });
  table.schema.metadata.set('apl.fields', JSON.stringify([{ name: 's', type: 'string' }]));
  return engine.withConnection(async connection => {
    await fillTable(connection, 'r', readSentTable(tableToIPC(table, 'stream')));
    const rows = await connection.run('SELECT c0::VARCHAR, typeof(c0) FROM results.r ORDER BY rowid');
    return [String(rows[0]?.[1]).replace(/\(.*/s, ''), rows.map(([value]) => value)];
  });
}

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])(
  'strings with few distinct values become an enum at any length: %d',
  async length => {
    const words = ['a', 'b', null].map(letter => letter?.repeat(length) ?? null);
    expect(await filled(words)).toEqual(['ENUM', words]);
  },
);

test('a value with a NUL character makes the column plain strings', async () => {
  const words = ['a', 'a\u0000b'];
  expect(await filled(words)).toEqual(['VARCHAR', words]);
});

test('a large column keeps its rows and nulls in place', async () => {
  const texts = Array.from({ length: 10_000 }, (_, row) =>
    row % 7 < row / 2000 ? null : `user ${row % 50}`,
  );
  expect(await filled(texts)).toEqual(['ENUM', texts]);
});
