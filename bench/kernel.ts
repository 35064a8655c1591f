/**
 * The kernel against ipykernel, both driven by one raw ZeroMQ client: spawn to the first kernel_info_reply, the round trip of
 * a trivial cell (request to reply and idle), and peak resident memory. Runs alternate; medians count. ipykernel has its own
 * environment, `.venv-bench`, with modules compiled beforehand, as pip leaves them. If NODE_EXTRA_CA_CERTS is set, Node 20 reads every
 * certificate authority before it runs a line, so both are also measured with a file of authorities.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureVenv, venvBin } from '../kernel/commands/lab/python.js';
import { Client, connectionOnFreePorts, executed } from './tools/client.js';
import { median, report } from './tools/row.js';

const RUNS = Number(process.env.RUNS ?? 9);
const CELLS = Number(process.env.CELLS ?? 300);

interface Contender {
  readonly name: string;
  readonly argv: readonly string[];
  readonly cell: string;
}

interface Sample {
  readonly readyMs: number;
  readonly roundTripMs: number;
  readonly peakMiB: number;
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { NODE_EXTRA_CA_CERTS: authorities, ...environment } = process.env;

const CONTENDERS: readonly [Contender, Contender] = [
  {
    name: 'apl-kernel',
    argv: [process.execPath, join(root, 'dist', 'main.js'), 'kernel', '--connection-file'],
    cell: '%echo 1',
  },
  {
    name: 'ipykernel',
    argv: [join(root, '.venv-bench', 'bin', 'python'), '-m', 'ipykernel_launcher', '-f'],
    cell: '1',
  },
];

async function main(): Promise<void> {
  const venv = join(root, '.venv-bench');
  const requirements = [join(root, 'bench', 'tools', 'requirements.txt')];
  await ensureVenv(venv, requirements, { env: process.env, say: console.log });
  const python = venvBin(venv, 'python');
  execFileSync(python, ['-m', 'compileall', '-q', join(venv, 'lib')], { stdio: 'ignore' });
  await compare('', environment);
  if (authorities !== undefined)
    await compare(' with NODE_EXTRA_CA_CERTS', { ...environment, NODE_EXTRA_CA_CERTS: authorities });
}

async function compare(where: string, env: NodeJS.ProcessEnv): Promise<void> {
  const samples = CONTENDERS.map((): Sample[] => []);
  for (let run = 0; run < RUNS; run++) {
    for (const [index, contender] of CONTENDERS.entries())
      samples[index]?.push(await measure(contender, env));
  }
  const [ours, baseline] = samples.map(medians);
  if (!ours || !baseline) return;
  const row = (what: string, unit: string, of: keyof Sample, ratio?: number): void =>
    report({
      figure: what + where,
      unit,
      ours: ours[of],
      baseline: { name: 'ipykernel', value: baseline[of] },
      ...(ratio && { goal: { ratio } }),
    });
  row('spawn to ready', 'ms', 'readyMs', 0.2);
  row('round trip of a trivial cell', 'ms', 'roundTripMs', 0.7);
  row('peak memory of a kernel', 'MiB', 'peakMiB');
}

/** Measures one kernel process from spawn to kill. */
async function measure({ argv, cell }: Contender, environment: NodeJS.ProcessEnv): Promise<Sample> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-kernel-'));
  const connection = await connectionOnFreePorts();
  const file = join(directory, 'connection.json');
  writeFileSync(file, JSON.stringify(connection));
  const client = new Client(connection);
  const started = performance.now();
  const [program = '', ...args] = argv;
  const env = { ...environment, APL_KERNEL_DATA: directory, IPYTHONDIR: directory };
  const child = spawn(program, [...args, file], { env, stdio: 'ignore' });
  try {
    const ended = new Promise<never>((_, fail) => {
      child.on('exit', code => fail(new Error(`${argv.join(' ')} ended with ${code}`)));
    });
    ended.catch(() => undefined);
    await Promise.race([client.request('kernel_info_request', {}), ended]);
    const readyMs = performance.now() - started;
    const roundTripMs = await roundTrip(client, cell);
    return { readyMs, roundTripMs, peakMiB: peakMiB(child) };
  } finally {
    client.close();
    await end(child);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns the median milliseconds of a cell from the request to the later of reply and idle, after a warm-up. */
async function roundTrip(client: Client, code: string): Promise<number> {
  const content = executed(code);
  const times: number[] = [];
  for (let turn = 0; turn < CELLS; turn++) {
    const started = performance.now();
    const reply = await client.execute(content);
    if (reply.status !== 'ok') throw new Error(`the cell ${code} failed: ${JSON.stringify(reply)}`);
    times.push(performance.now() - started);
  }
  return median(times.slice(CELLS / 10));
}

/** Ends the process, but not by a kill: both store compiled code for the next start, ours on exit. */
async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise(settle => child.on('exit', settle));
  child.kill('SIGTERM');
  await ended;
}

/** Returns peak resident memory as reported by Linux; NaN elsewhere. */
function peakMiB(child: ChildProcess): number {
  const status = `/proc/${child.pid}/status`;
  if (!existsSync(status)) return Number.NaN;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
}

function medians(samples: readonly Sample[]): Sample {
  return {
    readyMs: median(samples.map(({ readyMs }) => readyMs)),
    roundTripMs: median(samples.map(({ roundTripMs }) => roundTripMs)),
    peakMiB: median(samples.map(({ peakMiB }) => peakMiB)),
  };
}

await main();
