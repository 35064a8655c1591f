/** Shared by the tests of readers: imports a file, and reads the stored file directly. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { type Answer, sharedService, type TestService, temporaryDirectory } from '../../service.js';

let shared: (() => TestService) | undefined;
let reader: Engine | undefined;
let datasets = 0;

/** Starts a service for the tests of a file, and a separate engine to read its stored files. */
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

/** Returns one row more than the sample used to infer types. */
export const beyondSample = (first: string, last: string) => `${`${first}\n`.repeat(10_300)}${last}\n`;

export const lines = (...rows: string[]) => rows.join('\n');

export interface Trap {
  readonly what: string;
  readonly name: string;
  /** Content of the file; for Parquet, a SELECT. */
  readonly content: string | Uint8Array;
  /** SQL over the stored columns (last rows first if there are many), whose result is compared as text. */
  readonly select: string;
  readonly values: readonly string[];
  readonly notes?: readonly string[];
  /** Additional request options. */
  readonly options?: object;
}

export function timeless(): string {
  return 'No field contains timestamps: every row gets the time of the import and matches every time range. Set one with `--time` if there is one.';
}

/** Returns the note about CSV lines that do not fit the columns. */
export function odd(count: number): string {
  return `An unclosed quote or too many values in ${count} line${count === 1 ? '' : 's'}: \`line\` has each whole line.`;
}

/** Returns the engine of the test file, which is separate from that of the service. */
export function storedReader(): Engine {
  if (reader === undefined) throw new Error('the test file does not call useService()');
  return reader;
}

/** Reads the stored file directly, so that nothing can change a value on the way. */
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

/** Imports each file and compares its notes and stored values. */
export function testTraps(traps: readonly Trap[]): void {
  test.each(traps)('edge case: $what', async ({ name, content, select, values, notes, options }) => {
    const { dataset, status, body } = await importText(
      name,
      name.endsWith('.parquet') ? await parquetOf(String(content)) : content,
      options,
    );
    expect([status, body.notes]).toEqual([200, notes ?? body.notes]);
    expect(await stored(dataset, select)).toEqual(values);
  });
}
