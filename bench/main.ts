/**
 * Runs the benchmarks one after the other, each in a process of its own, and writes their JSON lines as one list to
 * test-output/bench.json. `npm run bench -- kernel` runs those named.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));

async function main(wanted: readonly string[]): Promise<void> {
  const all = readdirSync(folder)
    .filter(name => name.endsWith('.ts') && name !== 'main.ts')
    .map(name => name.slice(0, -'.ts'.length));
  const unknown = wanted.filter(name => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}`);
  const reports: unknown[] = [];
  for (const name of wanted.length > 0 ? wanted : all) {
    console.log(`\n━━ ${name}`);
    reports.push(...(await run(join(folder, `${name}.ts`))));
  }
  const output = join(dirname(folder), 'test-output');
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, 'bench.json'), `${JSON.stringify(reports, null, 2)}\n`);
  console.log('\nThe figures as JSON: test-output/bench.json');
}

/** Prints the output of a benchmark, and returns its lines that are JSON. */
async function run(file: string): Promise<readonly unknown[]> {
  const child = spawn(process.execPath, [...process.execArgv, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number>(settle => child.on('close', code => settle(code ?? 1)));
  const reports: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) reports.push(JSON.parse(line));
    else console.log(line);
  }
  if ((await ended) !== 0) throw new Error(`${file} failed`);
  return reports;
}

await main(process.argv.slice(2));
