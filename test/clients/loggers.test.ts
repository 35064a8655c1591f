import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import { sharedService } from '../local/service.js';
import { expectRow, root } from './rows.js';

/** The Node.js loggers that send to Axiom, each writing one event. */

const service = sharedService({ compile: compileRequest, now: Date.now });
const directory = path.join(root, 'test-output/clients/loggers');
const dataset = 'from-loggers';
const loggers = [
  '@axiomhq/axiom-node',
  '@axiomhq/logging',
  '@axiomhq/pino',
  '@axiomhq/winston',
  '@loglayer/transport-axiom',
  'evlog',
  'next-axiom',
];

test('Node.js loggers', async () => {
  const { url, token } = service().service;
  const run = (command: string, args: readonly string[]) =>
    promisify(execFile)(command, args, {
      cwd: directory,
      env: {
        ...process.env,
        AXIOM_URL: url,
        AXIOM_TOKEN: token,
        AXIOM_DATASET: dataset,
        NEXT_TELEMETRY_DISABLED: '1',
      },
    });
  cpSync(path.join(import.meta.dirname, 'loggers'), directory, { recursive: true });
  await run('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--omit=optional',
    '--legacy-peer-deps',
  ]);
  await service().json('POST', '/v2/datasets', { name: dataset });
  await run(process.execPath, ['loggers.mjs']);
  const apl = `['${dataset}'] | where level == "warn" and coalesce(message, msg) == "it is done"
    | project name = coalesce(logger, ['fields.logger'])`;
  const { body } = await service().query(apl);
  const arrived: readonly string[] = body.tables[0].columns[0];
  expect(arrived.filter(name => !loggers.includes(name))).toEqual([]);
  const count = (name: string) => arrived.filter(each => each === name).length;
  expectRow('Loggers for Node.js', Object.fromEntries(loggers.map(name => [name, count(name) === 1])));
});
