/**
 * A result of 1 M rows x 10 columns from the local service to Arrow, through the kernel's client and decoder: as Arrow IPC against
 * JSON. Each run uses fresh service and client processes, alternating; medians count. Time is CPU time of both together, and memory
 * the sum of their peaks. ROWS and RUNS are environment variables.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '../kernel/api/client.js';
import { AccessToken } from '../kernel/api/profile.js';
import { decodeSteps } from '../kernel/result/decode/decode-arrow.js';
import { inSlices } from '../kernel/result/decode/decode-slices.js';
import { median, report } from './tools/row.js';
import { peakMiB, processorMs, startProcess, stopProcess } from './tools/service.js';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const RUNS = Number(process.env.RUNS ?? 5);
const FORMS = ['arrow', 'json'] as const;
type Form = (typeof FORMS)[number];

/** Times, numbers, low- and high-cardinality strings, a flag. */
const apl = `range i from 1 to ${ROWS} step 1
| extend a = strcat('user-', tostring(i % 5000)), b = i * 3, c = i / 7.0, d = i % 2 == 0, e = strcat('/api/v1/orders/', tostring(i)),
  f = datetime(2026-01-01) + i * 1s, g = i % 600, h = strcat('trace-', tostring(i * 7919)), k = todouble(i)
| limit ${ROWS}`;

interface Sample {
  readonly ms: number;
  readonly cpuMs: number;
  readonly clientMs: number;
  readonly peakMiB: number;
  readonly clientMiB: number;
}

async function main(): Promise<void> {
  const samples: Record<Form, Sample[]> = { arrow: [], json: [] };
  for (let run = 0; run < RUNS; run++) for (const form of FORMS) samples[form].push(await sampleOf(form));
  const of = (form: Form, member: keyof Sample) => median(samples[form].map(each => each[member]));
  const what = `answer of ${ROWS.toLocaleString('en')} x 10 to Arrow, IPC`;
  const row = (figure: string, unit: string, member: keyof Sample, ratio?: number) =>
    report({
      figure: `${what}: ${figure}`,
      unit,
      ours: of('arrow', member),
      baseline: { name: 'JSON', value: of('json', member) },
      ...(ratio !== undefined && { goal: { ratio } }),
    });
  row('processor time of both', 'ms', 'cpuMs', 1 / 3);
  row('processor time of the kernel', 'ms', 'clientMs');
  row('wall time', 'ms', 'ms', 1 / 3);
  row('memory of both', 'MiB', 'peakMiB', 0.5);
  row('memory of the kernel', 'MiB', 'clientMiB');
}

async function sampleOf(form: Form): Promise<Sample> {
  const service = await startProcess();
  try {
    const before = processorMs(service);
    const args = [...process.execArgv, fileURLToPath(import.meta.url), form, service.url, service.token];
    const client = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as Sample;
    const cpuMs = client.clientMs + processorMs(service) - before;
    return { ...client, cpuMs, peakMiB: client.clientMiB + peakMiB(service) };
  } finally {
    await stopProcess(service);
  }
}

/** Returns the cost of one request in this process. */
async function measure(form: Form, url: string, token: string) {
  await import('undici');
  const client = createClient(
    { profileName: 'local', url, token: new AccessToken(token) },
    { version: 'bench' },
  );
  await client.query({ apl: 'print 1' });
  const used = process.cpuUsage();
  const start = performance.now();
  const { body } = await client.query({ apl, ...(form === 'json' && { asJson: true as const }) });
  const { tables } = await inSlices(decodeSteps(body));
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(used);
  if (tables[0]?.data.numRows !== ROWS) throw new Error(`rows were lost by ${form}`);
  await client.close();
  return { ms, clientMs: (user + system) / 1000, clientMiB: process.resourceUsage().maxRSS / 1024 };
}

const [form, url, token] = process.argv.slice(2) as [Form?, string?, string?];
if (form === undefined || url === undefined || token === undefined) await main();
else process.stdout.write(JSON.stringify(await measure(form, url, token)));
