import { spawn } from 'node:child_process';
import { argv, env } from 'node:process';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { browserPath } from '../browser.mjs';

// node scripts/ways/lab.mjs PROGRAM [ARGUMENT…]: runs a program that starts JupyterLab, runs the first example in Chromium until its first
// chart and its first grid are drawn, ends it again, and fails if the page requested anything from another machine. It is a separate
// program so that server and browser can run without a network.
const [program = '', ...args] = argv.slice(2);
const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
const ended = new Promise(settle => child.on('close', settle));
/** Enough for a slow machine to install and start. */
const patient = { timeout: 300_000 };
/** JupyterLab asks for a kernel if cells are run before there is one. */
const KERNEL_IS_IDLE =
  "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'";
const lines = /** @type {string[]} */ ([]);

try {
  const url = await address();
  const browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox'] });
  // High enough for every cell to be in view: JupyterLab only draws those.
  const page = await browser.newPage({ viewport: { width: 1400, height: 8000 } });
  const foreign = /** @type {string[]} */ ([]);
  page.on('request', request => {
    const { protocol, hostname } = new URL(request.url());
    if (/^(?:http|ws)/.test(protocol) && hostname !== 'localhost' && hostname !== '127.0.0.1')
      foreign.push(request.url());
  });
  await page.goto(url, patient);
  await page.waitForFunction('globalThis.jupyterapp?.restored.then(() => true)', undefined, patient);
  await page.locator('.jp-Notebook .jp-CodeCell').first().waitFor(patient);
  await page.waitForFunction(KERNEL_IS_IDLE, undefined, patient);
  await page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')");
  for (const output of ['.apl-chart-frame svg', '.apl-grid'])
    await page.locator(`.jp-Notebook .jp-OutputArea-output ${output}`).first().waitFor(patient);
  // A keyword as colored by the editor.
  await page
    .locator('.jp-CodeCell .cm-line span[class]')
    .first()
    .waitFor({ ...patient, state: 'attached' });
  await browser.close();
  if (foreign.length > 0) throw new Error(`The page asked for ${foreign.join(', ')}`);
} catch (error) {
  console.error(lines.join('\n'));
  throw error;
} finally {
  if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
  await ended;
}

/** Returns the address of the first example, once the program has printed the address of JupyterLab. @returns {Promise<string>} */
function address() {
  return new Promise((settle, fail) => {
    for (const from of [child.stdout, child.stderr])
      createInterface({ input: from }).on('line', line => {
        lines.push(line);
        const [, base, token] =
          /(http:\/\/(?:localhost|127\.0\.0\.1):\d+\/)lab\S*[?&]token=(\w+)/.exec(line) ?? [];
        if (token !== undefined) settle(`${base}lab/tree/01-first-look.ipynb?token=${token}`);
      });
    child.on('error', fail);
    child.on('close', code => fail(new Error(`${program} ended with ${code}`)));
  });
}
