import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInBrowser } from '../../../kernel/api/login/browser.js';

let directory: string;
const page = new URL('https://issuer.example/auth?a=$(touch x)&b=`id`;c="1"');

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-browser-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Creates a program that writes its arguments to a file. */
async function program(name: string): Promise<NodeJS.ProcessEnv> {
  const file = join(directory, name);
  await writeFile(
    file,
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${directory}/.draft'\nmv '${directory}/.draft' '${directory}/opened'\n`,
  );
  await chmod(file, 0o755);
  return { PATH: `${directory}:/usr/bin:/bin` };
}

test.each([
  ['linux', 'xdg-open', { DISPLAY: ':0' }, []],
  ['linux', 'xdg-open', { WAYLAND_DISPLAY: 'wayland-0' }, []],
  ['darwin', 'open', {}, []],
  ['win32', 'rundll32', {}, ['url.dll,FileProtocolHandler']],
] as const)('on %s a page is opened by %s as one argument', async (platform, name, env, first) => {
  openInBrowser(page, { platform, env: { ...(await program(name)), ...env } });
  while (!existsSync(join(directory, 'opened'))) await new Promise(resolve => setTimeout(resolve, 5));
  expect((await readFile(join(directory, 'opened'), 'utf8')).trim().split('\n')).toEqual([
    ...first,
    page.href,
  ]);
});

test.each([
  ['without a display', page, {}],
  ['over SSH', page, { DISPLAY: ':10', SSH_CONNECTION: '1 2 3 4' }],
  ['with a script URL', new URL('javascript:alert(1)'), { DISPLAY: ':0' }],
])('a page %s is not opened', (_, url, env) =>
  expect(openInBrowser(url, { platform: 'linux', env })).toBe(false),
);

test('a missing program is not an error', async () => {
  expect(openInBrowser(page, { platform: 'linux', env: { PATH: directory, DISPLAY: ':0' } })).toBe(true);
  await new Promise(setImmediate);
});
