import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { root } from './command.js';

const built = mkdtempSync(join(tmpdir(), 'apl-compiled-code-'));
const module = join(built, 'compiled-code.mjs');

// Bundled once: starting a TypeScript loader takes ten times as long as running this code.
beforeAll(async () => {
  const entryPoints = [join(root, 'kernel', 'commands', 'compiled-code.ts')];
  await build({ entryPoints, outfile: module, bundle: true, platform: 'node', format: 'esm' });
});
afterAll(() => rmSync(built, { recursive: true }));

/** Writes a program to its own directory; returns a function to run it, which returns the output and whether cached code was used. */
function program(source: string) {
  const folder = mkdtempSync(join(tmpdir(), 'apl-compiled-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'program.cjs');
  const kept = join(folder, 'compiled', 'program');
  writeFileSync(file, source);
  const run = (place = kept, word = '') => {
    const script = `import { runCompiled } from '${module}'; console.log(runCompiled(...process.argv.slice(1, 3)));`;
    const words = ['--input-type=module', '-e', script, file, place, word];
    return execFileSync(process.execPath, words, { encoding: 'utf8' }).trim().split('\n');
  };
  return { folder, file, kept, run };
}

test('a program reuses the compiled code of an earlier run', () => {
  const { run } = program("console.log(require('node:path').basename(__filename));");
  expect(run()).toEqual(['program.cjs', 'false']);
  expect(run()).toEqual(['program.cjs', 'true']);
});

test('a changed program is compiled again, even at the same length', () => {
  const { file, run } = program('console.log("old")');
  expect(run()).toEqual(['old', 'false']);
  writeFileSync(file, 'console.log("new")');
  expect(run()).toEqual(['new', 'false']);
  expect(run()).toEqual(['new', 'true']);
});

test('damaged or truncated compiled code is not run, and is replaced', () => {
  const { kept, run } = program('console.log("whole")');
  run();
  const whole = readFileSync(kept);
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(flipped.readUInt8(whole.length - 20) ^ 1, whole.length - 20);
  for (const bytes of [flipped, whole.subarray(0, -1), whole.subarray(0, 5), Buffer.alloc(0)]) {
    writeFileSync(kept, bytes);
    expect(run()).toEqual(['whole', 'false']);
    expect(run()).toEqual(['whole', 'true']);
  }
});

test('a run that compiles more extends the cache, and one that compiles less leaves it', () => {
  const lines = Array.from({ length: 200 }, (_, n) => `total += total * ${n} + words.length;`);
  const { kept, run } = program(
    `const words = process.argv[3]; function long() { let total = 1; ${lines.join('')} return total > 0; } console.log(words === 'long' && long());`,
  );
  run(kept, 'short');
  const short = statSync(kept).size;
  expect(run(kept, 'long')).toEqual(['true', 'true']);
  const long = statSync(kept);
  expect(long.size).toBeGreaterThan(short + 1_000);
  expect(run(kept, 'short')).toEqual(['false', 'true']);
  expect(statSync(kept).mtimeMs).toBe(long.mtimeMs);
});

test('a program runs even if the cache cannot be written', () => {
  const { file, run } = program('console.log("here")');
  const below = join(file, 'compiled');
  expect(run(below)).toEqual(['here', 'false']);
});

test('an error has its position in the file, even on the first line', () => {
  const { file, run } = program('try { null.x } catch (error) { console.log(error.stack.split("\\n")[1]) }');
  const place = `at ${pathToFileURL(file).href}:1:12`;
  expect(run()).toEqual([place, 'false']);
  expect(run()).toEqual([place, 'true']);
});

test('text beyond ASCII is read correctly', () => {
  const { run } = program("console.log('\u00b5s \u2026 \u{1f600}')");
  expect(run()).toEqual(['\u00b5s \u2026 \u{1f600}', 'false']);
  expect(run()).toEqual(['\u00b5s \u2026 \u{1f600}', 'true']);
});

test('the built program is ASCII, which loads faster', () => {
  const beyond = readFileSync(join(root, 'dist', 'commands.cjs'), 'utf8').match(/.{0,40}[^\0-\x7f]/g) ?? [];
  expect(beyond).toEqual([]);
});

test('services and other commands have separate caches of compiled code beside the program', async () => {
  // Inside the project, to resolve the packages with native code.
  mkdirSync(join(root, 'test-output'), { recursive: true });
  const folder = mkdtempSync(join(root, 'test-output', 'compiled-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of ['package.json', 'dist/main.js', 'dist/commands.cjs'])
    cpSync(join(root, file), join(folder, file));
  const main = join(folder, 'dist', 'main.js');
  const kept = () => readdirSync(join(folder, 'dist', 'compiled'));
  const place = `${process.versions.v8}-${process.arch}`;
  execFileSync(process.execPath, [main, '--version']);
  expect(kept()).toEqual([`command-${place}`]);
  const data = join(folder, 'data');
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' };
  const service = spawn(process.execPath, [main, 'serve', '--data', data], { env });
  await once(service.stdout, 'data');
  service.kill('SIGTERM');
  expect(await once(service, 'exit')).toEqual([0, null]);
  expect(kept()).toEqual([`command-${place}`, `serve-${place}`]);
});
