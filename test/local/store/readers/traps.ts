/** What the tests of readers share: a file is imported, and the stored file is read as it is. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { type Answer, sharedService, type TestService, temporaryDirectory } from '../../service.js';

let shared: (() => TestService) | undefined;
let reader: Engine | undefined;
let datasets = 0;

/** Starts the service of the tests of a file, and an engine beside it that reads what it has stored. */
export function useService(): void {
  shared = sharedService();
  beforeAll(async () => {
    reader = await Engine.open({ dataDir: service().dataDir, families: [] });
  });
  afterAll(() => reader?.close());
}

export function service(): TestService {
  if (shared === undefined) throw new Error('the test file does not call useService()');
  return shared();
}

export async function fileOf(name: string, content: string | Uint8Array): Promise<string> {
  const file = path.join(await temporaryDirectory(), name);
  await writeFile(file, content);
  return file;
}

export async function importText(
  name: string,
  content: string | Uint8Array,
  options: object = {},
): Promise<Answer & { dataset: string }> {
  const dataset = `d${++datasets}`;
  const request = { path: await fileOf(name, content), dataset, ...options };
  return { dataset, ...(await service().json('POST', '/v1/local/import', request)) };
}

/** One row more than the sample that types are decided on. */
export const beyondSample = (first: string, last: string) => `${`${first}\n`.repeat(10_300)}${last}\n`;

export const lines = (...rows: string[]) => rows.join('\n');

export interface Trap {
  readonly what: string;
  readonly name: string;
  /** The text of the file, or the SELECT that a Parquet file is written from. */
  readonly content: string | Uint8Array;
  /** SQL over the stored columns, the last rows first where there are many, and what it gives as text. */
  readonly select: string;
  readonly values: readonly string[];
  readonly notes?: readonly string[];
  /** What the request asks for beyond the file. */
  readonly options?: object;
}

export function timeless(): string {
  return 'No field holds a time: every row has the time of its import, and is found in every time range. Name one if there is one.';
}

/** What a CSV says of lines that are not of its columns. */
export function odd(count: number): string {
  return `Not of the columns, for a quote that is not closed or more values than there are fields: ${count} line${count === 1 ? '' : 's'}, each whole in \`line\`.`;
}

/** Returns the engine of the test file, which is not that of the service. */
export function storedReader(): Engine {
  if (reader === undefined) throw new Error('the test file does not call useService()');
  return reader;
}

/** Reads the stored file itself, so that nothing between it and the test changes a value. */
export async function stored(dataset: string, select: string): Promise<string[]> {
  const files = sqlText(path.join(service().dataDir, 'datasets', dataset, '*.parquet'));
  const rows = await storedReader().run(
    `SELECT COLUMNS(*)::VARCHAR FROM (SELECT ${select} FROM read_parquet(${files}))`,
  );
  return rows.map(row => row.map(String).join('|'));
}

export async function parquetOf(select: string): Promise<Buffer> {
  const engine = storedReader();
  const file = path.join(engine.workDir, 'in.parquet');
  await engine.run(`COPY (${select}) TO ${sqlText(file)} (FORMAT parquet)`);
  return readFile(file);
}

/** Imports each file and compares its notes and the values stored. */
export function testTraps(traps: readonly Trap[]): void {
  test.each(traps)('traps: $what', async ({ name, content, select, values, notes, options }) => {
    const { dataset, status, body } = await importText(
      name,
      name.endsWith('.parquet') ? await parquetOf(String(content)) : content,
      options,
    );
    expect([status, body.notes]).toEqual([200, notes ?? body.notes]);
    expect(await stored(dataset, select)).toEqual(values);
  });
}
