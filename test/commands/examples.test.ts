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

test('one changed login is found by the checks and by verify', async () => {
  const env = fresh();
  const log = join(env.HOME ?? '', 'data', 'sshd.log');
  expect(await aplKernel(['run', '03-security-hunt.ipynb', '-o', 'seen.ipynb'], env)).toMatchObject({
    code: 0,
  });
  const before = readFileSync(log, 'utf8');
  writeFileSync(log, before.replace('Accepted password for backup', 'Accepted password for support'));
  const { code, stdout } = await aplKernel(['verify', 'seen.ipynb'], env);
  expect(code).toBe(3);
  expect(stdout).toMatch(/^ {2}removed: .*user backup/m);
  expect(stdout).toMatch(/^ {2}added: .*user support/m);
});

test('the weekly report takes its parameters from outside', async () => {
  const env = fresh();
  const args = ['-p', 'datacenter=LHR', '-p', 'slow_ms=100', '--time', '2026-02-02..2026-02-09'];
  expect(await aplKernel(['run', '04-weekly-report.ipynb', '-o', 'week.ipynb', ...args], env)).toMatchObject({
    code: 0,
  });
  const text = readFileSync(join(env.HOME ?? '', 'week.ipynb'), 'utf8');
  expect(text).toContain('"%time 2026-02-02..2026-02-09"');
  expect(text).toContain('{\\"datacenter\\":\\"LHR\\",\\"slow_ms\\":100}');
  const refused = await aplKernel(
    ['run', '04-weekly-report.ipynb', '-o', 'no.ipynb', '-p', 'datacenter=MARS'],
    env,
  );
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('datacenter cannot be "MARS"')]);
});
