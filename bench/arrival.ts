/**
 * A kernel while the 1 M rows of a result arrive: latency of repeated completion requests, and time from an interrupt until the cell has
 * ended. Through a complete kernel and its service, over raw ZeroMQ. RUNS is an environment variable.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, connectionOnFreePorts, executed } from './tools/client.js';
import { quantile, report } from './tools/row.js';

const RUNS = Number(process.env.RUNS ?? 5);
const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'main.js');

const large = `large << range i from 1 to 1000000 step 1
| extend a = strcat('user-', tostring(i % 5000)), b = i * 3, c = i / 7.0, d = i % 2 == 0, e = strcat('/api/v1/orders/', tostring(i)),
  f = datetime(2026-01-01) + i * 1s, g = i % 600, h = strcat('trace-', tostring(i * 7919)), k = todouble(i)
| limit 1000000;`;
const question = { code: 'large | where a', cursor_pos: 15 };

async function withKernel(work: (client: Client) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-arrival-'));
  const connection = await connectionOnFreePorts();
  const file = join(directory, 'connection.json');
  writeFileSync(file, JSON.stringify(connection));
  const env = { ...process.env, APL_KERNEL_DATA: directory };
  const child = spawn(process.execPath, [main, 'kernel', '--connection-file', file], {
    env,
    stdio: 'ignore',
  });
  const ended = new Promise(settle => child.on('exit', settle));
  const client = new Client(connection);
  try {
    await work(client);
  } finally {
    await client.request('shutdown_request', { restart: false }, 'control');
    await ended;
    client.close();
    // The service exits once no kernel is left, and does not delete anything that is missing.
    rmSync(directory, { recursive: true, force: true });
  }
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function run(client: Client, code: string): Promise<void> {
  const reply = await client.execute(executed(code));
  if (reply.status !== 'ok') throw new Error(`the cell failed: ${JSON.stringify(reply)}`);
}

/** Returns the milliseconds of each completion while the cell runs. */
async function completionsDuring(client: Client): Promise<number[]> {
  const times: number[] = [];
  let running = true;
  const cell = run(client, large).finally(() => {
    running = false;
  });
  while (running) {
    times.push(await msOf(() => client.request('complete_request', question)));
    await delay(5);
  }
  await cell;
  return times;
}

/** Returns the milliseconds from an interrupt to the end of the cell; empty if the cell had ended before. */
async function interruptAfter(client: Client, ms: number): Promise<number[]> {
  const cell = client.execute(executed(large));
  await delay(ms);
  const begun = performance.now();
  await client.request('interrupt_request', {}, 'control');
  const { status } = await cell;
  return status === 'ok' ? [] : [performance.now() - begun];
}

await withKernel(async client => {
  await run(client, 'print x=1');
  const times: number[] = [];
  const wholes: number[] = [];
  for (let turn = 0; turn < RUNS; turn++)
    wholes.push(await msOf(async () => times.push(...(await completionsDuring(client)))));
  const whole = Math.min(...wholes);
  const goal = { atMost: 50 };
  const figure = 'completion while 1 M x 10 arrive, p99';
  report({ figure, unit: 'ms', ours: quantile(times, 0.99), goal });
  const interrupts: number[] = [];
  for (let turn = 0; turn < RUNS * 2; turn++)
    interrupts.push(...(await interruptAfter(client, (whole * (turn + 0.5)) / (RUNS * 2.5))));
  const ours = quantile(interrupts, 0.99);
  report({ figure: 'interrupt to the end of the cell meanwhile, p99', unit: 'ms', ours, goal });
});
