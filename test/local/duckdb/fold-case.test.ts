import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { foldCase } from '../../../kernel/local/sql/fold-case.js';

test('letters are folded as the engine folds them, also at the end of a word', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    "SELECT n::INTEGER, lower('a' || chr(n::INTEGER)) FROM range(1, 131072) AS t(n) WHERE n NOT BETWEEN 55296 AND 57343",
  );
  const unlike = reader.getRows().flatMap(([code, engine]) => {
    const text = `a${String.fromCodePoint(Number(code))}`;
    // The engine leaves letters newer than its Unicode version unchanged.
    return engine === foldCase(text) || engine === text ? [] : [text];
  });
  expect(unlike).toEqual([]);
  // Word filters handle these specially.
  const intoAscii = reader
    .getRows()
    .flatMap(([code, engine]) =>
      Number(code) >= 0x80 && /^a[\0-\x7f]$/.test(String(engine)) ? [Number(code)] : [],
    );
  expect(intoAscii).toEqual([0x130, 0x212a]);
  const folded = (text: string) => connection.runAndReadAll('SELECT lower($1)', [text]);
  for (const text of ['\u0130', '\u0391\u03a3', 'K\u212a', 'stra\u1e9ee'])
    expect((await folded(text)).getRows()).toEqual([[foldCase(text)]]);
  connection.closeSync();
  instance.closeSync();
});
