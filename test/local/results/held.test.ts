import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Int64, makeData, Table, tableToIPC, Utf8, Vector, vectorFromArray } from 'apache-arrow';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Client, createClient } from '../../../kernel/api/client.js';
import { AccessToken } from '../../../kernel/api/profile.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { type TestService, testService } from '../service.js';

function clientOf({ service }: TestService): Client {
  const token = new AccessToken(service.token);
  const client = createClient({ profileName: 'local', url: service.url, token }, { version: '1.2.3' });
  onTestFinished(() => client.close());
  return client;
}

function described(table: Table, fields: readonly (object | null)[]): Uint8Array {
  return withDescription(table, JSON.stringify(fields));
}

function withDescription(table: Table, text: string): Uint8Array {
  table.schema.metadata.set('apl.fields', text);
  return tableToIPC(table, 'stream');
}

function numberTable(): Table {
  return new Table({ a: vectorFromArray([1n], new Int64()) });
}

function numbers(rows: number): Uint8Array {
  const values = BigInt64Array.from({ length: rows }, (_, row) => BigInt(row));
  const data = makeData({ type: new Int64(), length: rows, nullCount: 0, data: values });
  return described(new Table({ c0: new Vector([data]) }), [{ name: 'n', type: 'long' }]);
}

/** Runs a query that counts the rows of a result; returns the status, and the count or the error code. */
async function asked(service: TestService, lease: string, id = '1'): Promise<unknown> {
  const results = { lease, tables: { t: { id } } };
  const { status, body } = await service.query('t | count', { results });
  return [status, body.tables?.[0].columns[0][0] ?? body.detail.errorType];
}

test('a result ends with the connection of its kernel and is invisible to others', async () => {
  const service = await testService({ compile: compileRequest });
  const [mine, other] = [clientOf(service), clientOf(service)];
  const [lease, another] = [await mine.leaseResults(), await other.leaseResults()];
  await mine.sendResult(lease, '1', numbers(3));
  expect(await asked(service, lease.name)).toEqual([200, 3]);
  expect(await asked(service, another.name)).toEqual([410, 'result-unknown']);
  await mine.close();
  await expect.poll(() => asked(service, lease.name)).toEqual([410, 'result-unknown']);
  expect(lease.ended).toBe(true);
});

test('a dropped result is gone, and a resent one replaces the first', async () => {
  const service = await testService({ compile: compileRequest });
  const client = clientOf(service);
  const lease = await client.leaseResults();
  await client.sendResult(lease, '1', numbers(3));
  await client.sendResult(lease, '1', numbers(5_000));
  expect(await asked(service, lease.name)).toEqual([200, 5_000]);
  await client.dropResult(lease, '1');
  expect(await asked(service, lease.name)).toEqual([410, 'result-unknown']);
});

test('the least recently read result is evicted when memory runs short', async () => {
  const service = await testService({ compile: compileRequest, limits: { memoryBytes: 2 ** 26 } });
  const client = clientOf(service);
  const lease = await client.leaseResults();
  // A quarter of the engine's memory is for results: enough for two of these, but not for three.
  for (const id of ['1', '2']) await client.sendResult(lease, id, numbers(875_000));
  expect(await asked(service, lease.name, '1')).toEqual([200, 875_000]);
  await client.sendResult(lease, '3', numbers(875_000));
  expect([await asked(service, lease.name, '1'), await asked(service, lease.name, '2')]).toEqual([
    [200, 875_000],
    [410, 'result-unknown'],
  ]);
});

test('opening the engine for results is retried after a failure', async () => {
  const service = await testService({ compile: compileRequest });
  const client = clientOf(service);
  const lease = await client.leaseResults();
  const scratch = path.join(service.dataDir, '.tmp');
  await rename(scratch, `${scratch}-aside`);
  await writeFile(scratch, '');
  // The fallback directory for temporary files is unusable too.
  vi.stubEnv('TMPDIR', scratch);
  await expect(client.sendResult(lease, '1', numbers(3))).rejects.toThrow();
  vi.unstubAllEnvs();
  await rm(scratch);
  await rename(`${scratch}-aside`, scratch);
  await client.sendResult(lease, '1', numbers(3));
  expect(await asked(service, lease.name)).toEqual([200, 3]);
});

test.each([
  ['that is not Arrow', Buffer.from('nonsense'), 'The body is not an Arrow stream.'],
  [
    'without a description',
    tableToIPC(numberTable(), 'stream'),
    'The Arrow stream does not describe its fields.',
  ],
  [
    'with a description that is not JSON',
    withDescription(numberTable(), '{'),
    'The Arrow stream does not describe its fields.',
  ],
  ['with a field that is null', described(numberTable(), [null]), 'A field has no name or an unknown type.'],
  [
    'of another type than described',
    described(new Table({ a: vectorFromArray(['x'], new Utf8()) }), [{ name: 'a', type: 'long' }]),
    'The columns do not match the field descriptions.',
  ],
])('a body %s is refused', async (_, body, message) => {
  const service = await testService({ compile: compileRequest });
  const client = clientOf(service);
  const lease = await client.leaseResults();
  await expect(client.sendResult(lease, '1', body)).rejects.toThrow(message);
});

test('a spilled result is not readable on disk', async () => {
  const service = await testService({ compile: compileRequest, limits: { memoryBytes: 2 ** 26 } });
  const lease = await clientOf(service).leaseResults();
  const texts = vectorFromArray(
    Array.from({ length: 300_000 }, (_, row) => `secret-of-the-result-${row}-${'x'.repeat(180)}`),
    new Utf8(),
  );
  const body = described(new Table({ c0: texts }), [{ name: 's', type: 'string' }]);
  await clientOf(service).sendResult(lease, '1', body);
  const spilled = await spilledBytes(service.dataDir);
  expect(spilled.reduce((total, { length }) => total + length, 0)).toBeGreaterThan(2 ** 20);
  expect(spilled.some(bytes => bytes.includes('secret-of-the-result'))).toBe(false);
  expect(await asked(service, lease.name)).toEqual([200, 300_000]);
});

/** Returns the files that the engines of a service have spilled. */
async function spilledBytes(dataDir: string): Promise<readonly Buffer[]> {
  const scratch = path.join(dataDir, '.tmp');
  const all = await readdir(scratch, { recursive: true });
  const files = all.filter(name => path.basename(path.dirname(name)) === 'spill');
  return Promise.all(files.map(file => readFile(path.join(scratch, file))));
}

test('several kernels may send their first results at once', async () => {
  const service = await testService({ compile: compileRequest });
  const leases = await Promise.all(Array.from({ length: 8 }, () => clientOf(service).leaseResults()));
  const client = clientOf(service);
  await Promise.all(leases.map(lease => client.sendResult(lease, '1', numbers(3))));
  const counts = await Promise.all(leases.map(({ name }) => asked(service, name)));
  expect(counts).toEqual(leases.map(() => [200, 3]));
});
