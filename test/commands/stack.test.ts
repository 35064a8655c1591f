import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { aplKernel, scratchDirectory } from './command.js';

const module = new URL('../../kernel/commands/stack.ts', import.meta.url).href;

/** Returns the stack positions of an error thrown by the last line of a program, without Node's own. */
function placesOf(lines: readonly string[], maps: readonly object[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'apl-stack-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'program.mjs');
  writeFileSync(file, lines.join('\n'));
  writeFileSync(`${file}.lines`, maps.map(map => JSON.stringify(map)).join('\n'));
  const script = `import { nameSourceLines } from '${module}'; nameSourceLines();
    await import('${pathToFileURL(file).href}').catch(error => console.log(error.stack));`;
  const printed = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  const own = pathToFileURL(folder).href;
  return [...printed.toString().matchAll(/file:\/\/[^\s()]+/g)]
    .map(([place]) => place)
    .filter(place => place.startsWith(own))
    .map(place => place.slice(own.length + 1));
}

test('an error in the bundle shows its line in kernel/', async () => {
  const broken = "data:text/javascript,console.log=()=>{throw(new(RangeError)('gone'))}";
  const HOME = scratchDirectory();
  const { code, stderr } = await aplKernel(['doctor'], { HOME, NODE_OPTIONS: `--import=${broken}` });
  expect(code).toBe(1);
  expect(stderr).toContain('RangeError: gone\n    at console.log (data:text/javascript,');
  expect(stderr).toMatch(/^ {4}at (?:async )?\S+doctor \(file:\/\/\/\S+\/kernel\/main\.ts:\d+:11\)$/m);
});

test('a frame in a package shows its file', async () => {
  const traced = `data:text/javascript,${encodeURIComponent(
    'import http from "node:http"; http.createServer = () => { console.trace(); process.exit(3); };',
  )}`;
  const HOME = scratchDirectory();
  const { code, stderr } = await aplKernel(['serve'], { HOME, NODE_OPTIONS: `--import=${traced}` });
  expect(code).toBe(3);
  expect(stderr).toMatch(/^ {4}at \S+ \(file:\/\/\/\S+\/node_modules\/fastify\/lib\/server\.js\)$/m);
  expect(stderr).toMatch(/^ {4}at \S+ \(file:\/\/\/\S+\/kernel\/local\/http\/listen\.ts:\d+:\d+\)$/m);
});

test('a frame without a source keeps its position in the program', () => {
  const source = { version: 3, sources: ['kernel/text.ts'], mappings: 'AASA' };
  const ofPackage = { version: 3, sources: ['node_modules/some/index.js'], mappings: 'AAAA' };
  const ofBundler = { version: 3, sources: [], mappings: 'A' };
  const lines = [
    'const first = () => { throw new Error("here"); };',
    'const second = () => first();',
    'const third = () => second();',
    'third();',
  ];
  expect(placesOf(lines, [source, ofPackage, ofBundler])).toEqual([
    'kernel/text.ts:10:1',
    'node_modules/some/index.js',
    'program.mjs:3:21',
    'program.mjs:4:1',
  ]);
});
