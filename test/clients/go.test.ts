import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import { sharedService } from '../local/service.js';
import { readBodies } from './bodies.js';
import { expectRow, hasProgram, rowOf } from './rows.js';

/** The integration suites of axiom-go, as its release ships them. */

const suites = ['Datasets', 'Users', 'Organizations', 'Error', 'Annotations', 'VirtualFields'];
const service = sharedService({ compile: compileRequest, now: Date.now });

test.skipIf(!hasProgram('go', 'version'))('axiom-go', async () => {
  const name = `github.com/axiomhq/axiom-go@${rowOf('axiom-go').version}`;
  const module = execFileSync('go', ['mod', 'download', '-json', name], { cwd: tmpdir(), encoding: 'utf8' });
  const { Dir: cwd } = JSON.parse(module) as { Dir: string };
  const { url, token } = service().service;
  const run = `^Test(${suites.join('|')})TestSuite$`;
  const answer = await promisify(execFile)('go', ['test', './axiom', '-json', '-count=1', '-run', run], {
    cwd,
    maxBuffer: 2 ** 26,
    env: {
      ...process.env,
      AXIOM_INTEGRATION_TESTS: '1',
      AXIOM_URL: url,
      AXIOM_TOKEN: token,
      AXIOM_ORG_ID: 'local',
      AXIOM_DATASET_SUFFIX: 'stage',
      // This release is older than `updatedAt`, which the documentation requires.
      AXIOM_DISABLE_STRICT_DECODING: '1',
    },
  }).catch((error: { readonly stdout: string }) => error);
  const outcomes = outcomesIn(answer.stdout);
  expect(Object.keys(outcomes)).not.toEqual([]);
  expectRow('axiom-go', outcomes);
  const directory = join(cwd, 'axiom');
  const tests = readdirSync(directory).filter(file => file.endsWith('_test.go'));
  const sources = tests.map(file => readFileSync(join(directory, file), 'utf8'));
  const bodies = sources.flatMap(source => [...source.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text));
  expectRow('Bodies in the unit tests of axiom-go', readBodies(bodies));
});

/** What a test printed. */
function outputOf(name: string, events: readonly Event[]): string {
  return events.flatMap(({ Test, Output }) => (Test === name ? [Output ?? ''] : [])).join('');
}

interface Event {
  readonly Action: string;
  readonly Test?: string;
  readonly Output?: string;
}

/** Tests within suites, by name; those that skip themselves are none. */
function outcomesIn(output: string): Record<string, boolean> {
  const events: readonly Event[] = output
    .split('\n')
    .flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const failed = events.filter(({ Action, Test }) => Action === 'fail' && /\//.test(Test ?? ''));
  for (const { Test } of failed) console.log(outputOf(Test ?? '', events));
  const ended = events.filter(({ Action, Test }) => /^(pass|fail)$/.test(Action) && /\//.test(Test ?? ''));
  return Object.fromEntries(ended.map(({ Action, Test }) => [Test ?? '', Action === 'pass']));
}
