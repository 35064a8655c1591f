import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aplKernel } from '../command.js';
import { endHomes, FIVE_RUNS_MS, freshHome } from './home.js';

// Each notebook changes its own file, so all can share one home and one service.
let env: Record<string, string>;
beforeAll(() => {
  env = { ...freshHome(), APL_KERNEL_NOW: '2026-02-10T12:00:00Z' };
});

afterAll(endHomes);

test.each<{ name: string; file: string; was: string; is: string; said: readonly RegExp[] }>([
  {
    ...{ name: '02-own-data.ipynb', file: 'orders.ndjson' },
    ...{ was: '"total":394.24,"currency":"BRL"', is: '"total":594.24,"currency":"BRL"' },
    said: [/^ {2}changed: country BR, revenue_eur 2748 -> 2781$/m],
  },
  {
    ...{ name: '03-security-hunt.ipynb', file: 'sshd.log' },
    ...{ was: 'Accepted password for backup', is: 'Accepted password for support' },
    said: [/^ {2}removed: .*user backup/m, /^ {2}added: .*user support/m],
  },
  {
    ...{ name: '05-incident.ipynb', file: 'deployments.csv' },
    ...{
      was: '2026-01-26T14:58:20Z,payment,gru-1,deploy,2.9.10',
      is: '2026-01-26T14:58:20Z,payment,gru-1,deploy,2.9.11',
    },
    said: [/^ {2}removed: .*version 2\.9\.10/m, /^ {2}added: .*version 2\.9\.11/m],
  },
])('verify finds one changed value in the data of $name', async ({ name, file, was, is, said }) => {
  const path = join(env.HOME ?? '', 'data', file);
  expect(await aplKernel(['run', name, '-o', 'seen.ipynb'], env)).toMatchObject({ code: 0 });
  const before = readFileSync(path, 'utf8');
  expect(before.split(was).length).toBe(2);
  writeFileSync(path, before.replace(was, is));
  const { code, stdout } = await aplKernel(['verify', 'seen.ipynb'], env);
  expect(code).toBe(3);
  for (const line of said) expect(stdout).toMatch(line);
});

test.each<{ name: string; was: string; is: string; said: RegExp }>([
  {
    ...{ name: '01-first-look.ipynb', was: '2026-01-26T15:36Z', is: '2026-01-26T15:35Z' },
    said: /^ {2}changed: server_datacenter GRU, requests \d+ -> \d+, errors \d+ -> \d+/m,
  },
  {
    ...{ name: '04-weekly-report.ipynb', was: 'slow_ms = 500', is: 'slow_ms = 490' },
    said: /^ {2}changed: page \/images\/logo\.jpeg, slow 20 -> 19,/m,
  },
])(
  'verify finds that $name ran with another value than its cells say',
  async ({ name, was, is, said }) => {
    const path = (file: string) => join(env.HOME ?? '', file);
    const change = (from: string, to: string, before: string, after: string) => {
      const text = readFileSync(path(from), 'utf8');
      expect(text).toContain(before);
      writeFileSync(path(to), text.replaceAll(before, after));
    };
    change(name, 'other.ipynb', was, is);
    expect(await aplKernel(['run', 'other.ipynb', '-o', 'ran.ipynb'], env)).toMatchObject({ code: 0 });
    change('ran.ipynb', 'seen.ipynb', is, was);
    const { code, stdout } = await aplKernel(['verify', 'seen.ipynb'], env);
    expect([code, stdout]).toEqual([3, expect.stringMatching(said)]);
  },
  FIVE_RUNS_MS,
);
