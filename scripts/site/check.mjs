import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { chromium } from 'playwright-core';
import { browserPath } from '../browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Widths of Chromium's window, in pixels. */
const widths = [600, 1280];
/** @type {Record<string, string>} */
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/**
 * Opens every page of a built site in Chromium, light and dark, narrow and wide; returns WCAG 2.1 AA violations found by axe, failed
 * requests, script errors, and pages that scroll sideways.
 * @param {string} directory
 * @returns {Promise<string[]>}
 */
export async function findingsOf(directory) {
  const server = createServer(({ url = '' }, answer) => {
    const path = join(directory, decodeURIComponent(new URL(url, 'http://localhost').pathname));
    const file = [`${path}index.html`, `${path}.html`, path].find(
      each => extname(each) !== '' && existsSync(each),
    );
    if (file === undefined) answer.writeHead(404).end();
    else answer.writeHead(200, { 'content-type': types[extname(file)] ?? '' }).end(readFileSync(file));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox'] });
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.html') && name !== '404.html')
    .map(name => name.slice(0, -'.html'.length));
  const found = /** @type {string[]} */ ([]);
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const page = await browser.newPage({ colorScheme, reducedMotion: 'reduce' });
    const add = (/** @type {unknown} */ what) => found.push(`${page.url()} (${colorScheme}): ${what}`);
    page.on('pageerror', add);
    page.on(
      'response',
      response => response.status() >= 400 && add(`${response.status()} ${response.url()}`),
    );
    for (const name of names) {
      await page.goto(`http://127.0.0.1:${address.port}/${name.replace(/index$/, '')}`);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
          add(`scrolls sideways at ${width} pixels`);
      }
      await page.evaluate(axe);
      for (const violation of /** @type {string[]} */ (await page.evaluate(RUN))) add(violation);
    }
  }
  await browser.close();
  server.close();
  return found;
}

const RUN = `axe
  .run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], rules: { 'label-content-name-mismatch': { enabled: false } } })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ', ' + nodes.length + ' times, first ' + nodes[0].html.slice(0, 200)))`;
