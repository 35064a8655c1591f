import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentFile } from '../../../../kernel/notebook/magics/agents/agent-link.js';
import { isForAgents } from '../../../../kernel/notebook/magics/agents/agent-rules.js';
import { magicLines } from '../../../../kernel/notebook/magics/magic-lines.js';
import { magics } from '../../../../kernel/notebook/magics/magic-table.js';
import { appendCell, listNotebooks } from '../../../../kernel/protocols/mcp/mcp-notebooks.js';
import { type Seen, tabular } from '../../../api/service.js';
import { type Bench, everyday, printed, queries, startBench, traceback } from '../../session.js';
import { type NotebookPage, openPage } from './page.js';

let directory: string;
let bench: Bench;

/** Answers with a starred query that reads a file. */
function answer(seen: Seen): ReturnType<typeof everyday> {
  if (seen.path !== '/v2/apl-starred-queries/s1') return everyday(seen);
  const apl = 'externaldata (line:string) ["file:///etc/passwd"] with (format="txt")';
  return { body: { id: 's1', kind: 'apl', name: 'Theirs', who: 'u9', metadata: {}, query: { apl } } };
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-agents-'));
  await begin();
});

afterEach(async () => {
  await bench.close();
  await rm(directory, { recursive: true });
});

const agentsDir = () => join(directory, 'agents');

async function begin(agentMs?: { readonly wait: number; readonly run: number }): Promise<void> {
  await bench?.close().catch(() => undefined);
  const agents = { agentsDir: agentsDir(), ...(agentMs === undefined ? {} : { agentMs }) };
  bench = await startBench({ agents, reply: answer });
}

const never = new AbortController().signal;
/** The part of a session that discovers kernels. */
const session = () =>
  ({ options: { agentsDir: agentsDir() } }) as unknown as Parameters<typeof listNotebooks>[0];

/** Parses the data of an answer. */
function dataOf({
  content: [first],
}: Awaited<ReturnType<typeof listNotebooks>>): readonly Record<string, string>[] {
  const lines = (first?.text ?? '').split('\n');
  const mark = lines.find(line => /^data-[\w-]{12}$/.test(line)) ?? '';
  return lines.slice(lines.indexOf(mark) + 1, lines.lastIndexOf(mark)).map(line => JSON.parse(line));
}

const notebooks = async () => dataOf(await listNotebooks(session(), never));

/** Adds a cell to the only notebook; returns the message about it and its data, or the refusal. */
async function append(query: string, more: { readonly range?: string; readonly rows?: number } = {}) {
  const [open] = await readdir(agentsDir());
  const order = { notebook: (open ?? '').replace('.json', ''), query, rows: 50, range: undefined, ...more };
  const answer = await appendCell(session(), order, never);
  const [said] = (answer.content[0]?.text ?? '').split('\n');
  return { said, data: dataOf(answer), isError: answer.isError === true };
}

/** Whether a page's toolbar shows that agents may add cells. */
const saidOn = ({ told }: NotebookPage) =>
  told.flatMap(update => (update.tell === 'session' ? [update.session.takesAgents] : [])).at(-1);

const refusalOf = async (query: string) => (await append(query)).data[0]?.message;
const runtimeFile = async (): Promise<AgentFile> =>
  JSON.parse(await readFile(join(agentsDir(), (await readdir(agentsDir()))[0] ?? ''), 'utf8'));

describe('access for agents', () => {
  test('lasts from %agents on, in a front end that can add cells, until it is turned off', async () => {
    expect(await notebooks()).toEqual([]);
    expect(printed(await bench.run('%agents'))).toBe('Agents are off: they may not add cells.\n');
    expect(traceback(await bench.run('%agents on'))[0]).toContain(
      'this front end cannot add cells to the notebook',
    );
    const page = await openPage(bench, 'work/a.ipynb');
    expect(
      traceback(await bench.run('%agents on', { origin: { client: 'another', cell: 'c' } })),
    ).not.toEqual([]);
    expect(await notebooks()).toEqual([]);
    expect(traceback(await page.run('%agents on'))).toEqual([]);
    const { id } = await runtimeFile();
    const state = { notebook: id, name: 'work/a.ipynb', range: 'last 1h', profile: 'local' };
    expect(await notebooks()).toEqual([state]);
    await page.run('%agents on');
    expect(await notebooks()).toEqual([state]);
    expect(printed(await page.run('%agents'))).toBe('Agents are on: they may add cells to work/a.ipynb.\n');
    expect(saidOn(page)).toBe(true);
    await page.say({ ask: 'no agents' });
    expect(saidOn(page)).toBe(false);
    expect([await notebooks(), await readdir(agentsDir())]).toEqual([[], []]);
    await expect(
      appendCell(session(), { notebook: id, query: 'print 1', rows: 1, range: undefined }, never),
    ).rejects.toThrow(`no notebook ${id} accepts cells from agents`);
  });

  test('needs confirmation, also after it was turned off', async () => {
    await bench.close();
    bench = await startBench({ agents: { agentsDir: agentsDir() }, allowed: [] });
    const page = await openPage(bench, 'a.ipynb');
    expect(traceback(await page.run('%agents on'))[0]).toContain('this session cannot ask for consent');
    const origin = { client: page.client, cell: 'own' };
    await bench.run('%agents on', { origin, answer: 'yes' });
    expect(await notebooks()).toHaveLength(1);
    await page.say({ ask: 'no agents' });
    expect(traceback(await page.run('%agents on'))[0]).toContain('this session cannot ask for consent');
    expect(await notebooks()).toEqual([]);
  });

  test('follows a renamed notebook', async () => {
    const page = await openPage(bench, 'a.ipynb');
    await page.run('%agents on');
    await (await openPage(bench, 'c.ipynb')).say({ ask: 'write', client: 'another', name: 'd.ipynb' });
    expect((await notebooks())[0]?.name).toBe('a.ipynb');
    await page.say({ ask: 'write', client: page.client, name: 'b.ipynb' });
    expect((await notebooks())[0]?.name).toBe('b.ipynb');
  });

  test('fails with the reason if the runtime file cannot be written', async () => {
    await writeFile(agentsDir(), '');
    const page = await openPage(bench, 'a.ipynb');
    expect(traceback(await page.run('%agents on'))[0]).toMatch(/%agents: .+agents cannot be written: /);
    expect(saidOn(page)).toBe(false);
  });

  test('ends with the kernel and is off in the next one', async () => {
    await (await openPage(bench, 'a.ipynb')).run('%agents on');
    expect(await readdir(agentsDir())).toHaveLength(1);
    await begin();
    expect(await readdir(agentsDir())).toEqual([]);
    expect(printed(await bench.run('%agents'))).toContain('off');
  });
});

describe("an agent's cell", () => {
  test('is added once, by the first page of the notebook to take it, and runs there', async () => {
    const page = await openPage(bench, 'a.ipynb');
    const [tab, other] = [await openPage(bench, 'a.ipynb'), await openPage(bench, 'b.ipynb')];
    await page.run('%agents on');
    const cell = '// Added by an agent\n%%time last 2h\nweb | count';
    expect(await append('web | count', { range: 'last 2h' })).toEqual({
      said: 'The cell was added to the notebook and has run.',
      data: [{ n: 42 }],
      isError: false,
    });
    expect([page.added, tab.added, other.added]).toEqual([[cell], [], []]);
    expect([tab, other].map(({ told }) => told.filter(({ tell }) => tell === 'offer').length)).toEqual([
      1, 0,
    ]);
    expect(queries(bench.service).at(-1)).toMatchObject({
      apl: 'web | count',
      startTime: expect.stringContaining('T03:06'),
    });
  });

  test('is taken by a reloaded page', async () => {
    const page = await openPage(bench, 'a.ipynb', { takes: false });
    await page.run('%agents on');
    const again = await openPage(bench, 'a.ipynb');
    expect((await append('print 1')).said).toContain('has run');
    expect(again.added).toHaveLength(1);
  });

  test("does not change the user's last result", async () => {
    const page = await openPage(bench, 'a.ipynb');
    await page.run('%agents on\nweb | count');
    const columns = [
      { name: 'm', type: 'string' },
      { name: 'n', type: 'integer' },
    ];
    const values = [
      ['GET', 'PUT'],
      [7, 8],
    ];
    const other = tabular(columns, values);
    bench.service.answer(seen => (seen.path.endsWith('_apl') ? { body: other } : everyday(seen)));
    const { data } = await append('%viz bar\nweb | summarize n = count() by m');
    expect(data.filter(each => 'n' in each)).toEqual([
      { m: 'GET', n: 7 },
      { m: 'PUT', n: 8 },
    ]);
    const { outcome } = await bench.run('', { expressions: { last: '_' } });
    expect(outcome).toMatchObject({
      userExpressions: { last: { data: { 'text/plain': expect.stringContaining('42') } } },
    });
  });

  test('offered before access was turned off is not added after it is turned on again', async () => {
    const page = await openPage(bench, 'a.ipynb', { takes: false });
    await page.run('%agents on');
    const refusal = append('web | count').catch(error => String(error));
    const offers = () => page.told.flatMap(update => (update.tell === 'offer' ? [update.cell] : []));
    await expect.poll(() => offers().length).toBe(1);
    await page.say({ ask: 'no agents' });
    expect(await refusal).toContain('accepts cells from agents');
    await bench.run('%agents on', { origin: { client: page.client, cell: 'own' }, answer: 'yes' });
    await page.say({ ask: 'take', cell: offers()[0] ?? '' });
    expect([await notebooks(), page.added]).toEqual([[expect.anything()], []]);
  });

  test('returns no values under %retain off', async () => {
    const page = await openPage(bench, 'a.ipynb');
    await page.run('%agents on\n%retain off');
    const { data } = await append('web | count');
    expect([JSON.stringify(data).includes('42'), data.map(({ text }) => text).join()]).toEqual([
      false,
      expect.stringContaining('1 row \u00d7 1 column'),
    ]);
  });

  test("that the user edits before it runs is no longer the agent's", async () => {
    const page = await openPage(bench, 'a.ipynb', { edit: source => `${source}\n| take 1` });
    await page.run('%agents on');
    expect(await refusalOf('web | count')).toBe('the user changed the cell before it ran');
  });

  test('that fails or is not run reports so', async () => {
    await (await openPage(bench, 'a.ipynb')).run('%agents on');
    const failed = await append('%diff none _');
    expect([failed.isError, failed.said]).toEqual([
      true,
      'The cell was added to the notebook and has failed.',
    ]);
    expect(failed.data.map(({ text }) => text).join()).toContain('none');
    await begin();
    const page = await openPage(bench, 'a.ipynb', { runs: false });
    await page.run('%agents on');
    const refusal = refusalOf('web | count');
    await expect.poll(() => page.added.length).toBe(1);
    const offered = page.told.flatMap(update => (update.tell === 'add' ? [update.cell] : []));
    await page.say({ ask: 'give up', cell: offered[0] ?? '' });
    expect(await refusal).toBe('the cell was added to the notebook but has not run');
  });

  test('that is still waiting is reported; one that times out is never added', async () => {
    await begin({ wait: 50, run: 30_000 });
    let release = (): void => undefined;
    const before = () =>
      new Promise<void>(resolve => {
        release = resolve;
      });
    const page = await openPage(bench, 'a.ipynb', { before });
    await page.run('%agents on');
    expect((await append('web | count')).said).toBe(
      'The cell was added to the notebook and waits for earlier cells to finish.',
    );
    const sent = queries(bench.service).length;
    await page.say({ ask: 'no agents' });
    release();
    await expect.poll(() => page.told.filter(({ tell }) => tell === 'facts').length).toBeGreaterThan(1);
    expect(queries(bench.service)).toHaveLength(sent);
    await begin({ wait: 50, run: 30_000 });
    const silent = await openPage(bench, 'b.ipynb', { takes: false });
    await silent.run('%agents on');
    expect(await refusalOf('web | count')).toContain('no cell was added');
    const [offer] = silent.told.flatMap(update => (update.tell === 'offer' ? [update.cell] : []));
    await silent.say({ ask: 'take', cell: offer ?? '' });
    expect(silent.added).toEqual([]);
  });

  test('is interrupted at the time limit', async () => {
    await begin({ wait: 25_000, run: 50 });
    await (await openPage(bench, 'a.ipynb')).run('%agents on');
    bench.service.answer(seen => (seen.path.endsWith('_apl') ? () => undefined : everyday(seen)));
    const late = await append('web | count');
    expect(late.data.map(({ text }) => text)).toEqual([
      'Interrupted: a cell of an agent runs for at most 0.05 s',
    ]);
  });

  test('is refused if five are waiting', async () => {
    await begin({ wait: 50, run: 30_000 });
    await (await openPage(bench, 'a.ipynb', { runs: false })).run('%agents on');
    for (let count = 0; count < 5; count += 1) expect((await append('web | count')).said).toContain('waits');
    expect(await refusalOf('web | count')).toBe('5 cells of agents are waiting to run');
  });

  test('is refused if it is the eleventh in a minute', async () => {
    await (await openPage(bench, 'a.ipynb')).run('%agents on');
    for (let count = 0; count < 10; count += 1) expect((await append('web | count')).isError).toBe(false);
    expect(await refusalOf('web | count')).toBe('agents may add at most 10 cells per minute');
  });

  test('runs on the local service only, even if the profile changes before it runs', async () => {
    const profile = '[deployments.prod]\nurl = "https://x.invalid"\ntoken = "xaat-1"\n';
    await writeFile(join(bench.homeDir, '.axiom.toml'), profile, { mode: 0o600 });
    const before = async () => void (await bench.run('%use prod'));
    const page = await openPage(bench, 'a.ipynb', { before });
    await page.run('%agents on');
    const late = await append('web | count');
    expect(late.data.map(({ text }) => text).join()).toContain(
      'the notebook uses the profile prod, where agents may not run cells',
    );
    expect(await refusalOf('web | count')).toContain('where agents may not run cells');
    expect(page.added).toHaveLength(1);
  });
});

describe("agents' cells", () => {
  const forms = magics.flatMap(magic => {
    const { perCell } = magicLines[magic.name] as { readonly perCell?: true };
    return [false, ...(perCell === true ? [true] : [])].map(ofCell => ({
      line: `${ofCell ? '%%' : '%'}${magic.name}`,
      isAllowed: isForAgents(magic, ofCell),
    }));
  });

  test('may use the magics that read and leave nothing behind', () => {
    expect(forms.flatMap(({ line, isAllowed }) => (isAllowed ? [line] : []))).toEqual(
      '%%time %%limit %%rows %%retain %%request %fetch %%fetch %params %show-query %assert %diff %compare %explain %%explain %around %%around %patterns %trace %whoami %link %datasets %schema %peek %viz %stars %run %help %lsmagic %version %echo %apl %%apl'.split(
        ' ',
      ),
    );
  });

  test('are refused with any other magic, named results, parameters or file reads', async () => {
    const page = await openPage(bench, 'a.ipynb');
    await page.run('%agents on');
    for (const { line, isAllowed } of forms)
      if (!isAllowed)
        expect([line, await refusalOf(`${line} x\nweb`)]).toEqual([
          line,
          expect.stringContaining('agents may not use `%'),
        ]);
    expect(await append('%limit 5\nweb')).toMatchObject({
      data: [{ hint: 'Write `%%limit`, which applies to its own cell.' }],
    });
    for (const [source, message] of [
      ['kept << web | count', 'agents may not name a result, as in `kept <<`'],
      [
        'declare query_parameters (n:long = 1);\nweb | take n',
        'agents may not declare parameters, which apply to the notebook',
      ],
      ['print 1\n\nexternaldata (a:string) ["a.csv"]', '`externaldata` reads files, which agents may not do'],
      ['%nothing', 'unknown magic %nothing'],
      ['print 1\n\n%drop web', 'magics must be at the top of a cell, before the query'],
    ])
      expect([source, await refusalOf(source ?? '')]).toEqual([source, message]);
    expect(await append('web', { range: 'last 1h\n%drop web --yes' })).toMatchObject({ isError: true });
    expect(await append('web', { range: 'sometime' })).toMatchObject({ isError: true });
    expect(page.added).toEqual([]);
  });

  test('cannot read a file through a starred query', async () => {
    await (await openPage(bench, 'a.ipynb')).run('%agents on');
    const { data } = await append('%run star:s1');
    expect(data.map(({ text }) => text).join()).toContain(
      '`externaldata` reads files, which agents may not do',
    );
    expect(queries(bench.service)).toEqual([]);
  });
});

describe('the port of a kernel', () => {
  beforeEach(async () => {
    await (await openPage(bench, 'a.ipynb')).run('%agents on');
  });

  const ask = async (headers: Record<string, string>, body = '{"ask":"state"}') =>
    (await fetch(`http://127.0.0.1:${(await runtimeFile()).port}/`, { method: 'POST', headers, body }))
      .status;

  test('requires a token that only this user can read', async () => {
    const { token, id } = await runtimeFile();
    const modes = [join(agentsDir(), `${id}.json`), agentsDir()].map(
      async path => (await stat(path)).mode & 0o777,
    );
    expect(await Promise.all(modes)).toEqual([0o600, 0o700]);
    const authorization = `Bearer ${token}`;
    expect([
      await ask({}),
      await ask({ authorization: `Bearer ${token}x` }),
      await ask({ authorization }),
    ]).toEqual([401, 401, 200]);
    for (const body of [
      '',
      '{}',
      '{"ask":"append","query":1,"rows":1}',
      `{"ask":"state","x":"${'x'.repeat(70_000)}"}`,
    ])
      expect(await ask({ authorization }, body)).toBe(400);
  });

  test('is ignored if its file is readable by others, stale or of another format', async () => {
    const file = await runtimeFile();
    const path = join(agentsDir(), `${file.id}.json`);
    await chmod(path, 0o640);
    expect(await notebooks()).toEqual([]);
    await chmod(path, 0o600);
    expect(await notebooks()).toHaveLength(1);
    const put = (name: string, content: unknown) =>
      writeFile(join(agentsDir(), name), JSON.stringify(content), { mode: 0o600 });
    await put('00000001.json', { ...file, started: 'before' });
    await put('00000002.json', { ...file, format: 2 });
    await put('00000003.json', { ...file, port: 1, scope: 'elsewhere' });
    await put('00000004.json', 'no kernel');
    expect(await notebooks()).toHaveLength(1);
    const left = await readdir(agentsDir());
    expect(left.sort()).toEqual(
      ['00000002.json', '00000003.json', '00000004.json', `${file.id}.json`].sort(),
    );
  });
});
