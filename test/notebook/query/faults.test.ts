import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FaultServer, faults, secret, serveFault } from '../../api/failures/fault-server.js';
import { oddFaults } from '../../api/failures/odd-faults.js';
import { type Bench, shown, startBench, traceback } from '../session.js';

let bench: Bench;
let servers: readonly (readonly [fault: string, server: FaultServer])[];

beforeEach(async () => {
  bench = await startBench({ retryMs: 1, timeLimitMs: 20_000 });
  servers = await Promise.all(
    Object.entries({ ...faults, ...oddFaults }).map(
      async ([name, fault]) => [name, await serveFault(fault)] as const,
    ),
  );
});

afterEach(async () => {
  for (const [, server] of servers) server.close();
  await bench.close();
});

/** Returns the rows of the page: the number of requests for each fault, and its message. */
function rowsOfPage(): ReadonlyMap<string, { readonly requests: number; readonly said: string }> {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/faults.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (.+?) \| (\d+) \| (.*) \|$/gm)];
  return new Map(
    rows.map(([, name = '', requests, said = '']) => [name, { requests: Number(requests), said }]),
  );
}

/** Reduces a text to its words: a cell and the page use different punctuation. */
function words(text: string): string {
  return text
    .replace(/x{50,}.*?more characters\)/, 'xxx')
    .replace(/127\.0\.0\.1:\d+/g, '{host}')
    .replace(/[^\w{}%/]+/g, ' ')
    .trim();
}

test('a notebook reports every fault as the page does, and later cells work', async () => {
  const profiles = servers.map(
    ([, { url }], at) => `[deployments.fault${at}]\nurl = "${url}"\ntoken = "${secret}"\n`,
  );
  await writeFile(join(bench.homeDir, '.axiom.toml'), profiles.join(''), { mode: 0o600 });
  const rows = rowsOfPage();
  expect(rows.size).toBe(servers.length);
  for (const [at, [name, server]] of servers.entries()) {
    const run = await bench.run(`%%on fault${at}\nlogs | count`);
    const row = rows.get(name);
    const said = words(
      traceback(run)
        .map(line => line.replace(/^hint: /, ''))
        .join(' '),
    ).replaceAll(`fault${at}`, 'prod');
    const [answer, note] = /^an answer(?:: (.*))?$/.exec(row?.said ?? '') ?? [];
    const isSame =
      answer === undefined
        ? said.includes(words(row?.said ?? ''))
        : said === '' && words(shown(run).join(' ')).includes(words(note ?? ''));
    expect([name, isSame ? 'as the page says' : said, server.requests]).toEqual([
      name,
      'as the page says',
      row?.requests,
    ]);
    expect(JSON.stringify(run)).not.toContain(secret);
  }
  expect(traceback(await bench.run('web | count'))).toEqual([]);
  expect(shown(await bench.run('web | count')).join()).toContain('42');
});
