import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EditorNews, editorTarget } from '../../../kernel/apl/editor/link.js';
import type { CommHandler } from '../../../kernel/jupyter/message.js';
import { type Bench, startBench } from '../session.js';

let bench: Bench;

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

/** An editor's end: what it was told, and the kernel's handler. */
interface Editor {
  readonly news: EditorNews[];
  readonly handler: CommHandler | undefined;
  readonly isClosed: () => boolean;
  next(): Promise<EditorNews>;
}

function connect(target: string = editorTarget): Editor {
  const news: EditorNews[] = [];
  let closed = false;
  let wake = (): void => undefined;
  const send = (data: unknown): void => {
    // As it travels.
    news.push(JSON.parse(JSON.stringify(data)) as EditorNews);
    wake();
  };
  const close = (): void => {
    closed = true;
  };
  let seen = 0;
  const next = async (): Promise<EditorNews> => {
    while (news.length <= seen)
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    seen += 1;
    return news[seen - 1] as EditorNews;
  };
  const handler = bench.handler.commOpen({ id: 'c', target, send, close }, {}, []);
  return { news, handler, isClosed: () => closed, next };
}

test('an editor is told at once what there is, magics included', async () => {
  const told = await connect().next();
  if (told.tell !== 'facts') throw new Error(told.tell);
  const { magics, ...facts } = told.facts;
  expect(facts).toEqual({
    ...{ profile: 'local', exact: true, datasets: ['web'], results: [] },
    ...{ variables: {}, tables: [] },
  });
  expect(magics.find(each => each.name === 'echo')?.verbatim).toBe(true);
  expect(magics.find(each => each.name === 'time')?.arity).toEqual([0, Number.MAX_SAFE_INTEGER]);
});

test('it is told again after each cell', async () => {
  const editor = connect();
  await editor.next();
  bench.service.answer(() => ({ body: [{ id: 'n', name: 'newer', description: '', kind: 'events' }] }));
  await bench.run('%datasets');
  const told = await editor.next();
  expect(told.tell === 'facts' && told.facts.datasets).toEqual(['newer']);
});

test('it is told of the results that the kernel keeps, with their fields', async () => {
  const editor = connect();
  await editor.next();
  await bench.run('kept << web | count');
  const told = await editor.next();
  const fields = [{ name: 'n', type: 'long' }];
  expect(told.tell === 'facts' && told.facts.results).toMatchObject([
    { name: '_', fields },
    { name: 'kept', fields },
  ]);
});

test('questions are answered, and what is none is ignored', async () => {
  const editor = connect();
  await editor.next();
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
  expect(editor.news).toHaveLength(2);
});

test('a comm of another target is refused', () => {
  expect(connect('another').handler).toBeUndefined();
});

test('an editor that is gone is told nothing; of too many, the oldest is let go', async () => {
  const editors = Array.from({ length: 17 }, () => connect());
  expect(editors.map(each => each.isClosed())).toEqual([true, ...Array.from({ length: 16 }, () => false)]);
  for (const each of editors.slice(1)) await each.next();
  editors[1]?.handler?.close({});
  await bench.run('%version');
  await editors[2]?.next();
  expect(editors.slice(1, 3).map(each => each.news.length)).toEqual([1, 2]);
});
