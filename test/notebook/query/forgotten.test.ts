import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { QueryLog } from '../../../kernel/notebook/query/query-log.js';
import type { Reply } from '../../api/service.js';
import { type Bench, startBench, traceback } from '../session.js';

let directory: string;
let bench: Bench;
const open = () => startBench({ queryLog: new QueryLog(join(directory, 'queries.jsonl')) });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-forgotten-'));
  const before = await open();
  await before.run('%param svc = "cart"\nerrs << web | where status == svc');
  await before.close();
  bench = await open();
});

afterEach(async () => {
  await bench.close();
  await rm(directory, { recursive: true });
});

const refused = (message: string, hint?: string): Reply => ({ status: 400, body: { message, hint } });
const hintOf = async (cell: string) =>
  traceback(await bench.run(cell)).find(line => line.startsWith('hint: '));

test.each([
  ['web | where status == svc', 'unknown field `svc`', '`svc` was a parameter of an earlier kernel'],
  ['errs | count', 'unknown dataset `errs`', '`errs` was a result of an earlier kernel'],
])('the error of %s explains that an earlier kernel had the name', async (cell, message, expected) => {
  bench.service.answer(() => refused(message));
  expect(await hintOf(cell)).toContain(`hint: ${expected}: run the cells above again.`);
});

test.each([
  ['other | count', 'unknown dataset `other`'],
  ["web | where status == 'svc'", 'unknown field `svc`'],
  ['web | where status == svc', 'no'],
])('the error of %s, refused with %s, does not mention an earlier kernel', async (cell, message) => {
  bench.service.answer(() => refused(message));
  expect((await hintOf(cell)) ?? '').not.toContain('earlier kernel');
});

test('a new kernel has no last result, but reads a dataset named _', async () => {
  const said = traceback(await bench.run('_ | count'));
  expect([said[0], said.at(-1)]).toEqual([
    'result: there is no last result `_` yet',
    'hint: Run the cells above again: a new kernel has no results.',
  ]);
  expect(traceback(await bench.run("['_'] | count"))).toEqual([]);
});
