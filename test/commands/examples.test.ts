import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { aplKernel, root, scratchDirectory } from './command.js';

const used: Record<string, string>[] = [];

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
});

/** A home with a copy of the examples, and a data directory of its own. */
function fresh(): Record<string, string> {
  const home = scratchDirectory();
  cpSync(join(root, 'examples'), home, { recursive: true });
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'kept') };
  used.push(env);
  return env;
}

const notebooks = readdirSync(join(root, 'examples')).filter(name => name.endsWith('.ipynb'));

/** Two services start and the notebook runs five times. */
const FIVE_RUNS_MS = 480_000;

test.each(notebooks)(
  '%s, frozen, gives the same file twice and is verified',
  async name => {
    const env = fresh();
    const text = (file: string) => readFileSync(join(env.HOME ?? '', file), 'utf8');
    expect(await aplKernel(['run', name, '-o', 'seen.ipynb'], env)).toMatchObject({ code: 0 });
    expect(await aplKernel(['freeze', 'seen.ipynb', '-o', 'frozen.ipynb'], env)).toMatchObject({ code: 0 });
    expect(await aplKernel(['run', 'frozen.ipynb', '-o', 'first.ipynb'], env)).toMatchObject({ code: 0 });
    expect(await aplKernel(['run', 'frozen.ipynb', '-o', 'second.ipynb'], env)).toMatchObject({ code: 0 });
    expect(text('first.ipynb').match(/"sha256": "\w+"/g)?.length).toBeGreaterThan(3);
    expect(text('second.ipynb')).toBe(text('first.ipynb'));
    const later = {
      ...env,
      APL_KERNEL_DATA: join(env.HOME ?? '', 'another'),
      APL_KERNEL_NOW: '2027-06-15T12:34:56Z',
    };
    used.push(later);
    const { code, stdout } = await aplKernel(['verify', 'first.ipynb'], later);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^first\.ipynb: \d+ the same, 0 different, 0 impossible\n$/),
    ]);
  },
  FIVE_RUNS_MS,
);

test('another day gives another answer where the range is not frozen', async () => {
  const env = fresh();
  writeFileSync(join(env.HOME ?? '', 'now.apl'), "%time last 1h\n['sample-http-logs'] | count");
  expect(await aplKernel(['run', 'now.apl', '-o', 'now.ipynb'], env)).toMatchObject({ code: 0 });
  const later = {
    ...env,
    APL_KERNEL_DATA: join(env.HOME ?? '', 'another'),
    APL_KERNEL_NOW: '2027-06-15T12:34:56Z',
  };
  used.push(later);
  const { code, stdout } = await aplKernel(['verify', 'now.ipynb'], later);
  expect([code, stdout]).toEqual([3, expect.stringContaining('its range follows the clock')]);
});

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
])('$name: one value that is another one is found by verify', async ({ name, file, was, is, said }) => {
  const env = fresh();
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
    ...{ name: '04-weekly-report.ipynb', was: 'slow_ms = 500', is: 'slow_ms = 510' },
    said: /^ {2}changed: page \/robots\.txt, slow 23 -> 24,/m,
  },
])(
  '$name that ran with another value than it says is found by verify',
  async ({ name, was, is, said }) => {
    const env: Record<string, string> = { ...fresh(), APL_KERNEL_NOW: '2026-02-10T12:00:00Z' };
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

test('the weekly report takes its parameters from outside', async () => {
  const env = fresh();
  const args = ['-p', 'datacenter=LHR', '-p', 'slow_ms=100', '--time', '2026-02-02..2026-02-09'];
  expect(await aplKernel(['run', '04-weekly-report.ipynb', '-o', 'week.ipynb', ...args], env)).toMatchObject({
    code: 0,
  });
  const text = readFileSync(join(env.HOME ?? '', 'week.ipynb'), 'utf8');
  expect(text).toContain('"%time 2026-02-02..2026-02-09"');
  const sent = [...text.matchAll(/"variables": (\{[^}]*\})/g)].map(([, json = '']) =>
    JSON.stringify(JSON.parse(json)),
  );
  const each = ['{"datacenter":"LHR","slow_ms":100}', '{"datacenter":"LHR"}'];
  expect(each.filter(variables => !sent.includes(variables))).toEqual([]);
  const refused = await aplKernel(
    ['run', '04-weekly-report.ipynb', '-o', 'no.ipynb', '-p', 'datacenter=MARS'],
    env,
  );
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('datacenter cannot be "MARS"')]);
});
