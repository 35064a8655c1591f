import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const module = new URL('../../kernel/commands/stack.ts', import.meta.url).href;

/** Returns the places in the stack of an error that the last line of a program throws, without Node's own. */
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

test('a stack names lines of sources, files of packages, and the program where there is no source', () => {
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
