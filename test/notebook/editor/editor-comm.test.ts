import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EditorUpdate, editorTarget } from '../../../kernel/apl/editor/editor-link.js';
import type { CommHandler } from '../../../kernel/jupyter/message.js';
import { QueryLog } from '../../../kernel/notebook/query/query-log.js';
import { type Bench, everyday, startBench } from '../session.js';

let bench: Bench;

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

/** An editor's end of the comm: the messages received, and the kernel's handler. */
interface Editor {
  readonly updates: EditorUpdate[];
  readonly handler: CommHandler | undefined;
  readonly isClosed: () => boolean;
  next(): Promise<EditorUpdate>;
  /** Resolves with the next facts, skipping other messages. */
  facts(): Promise<EditorUpdate>;
}

function connect(target: string = editorTarget): Editor {
  const updates: EditorUpdate[] = [];
  let closed = false;
  let wake = (): void => undefined;
  const send = (data: unknown): void => {
    // As serialized on the wire.
    updates.push(JSON.parse(JSON.stringify(data)) as EditorUpdate);
    wake();
  };
  const close = (): void => {
    closed = true;
  };
  let seen = 0;
  const next = async (): Promise<EditorUpdate> => {
    while (updates.length <= seen)
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    seen += 1;
    return updates[seen - 1] as EditorUpdate;
  };
  const facts = async (): Promise<EditorUpdate> => {
    for (;;) {
      const told = await next();
      if (told.tell === 'facts') return told;
    }
  };
  const handler = bench.handler.commOpen({ id: 'c', target, send, close }, {}, []);
  return { updates, handler, isClosed: () => closed, next, facts };
}

test('an editor receives the session and the facts, including magics, on opening', async () => {
  const editor = connect();
  expect(await editor.next()).toEqual({
    tell: 'session',
    session: {
      ...{ profile: 'local', isLocal: true, isRunning: false, takesAgents: false, stars: 0 },
      range: {
        label: 'last 1h',
        startTime: '2026-03-04T04:06:07.123456789Z',
        endTime: '2026-03-04T05:06:07.123456789Z',
        isFrozen: false,
      },
    },
  });
  const told = await editor.next();
  if (told.tell !== 'facts') throw new Error(told.tell);
  const { magics, ...facts } = told.facts;
  expect(facts).toEqual({
    ...{ profile: 'local', exact: true, datasets: ['web'], results: [] },
    ...{ variables: {}, tables: [] },
  });
  expect(magics.find(each => each.name === 'echo')?.verbatim).toBe(true);
  expect(magics.find(each => each.name === 'time')?.arity).toEqual([0, Number.MAX_SAFE_INTEGER]);
});

test('an editor receives new facts after each cell', async () => {
  const editor = connect();
  await editor.facts();
  bench.service.answer(() => ({ body: [{ id: 'n', name: 'newer', description: '', kind: 'events' }] }));
  await bench.run('%datasets');
  const told = await editor.facts();
  expect(told.tell === 'facts' && told.facts.datasets).toEqual(['newer']);
});

test("an editor receives the kernel's results with their fields", async () => {
  const editor = connect();
  await editor.facts();
  await bench.run('kept << web | count');
  const told = await editor.facts();
  const fields = [{ name: 'n', type: 'long' }];
  expect(told.tell === 'facts' && told.facts.results).toMatchObject([
    { name: '_', fields },
    { name: 'kept', fields },
  ]);
});

test('answers valid requests and ignores malformed ones', async () => {
  const editor = connect();
  await editor.facts();
  const question = { ask: 'fields', dataset: 'web' };
  await editor.handler?.message(question, []);
  expect(await editor.next()).toMatchObject({
    tell: 'fields',
    question,
    fields: [{ name: '_time' }, { name: 'status', type: 'long', description: 'HTTP status' }, {}, {}],
  });
  for (const nonsense of [
    undefined,
    null,
    1,
    {},
    { ask: 'fields' },
    { ask: 'keys', dataset: 'web', path: [1] },
  ])
    await editor.handler?.message(nonsense, []);
  expect(editor.updates).toHaveLength(3);
});

test('refuses a comm with another target', () => {
  expect(connect('another').handler).toBeUndefined();
});

test('sends nothing to a closed editor, and closes the oldest beyond 16', async () => {
  const editors = Array.from({ length: 17 }, () => connect());
  expect(editors.map(each => each.isClosed())).toEqual([true, ...Array.from({ length: 16 }, () => false)]);
  for (const each of editors.slice(1)) await each.facts();
  editors[1]?.handler?.close({});
  await bench.run('%version');
  await editors[2]?.facts();
  expect(editors.slice(1, 3).map(each => each.updates.length)).toEqual([2, 5]);
});

test('a toolbar receives the range and the profile that cells set', async () => {
  const editor = connect();
  await editor.facts();
  await bench.run('%time 2026-01-01..2026-01-02');
  expect(await editor.next()).toMatchObject({ session: { isRunning: true, range: { label: 'last 1h' } } });
  expect(await editor.next()).toEqual({
    tell: 'session',
    session: {
      ...{ profile: 'local', isLocal: true, isRunning: false, takesAgents: false, stars: 0 },
      range: {
        label: '2026-01-01 .. 2026-01-02',
        startTime: '2026-01-01T00:00:00Z',
        endTime: '2026-01-02T00:00:00Z',
        isFrozen: true,
      },
    },
  });
});

test('a range that is empty for a while does not stop cells from running', async () => {
  let now = 1_772_620_000_000_000_000n;
  const plain = bench;
  bench = await startBench({ now: () => now });
  await bench.run('%time today 10:00..');
  const editor = connect();
  await editor.facts();
  now = 1_772_672_400_000_000_000n;
  const { outcome } = await bench.run('%version');
  expect(outcome.status).toBe('ok');
  expect(await editor.next()).toMatchObject({
    session: { range: { startTime: '2026-03-05T10:00:00Z', endTime: '2026-03-05T10:00:00Z' } },
  });
  await plain.close();
});

/** Sends a question once the facts have arrived; returns the answer without the question. */
async function ask(question: object): Promise<object> {
  const editor = connect();
  await editor.facts();
  await editor.handler?.message(question, []);
  const answer = await editor.next();
  if (!('question' in answer)) throw new Error(answer.tell);
  const { question: asked, ...rest } = answer;
  expect(asked).toEqual(question);
  return rest;
}

test('the panel lists profiles by name and address, never by token', async () => {
  const file =
    '[deployments.prod]\nurl = "https://api.axiom.co"\ntoken = "xaat-secret"\n[deployments.bare]\n';
  await writeFile(join(bench.homeDir, '.axiom.toml'), file);
  await bench.run('%use');
  const told = await ask({ ask: 'profiles' });
  expect(told).toMatchObject({
    tell: 'profiles',
    rows: [
      { name: 'local', hasToken: true },
      { name: 'prod', hasToken: true, address: 'https://api.axiom.co' },
      { name: 'bare', hasToken: false },
    ],
  });
  expect(JSON.stringify(told)).not.toContain('xaat');
  await writeFile(join(bench.homeDir, '.axiom.toml'), `${file}[deployments.late]\n`);
  const late = (await ask({ ask: 'profiles' })) as { readonly rows: readonly { readonly name: string }[] };
  expect(late.rows.map(({ name }) => name)).toEqual(['local', 'prod', 'bare', 'late']);
});

test('the panel lists datasets with their size and a `%time` range that covers each', async () => {
  const dataset = { id: 'w', name: 'web', description: 'requests', kind: 'events' };
  const extent = { rows: 7, firstTime: '2026-01-01T10:00:00Z', lastTime: '2026-01-02T00:00:00Z' };
  bench.service.answer(() => ({ body: [{ ...dataset, ...extent }] }));
  expect(await ask({ ask: 'datasets' })).toEqual({
    tell: 'datasets',
    rows: [{ name: 'web', description: 'requests', ...extent, range: '2026-01-01..2026-01-03' }],
  });
});

test('an editor receives the fields in the profile that a cell sets before the answer arrives', async () => {
  const file = `[deployments.prod]\nurl = "${bench.service.url}"\ntoken = "xaat-1"\n`;
  await writeFile(join(bench.homeDir, '.axiom.toml'), file);
  const editor = connect();
  await editor.facts();
  const named = (name: string) => [{ name, type: 'integer', unit: '', hidden: false, description: '' }];
  const waits: (() => void)[] = [];
  const [asked, used] = [0, 1].map(() => new Promise<void>(resolve => waits.push(resolve)));
  bench.service.answer(seen => {
    if (!seen.path.endsWith('/fields')) return everyday(seen);
    if (seen.headers.authorization === 'Bearer xaat-1') return { body: named('there') };
    waits[0]?.();
    return response => void used?.then(() => response.end(JSON.stringify(named('here'))));
  });
  const answering = editor.handler?.message({ ask: 'fields', dataset: 'web' }, []);
  await asked;
  await bench.run('%use prod');
  waits[1]?.();
  await answering;
  const told = editor.updates.filter(({ tell }) => tell === 'fields');
  expect(told).toMatchObject([{ fields: [{ name: 'there' }] }]);
});

test('the panel lists results with their names and size', async () => {
  await bench.run('kept << web | count');
  const rows = {
    rows: [{ names: ['_', 'kept'], rows: 1, columns: 1, profile: 'local', query: 'web | count' }],
  };
  expect(await ask({ ask: 'results' })).toMatchObject({ tell: 'results', ...rows });
});

test('a refresh sends facts only if the datasets changed', async () => {
  const editor = connect();
  await editor.facts();
  const told = editor.updates.length;
  await editor.handler?.message({ ask: 'renew' }, []);
  expect(editor.updates.length).toBe(told);
  bench.service.answer(() => ({ body: [{ id: 'n', name: 'elsewhere', description: '', kind: 'events' }] }));
  await editor.handler?.message({ ask: 'renew' }, []);
  expect(editor.updates.at(-1)).toMatchObject({ tell: 'facts', facts: { datasets: ['elsewhere'] } });
});

test('a refresh keeps the known datasets if the service fails', async () => {
  const editor = connect();
  await editor.facts();
  const told = editor.updates.length;
  bench.service.answer(() => ({ status: 500, body: { message: 'no' } }));
  await editor.handler?.message({ ask: 'renew' }, []);
  expect(editor.updates.length).toBe(told);
});

test('a result has a console link only if its profile has a console', async () => {
  const endpoint = `url = "http://api.invalid:81"\nedge_url = "${bench.service.url}"\ntoken = "xaat-secret"\n`;
  const file = `[deployments.prod]\n${endpoint}org_id = "acme"\n[deployments.bare]\n${endpoint}`;
  await writeFile(join(bench.homeDir, '.axiom.toml'), file);
  const linkOf = async (cell: string): Promise<string | undefined> => {
    bench.service.answer(each => everyday({ ...each, path: '/v1/datasets/_apl' }));
    const { outputs } = await bench.run(cell);
    bench.service.answer(everyday);
    const reference = outputs.flatMap(each => ('metadata' in each ? [each.metadata.apl] : [])).at(-1);
    const { result } = reference as { readonly result: { readonly id: string } };
    const told = (await ask({ ask: 'link', result: result.id })) as { readonly url?: string };
    return told.url;
  };
  const link = await linkOf('%%on prod\nweb | count');
  expect(link).toMatch(
    /^http:\/\/app\.invalid:81\/acme\/query\?initForm=%7B%22apl%22%3A%22web%20%7C%20count/,
  );
  expect(link).not.toContain('secret');
  expect(await linkOf('%%on bare\nweb | limit 1')).toBe(undefined);
  expect(await linkOf('web | limit 2')).toBe(undefined);
  expect(await ask({ ask: 'link', result: 'nothing' })).toEqual({ tell: 'link' });
});

test('a refusal by the service is reported as a failure', async () => {
  bench.service.answer(() => ({ status: 403, body: { message: 'no' } }));
  expect(await ask({ ask: 'stars' })).toMatchObject({ tell: 'failed' });
});

test('the panel searches the query history', async () => {
  const plain = bench;
  const logged = await startBench({ queryLog: new QueryLog(join(plain.homeDir, 'queries.jsonl')) });
  for (const apl of ['web | count', 'web | limit 1', 'web | COUNT']) await logged.run(apl);
  bench = logged;
  const found = (await ask({ ask: 'history', text: 'Count' })) as Extract<EditorUpdate, { tell: 'history' }>;
  expect(found.rows.map(({ number, query, hasVariables }) => [number, query, hasVariables])).toEqual([
    [3, 'web | COUNT', false],
    [1, 'web | count', false],
  ]);
  await plain.close();
});
