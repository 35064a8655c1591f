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

/** Integration suites in the releases of axiom-go and its adapters. */

const suites = ['Datasets', 'Users', 'Organizations', 'Error', 'Annotations', 'VirtualFields'];
const service = sharedService({ compile: compileRequest, now: Date.now });

const isHere = hasProgram('go', 'version');

/** Returns the directory of the release's sources. */
function sources(): string {
  const name = `github.com/axiomhq/axiom-go@${rowOf('axiom-go').version}`;
  const module = execFileSync('go', ['mod', 'download', '-json', name], { cwd: tmpdir(), encoding: 'utf8' });
  return (JSON.parse(module) as { readonly Dir: string }).Dir;
}

/** Runs the tests of packages whose names match; returns their events. */
async function testsOf(packages: readonly string[], named: string): Promise<readonly Event[]> {
  const { url, token } = service().service;
  const args = ['test', ...packages, '-json', '-count=1', '-run', named];
  const { stdout } = await promisify(execFile)('go', args, {
    cwd: sources(),
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
  return stdout.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : []));
}

test.skipIf(!isHere)('axiom-go', async () => {
  const events = await testsOf(['./axiom'], `^Test(${suites.join('|')})TestSuite$`);
  const outcomes = outcomesIn(events, ({ Test }) => Test?.includes('/') ?? false);
  expect(Object.keys(outcomes)).not.toEqual([]);
  expectRow('axiom-go', outcomes);
  const directory = join(sources(), 'axiom');
  const tests = readdirSync(directory).filter(file => file.endsWith('_test.go'));
  const files = tests.map(file => readFileSync(join(directory, file), 'utf8'));
  const bodies = files.flatMap(source => [...source.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text));
  expectRow('Bodies in the unit tests of axiom-go', readBodies(bodies));
});

test.skipIf(!isHere)('axiom-go adapters', async () => {
  const events = await testsOf(['./adapters/...', './axiom/otel'], '^(Test|TestRealDataset|.*Integration)$');
  expectRow(
    'Adapters of axiom-go',
    outcomesIn(events, ({ Test }) => Test !== undefined),
  );
});

/** Returns the output of a test. */
function outputOf(test: Event, events: readonly Event[]): string {
  const isOf = ({ Package, Test }: Event) => Package === test.Package && Test === test.Test;
  return events
    .filter(isOf)
    .map(({ Output = '' }) => Output)
    .join('');
}

interface Event {
  readonly Action: string;
  readonly Package: string;
  readonly Test?: string;
  readonly Output?: string;
}

/** Returns the outcomes of the counted tests, by package and name; skipped tests are left out. */
function outcomesIn(events: readonly Event[], counts: (event: Event) => boolean): Record<string, boolean> {
  const ended = events.filter(event => /^(pass|fail)$/.test(event.Action) && counts(event));
  for (const event of ended.filter(({ Action }) => Action === 'fail')) console.log(outputOf(event, events));
  return Object.fromEntries(
    ended.map(({ Package, Test, Action }) => [`${Package} ${Test}`, Action === 'pass']),
  );
}
