import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import { sharedService } from '../local/service.js';
import { expectRow, hasProgram, root, rowOf } from './rows.js';

/** axiom-rs, tested with a program that makes its calls: the release has no tests against a service. */

const service = sharedService({ compile: compileRequest, now: Date.now });

test.skipIf(!hasProgram('cargo', '--version'))('axiom-rs', async () => {
  const manifest = path.join(import.meta.dirname, 'rust/Cargo.toml');
  const { url, token } = service().service;
  const { stdout } = await promisify(execFile)('cargo', ['run', '-q', '--manifest-path', manifest], {
    env: {
      ...process.env,
      AXIOM_URL: url,
      AXIOM_TOKEN: token,
      CARGO_TARGET_DIR: path.join(root, 'test-output/clients/rust'),
    },
  });
  const lines = stdout.trim().split('\n');
  for (const line of lines.filter(each => each.startsWith('fail'))) console.log(line);
  expect(rowOf('axiom-rs').version).toBe('0.11.6');
  expectRow(
    'axiom-rs',
    Object.fromEntries(lines.map(line => [line.slice(5).split(':')[0], line.startsWith('pass')])),
  );
});
