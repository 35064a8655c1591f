import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isCampaign } from '../../faults/bench.js';
import { aplKernel, root } from '../command.js';
import { endHomes, FIVE_RUNS_MS, freshHome, later } from './home.js';

/** A notebook that reads files and one that reads samples; a campaign runs every example, which takes minutes. */
const notebooks = isCampaign
  ? readdirSync(join(root, 'examples')).filter(name => name.endsWith('.ipynb'))
  : ['02-own-data.ipynb', '05-incident.ipynb'];

/**
 * Separate homes for running and freezing, and for the frozen copies, since starred queries report a changed range; then the second
 * home on another day.
 */
let seen: Record<string, string>;
let env: Record<string, string>;
let another: Record<string, string>;
beforeAll(() => {
  [seen, env] = [freshHome(), freshHome()];
  another = later(env);
});

afterAll(endHomes);

test.each(notebooks)(
  'a frozen %s gives the same results on another day',
  async name => {
    expect(await aplKernel(['run', name, '-o', 'seen.ipynb'], seen)).toMatchObject({ code: 0 });
    expect(await aplKernel(['freeze', 'seen.ipynb', '-o', 'frozen.ipynb'], seen)).toMatchObject({ code: 0 });
    copyFileSync(join(seen.HOME ?? '', 'frozen.ipynb'), join(env.HOME ?? '', 'frozen.ipynb'));
    const text = (file: string) => readFileSync(join(env.HOME ?? '', file), 'utf8');
    expect(await aplKernel(['run', 'frozen.ipynb', '-o', 'first.ipynb'], env)).toMatchObject({ code: 0 });
    expect(text('first.ipynb').match(/"sha256": "\w+"/g)?.length).toBeGreaterThan(3);
    expect(await aplKernel(['run', 'frozen.ipynb', '-o', 'second.ipynb'], env)).toMatchObject({ code: 0 });
    expect(text('second.ipynb')).toBe(text('first.ipynb'));
    const { code, stdout } = await aplKernel(['verify', 'first.ipynb'], another);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^first\.ipynb: \d+ the same, 0 different, 0 impossible\n$/),
    ]);
  },
  FIVE_RUNS_MS,
);

test('a range that is not frozen gives other results on another day', async () => {
  writeFileSync(join(env.HOME ?? '', 'now.apl'), "%time last 1h\n['sample-http-logs'] | count");
  expect(await aplKernel(['run', 'now.apl', '-o', 'now.ipynb'], env)).toMatchObject({ code: 0 });
  const { code, stdout } = await aplKernel(['verify', 'now.ipynb'], another);
  expect([code, stdout]).toEqual([3, expect.stringContaining('its range is relative')]);
});

test('the weekly report takes parameters from the command line, and refuses an invalid one', async () => {
  const args = ['-p', 'datacenter=LHR', '-p', 'slow_ms=100', '--time', '2026-02-02..2026-02-03'];
  expect(await aplKernel(['run', '04-weekly-report.ipynb', '-o', 'week.ipynb', ...args], env)).toMatchObject({
    code: 0,
  });
  const text = readFileSync(join(env.HOME ?? '', 'week.ipynb'), 'utf8');
  expect(text).toContain('"%time 2026-02-02..2026-02-03"');
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
