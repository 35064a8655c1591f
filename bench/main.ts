/**
 * Runs the benchmarks one after the other, each in a process of its own, and prints one table of all their figures, which
 * also goes to test-output/bench.json. `npm run bench -- kernel` runs those named.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Row, rowOf, tableOf } from './tools/row.js';

const folder = dirname(fileURLToPath(import.meta.url));

async function main(wanted: readonly string[]): Promise<void> {
  const all = readdirSync(folder)
    .filter(name => name.endsWith('.ts') && name !== 'main.ts')
    .map(name => name.slice(0, -'.ts'.length));
  const unknown = wanted.filter(name => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}`);
  const rows: Row[] = [];
  for (const name of wanted.length > 0 ? wanted : all) {
    console.log(`\n━━ ${name}`);
    rows.push(...(await run(join(folder, `${name}.ts`))));
  }
  const output = join(dirname(folder), 'test-output');
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, 'bench.json'), `${JSON.stringify(rows, null, 2)}\n`);
  console.table(tableOf(rows));
  console.log('The figures as JSON: test-output/bench.json');
}

/** Prints the output of a benchmark, and returns its rows. */
async function run(file: string): Promise<readonly Row[]> {
  const child = spawn(process.execPath, [...process.execArgv, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number>(settle => child.on('close', code => settle(code ?? 1)));
  const rows: Row[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const row = rowOf(line);
    if (row === undefined) console.log(line);
    else rows.push(row);
  }
  if ((await ended) !== 0) throw new Error(`${file} failed`);
  return rows;
}

await main(process.argv.slice(2));
