import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../kernel/api/client.js';
import { AccessToken } from '../../../kernel/api/profile.js';
import { AplKernelError } from '../../../kernel/errors.js';
import { decodeTabular } from '../../../kernel/result/decode/decode-arrow.js';
import { FIELD_KEY } from '../../../kernel/result/field.js';
import { visible } from '../../../kernel/text.js';
import { type Fault, faults, raw, secret, serveFault, whole } from './fault-server.js';
import { oddFaults, taken } from './odd-faults.js';

/** The same faults run in one notebook in `test/notebook/query/faults.test.ts`. */

interface Outcome {
  readonly requests: number;
  readonly error: unknown;
  /** Notes about the columns of the response. */
  readonly notes: readonly string[];
}

/** Sends a query to a server that answers each connection with this fault; `{host}` is replaced with its address. */
async function met(answer: Fault, timeLimitMs = 20_000): Promise<Outcome> {
  const server = await serveFault(answer);
  const endpoint = { profileName: 'prod', url: server.url, token: new AccessToken(secret) };
  const client = createClient(endpoint, { version: '1', timeLimitMs, retryMs: 1 });
  const outcome = await client
    .query({ apl: 'logs' })
    .then(({ body }) => ({ error: undefined, notes: notesOn(body) }))
    .catch((error: unknown) => ({ error, notes: [] }));
  await client.close();
  server.close();
  return { requests: server.requests, ...outcome };
}

function notesOn(body: Uint8Array): readonly string[] {
  const fields = decodeTabular(body).tables.flatMap(({ data }) => data.schema.fields);
  return fields.map(({ metadata }) => metadata.get(FIELD_KEY.note)).filter(note => note !== undefined);
}

function spoken({ error, notes }: Outcome): string {
  if (error === undefined) return ['an answer', ...notes].join(': ');
  if (!(error instanceof AplKernelError)) return String(error);
  const short = visible(error.message)
    .replace(/127\.0\.0\.1:\d+/g, '{host}')
    .replace(/x{50,}.*$/, 'xxx…');
  return [`\`${error.code}\` ${short}.`, error.hint].filter(Boolean).join(' ').replaceAll('|', '\\|');
}

const file = path.join(import.meta.dirname, '../../../docs/faults.md');
const isUpdate = process.env.UPDATE_GOLDEN === '1';
const head = `# What a query reports for each kind of response

Each row has a response from a real socket, the number of requests sent, and the message shown by the client and by the cells of one notebook
(\`test/notebook/query/faults.test.ts\`). A read-only request is retried if that is safe.

\`UPDATE_GOLDEN=1 npx vitest run --project service test/api/failures/faults.test.ts\` writes the table.

| response | requests | shown |
|---|---|---|
`;

test('every fault is reported as on the page', async () => {
  const lines: string[] = [];
  for (const [name, fault] of Object.entries({ ...faults, ...oddFaults })) {
    const outcome = await met(fault);
    const isAnswer = taken.has(name) || /, then an answer$|, a wrong type in a column$/.test(name);
    expect([name, outcome.error instanceof AplKernelError]).toEqual([name, !isAnswer]);
    expect(spoken(outcome)).not.toContain(secret);
    lines.push(`| ${name} | ${outcome.requests} | ${spoken(outcome)} |\n`);
  }
  expect(lines.length).toBe(Object.keys(faults).length + Object.keys(oddFaults).length);
  const page = head + lines.join('');
  if (isUpdate) writeFileSync(file, page);
  expect(page).toBe(readFileSync(file, 'utf8'));
});

describe('random faults', () => {
  test('a thousand mutated, truncated responses end in a result or a known error', async () => {
    const good = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n${whole}`;
    const random = seeded(20_261_125);
    const ended: unknown[] = [];
    const one = async () => {
      const bytes = Buffer.from(good);
      for (let change = random(4); change > 0; change--) bytes[random(bytes.length)] = random(256);
      const cut = bytes.subarray(0, random(2) === 0 ? bytes.length : random(bytes.length));
      ended.push((await met(random(8) === 0 ? socket => socket.write(cut) : raw(cut), 300)).error);
    };
    for (let round = 0; round < 50; round++) await Promise.all(Array.from({ length: 20 }, one));
    expect(ended.length).toBe(1000);
    expect(ended.filter(error => error !== undefined && !(error instanceof AplKernelError))).toEqual([]);
  });
});

/** Returns a generator of integers below a bound, the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
