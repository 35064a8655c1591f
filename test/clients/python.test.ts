import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import { sharedService } from '../local/service.js';
import { readBodies } from './bodies.js';
import { expectRow, hasProgram, root, rowOf } from './rows.js';

/** The tests in axiom-py's source distribution, and the exporters of OpenTelemetry for Python. */

const directory = path.join(root, 'test-output/clients');
const venv = path.join(root, '.venv-clients');
const python = path.join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
const isHere = hasProgram('python3', '--version');
const service = sharedService({ compile: compileRequest, now: Date.now });
const run = promisify(execFile);

beforeAll(async () => {
  if (!isHere) return;
  if (!existsSync(python)) await run('python3', ['-m', 'venv', venv]);
  await run(python, ['-m', 'pip', 'install', '-q', '-r', path.join(import.meta.dirname, 'requirements.txt')]);
});

function environment(): NodeJS.ProcessEnv {
  const { url, token } = service().service;
  return { ...process.env, AXIOM_URL: url, AXIOM_TOKEN: token, AXIOM_ORG_ID: 'local' };
}

test.skipIf(!isHere)('axiom-py', async () => {
  const release = `axiom_py-${rowOf('axiom-py').version}`;
  const sources = path.join(directory, release);
  if (!existsSync(sources)) {
    mkdirSync(directory, { recursive: true });
    const wanted = release.replace('-', '==');
    const options = ['--no-deps', '--no-binary', ':all:', '-q', '-d', directory];
    execFileSync(python, ['-m', 'pip', 'download', ...options, wanted]);
    execFileSync('tar', ['xzf', `${release}.tar.gz`], { cwd: directory });
  }
  const report = path.join(directory, 'axiom-py.xml');
  const args = [
    '-m',
    'pytest',
    '-q',
    '--reruns',
    '0',
    '-p',
    'no:cacheprovider',
    '-p',
    'bodies',
    `--junitxml=${report}`,
    'tests',
  ];
  // Failed tests are in the report, which is compared with the row.
  const bodies = path.join(directory, 'axiom-py-bodies.jsonl');
  rmSync(bodies, { force: true });
  const env = { ...environment(), BODIES: bodies, PYTHONPATH: import.meta.dirname };
  await run(python, args, { cwd: sources, env }).catch(() => undefined);
  const cases = readFileSync(report, 'utf8').match(/<testcase [^>]*?(?:\/>|>[\s\S]*?<\/testcase>)/g) ?? [];
  const ran = cases.filter(each => !each.includes('<skipped'));
  const name = (each: string) =>
    `${/ classname="([^"]*)"/.exec(each)?.[1]}.${/ name="([^"]*)"/.exec(each)?.[1]}`;
  expectRow('axiom-py', Object.fromEntries(ran.map(each => [name(each), !/<(failure|error)/.test(each)])));
  const lines = readFileSync(bodies, 'utf8').trim().split('\n');
  const answered = readBodies(lines.map(line => JSON.parse(line)));
  expectRow('Bodies in the unit tests of axiom-py', answered);
});

test.skipIf(!isHere)('OpenTelemetry Python exporters', async () => {
  await service().json('POST', '/v2/datasets', { name: 'otel-py' });
  const { stdout } = await run(python, [path.join(import.meta.dirname, 'otel.py')], { env: environment() });
  const [traceId = ''] = stdout.trim().split('\n');
  const find = async (apl: string) => (await service().query(apl)).body.tables[0].columns.flat();
  const [spans, logs] = await Promise.all([
    find(`['otel-py'] | where trace_id == "${traceId}" and name == "checkout" | count`),
    find(`['otel-py'] | where body == "it is done" | count`),
  ]);
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expectRow('OpenTelemetry Python', { span: spans[0] === 1, 'log record': logs[0] === 1 });
});

test.skipIf(!isHere)('Python loggers', async () => {
  const dataset = 'from-python';
  await service().json('POST', '/v2/datasets', { name: dataset });
  const env = { ...environment(), AXIOM_DATASET: dataset };
  await run(python, [path.join(import.meta.dirname, 'loggers.py')], { env });
  const apl = `['${dataset}'] | where msg == "it is done" | summarize n = count() by name | where n == 1`;
  const arrived: readonly string[] = (await service().query(apl)).body.tables[0].columns[0];
  const names = { 'axiom-logger': 'axiom-logger', 'axiom-py': 'axiom-py', loguru: '__main__' };
  const found = Object.entries(names).map(([logger, name]) => [logger, arrived.includes(name)]);
  expectRow('Loggers for Python', Object.fromEntries(found));
});
