import { afterEach, expect, test } from 'vitest';
import type { Reply } from '../../../api/service.js';
import { type Bench, everyday, printed, shown, startBench, traceback } from '../../session.js';

let bench: Bench;

afterEach(() => bench.close());

async function linesOf(cell: string, answers: Readonly<Record<string, Reply>>): Promise<string> {
  bench = await startBench({
    environment: ({ url }) => ({ url, token: 'xaat-1' }),
    reply: seen => answers[seen.path] ?? everyday(seen),
  });
  const run = await bench.run(`%use environment\n${cell}`);
  return [...traceback(run), printed(run), ...shown(run)].join('\n');
}

test('%datasets lists the valid entries and names the malformed ones', async () => {
  const body = [{ name: 'web' }, { name: 7 }, null, { name: 'logs', description: 'of all' }];
  const lines = await linesOf('%datasets', { '/v2/datasets': { body } });
  expect(lines).toContain('Left out: datasets[1].name should be a string, not a number.\n');
  expect(lines).toContain('Left out: datasets[2] should be an object, not null.\n');
  expect(lines).toMatch(/2 datasets[\s\S]*web[\s\S]*logs +of all/);
});

test('%schema lists the valid fields and the readable datasets, and names the rest', async () => {
  const lines = await linesOf('%schema', {
    '/v2/datasets': { body: [{ name: 'web' }, { name: 'closed' }] },
    '/v2/datasets/web/fields': { body: [{ name: 'status', type: 'integer' }, { type: 'string' }] },
    '/v2/datasets/closed/fields': { status: 403, body: { code: 403, message: 'not yours' } },
  });
  expect(lines).toContain('web: Left out: fields[1].name should be a string, not missing.\n');
  expect(lines).toContain(
    'closed: the token of the profile environment may not read the fields of closed: not yours.\n',
  );
  expect(lines).toMatch(/web: 1 field[\s\S]*status +long/);
});

test('%schema fails if no dataset can be read', async () => {
  const lines = await linesOf('%schema', {
    '/v2/datasets': { body: [{ name: 'closed' }] },
    '/v2/datasets/closed/fields': { status: 403, body: { code: 403, message: 'not yours' } },
  });
  expect(lines).toContain('may not read the fields of closed: not yours');
});
