import { DuckDBInstance } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { expect, test } from 'vitest';
import { Copies } from '../../../kernel/local/engine/reading/read-copies.js';
import { Texts } from '../../../kernel/local/engine/reading/read-texts.js';

/** Returns SQL of rows joined to a table of `count` texts. */
function joinedTo(count: number): string {
  const others = `SELECT n, 'one of many texts, number ' || n AS t FROM range(${count}) o(n)`;
  return `range(5000) r(i) JOIN (${others}) ON n = i * 7919 % ${count}`;
}

/** SQL expressions of the row number `i`; the engine stores the strings of a vector in a few blocks. */
test.each([
  ['stored inline', "'v' || i % 700"],
  ['stored one after the other', "'a longer text of its own number ' || i"],
  ['equal in every row', "'the same long text in every row'"],
  [
    'that are short, long or null',
    "CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'x' || i ELSE repeat('long ', 9) || i END",
  ],
  ['joined from a small table in any order', 't', joinedTo(40)],
  ['joined from a large table in any order', 't', joinedTo(3000)],
])('strings %s are read in few pieces', async (_, sql, from = 'range(5000) r(i)') => {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const result = await connection.stream(`SELECT ${sql} FROM ${from}`);
  const copies = new Copies();
  const texts = new Texts(copies);
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
    texts.read(duckdb.data_chunk_get_vector(chunk.chunk, 0), chunk.rowCount);
    expect(stringsOf(texts, chunk.rowCount)).toEqual(chunk.getColumnValues(0));
    expect(texts.pieces.length).toBeLessThan(16);
    copies.release();
    expect(texts.pieces.map(({ length }) => length)).toEqual(texts.pieces.map(() => 0));
  }
  connection.closeSync();
  instance.closeSync();
});

function stringsOf({ lengths, starts, pieceOf, pieces }: Texts, rows: number): (string | null)[] {
  return Array.from({ length: rows }, (_, row) => {
    const [length = 0, from = 0] = [lengths[row], starts[row]];
    const piece = pieces[pieceOf[row] ?? 0];
    return length < 0 ? null : new TextDecoder().decode(piece?.subarray(from, from + length));
  });
}
