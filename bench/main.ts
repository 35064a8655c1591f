/**
 * Runs the benchmarks one after the other, each in its own process, and prints one table of all their figures, which
 * also goes to test-output/bench.json and bench.md. `npm run bench -- kernel` runs those named, and `npm run bench -- whole` all
 * at the sizes of docs/figures.md, which takes about an hour and 20 GB of TMPDIR.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Measured, markdownOf, type Row, rowOf, tableOf } from './tools/row.js';

const folder = dirname(fileURLToPath(import.meta.url));

interface Part {
  readonly name: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** From small to large. */
const whole: readonly Part[] = [
  { name: 'kernel' },
  { name: 'service' },
  { name: 'arrival' },
  { name: 'decode' },
  { name: 'answer' },
  { name: 'columns' },
  { name: 'shapes', settings: { ROWS: '1000000' } },
  { name: 'engine', settings: { ROWS: '1000000', FILES: '1' } },
  { name: 'engine', settings: { ROWS: '10000000', FILES: '1,20' } },
  { name: 'store', settings: { MEGABYTES: '100' } },
  { name: 'store', settings: { MEGABYTES: '300' } },
  { name: 'ingest', settings: { BATCHES: '5000' } },
  { name: 'datasets' },
  { name: 'cause' },
  { name: 'language' },
  { name: 'editor' },
  { name: 'chart' },
  { name: 'grid' },
  { name: 'engine', settings: { ROWS: '100000000', FILES: '20', RUNS: '3' } },
  { name: 'large', settings: { EVENTS: '1000000', FILES: '5000', RUNS: '1' } },
  { name: 'large', settings: { EVENTS: '10000000', FILES: '5000', RUNS: '1' } },
  { name: 'large', settings: { EVENTS: '100000000', FILES: '5000', RUNS: '1' } },
];

async function main(wanted: readonly string[]): Promise<void> {
  const all = readdirSync(folder)
    .filter(name => name.endsWith('.ts') && name !== 'main.ts')
    .map(name => name.slice(0, -'.ts'.length));
  const parts: readonly Part[] =
    wanted.join() === 'whole' ? whole : (wanted.length > 0 ? wanted : all).map(name => ({ name }));
  const unknown = parts.map(({ name }) => name).filter(name => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}`);
  const output = join(dirname(folder), 'test-output');
  mkdirSync(output, { recursive: true });
  const measured: Measured[] = [];
  for (const { name, settings = {} } of parts) {
    const part = [...Object.entries(settings).map(setting => setting.join('=')), name].join(' ');
    console.log(`\n━━ ${part}`);
    const begun = performance.now();
    const { rows, code } = await run(join(folder, `${name}.ts`), settings);
    measured.push({ part, rows, seconds: (performance.now() - begun) / 1000 });
    // Keeps the figures so far, and continues with the remaining benchmarks.
    writeFileSync(join(output, 'bench.md'), markdownOf(measured));
    writeFileSync(join(output, 'bench.json'), `${JSON.stringify(rowsOf(measured), null, 2)}\n`);
    if (code !== 0) {
      console.error(`${part} failed`);
      process.exitCode = 1;
    }
  }
  console.table(tableOf(rowsOf(measured)));
  console.log('The figures as JSON and Markdown: test-output/bench.json and bench.md');
}

function rowsOf(measured: readonly Measured[]): readonly Row[] {
  return measured.flatMap(({ rows }) => rows);
}

/** Prints the output of a benchmark, and returns its rows and its exit code. */
async function run(
  file: string,
  settings: Part['settings'],
): Promise<{ rows: readonly Row[]; code: number }> {
  const child = spawn(process.execPath, [...process.execArgv, file], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number>(settle => child.on('close', code => settle(code ?? 1)));
  const rows: Row[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const row = rowOf(line);
    if (row === undefined) console.log(line);
    else rows.push(row);
  }
  return { rows, code: await ended };
}

await main(process.argv.slice(2));
