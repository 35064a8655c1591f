import { appendFile, readFile, truncate } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { History } from '../../../kernel/jupyter/history.js';
import { inDataDir, type LayoutName, type layout } from '../../../kernel/local/data-layout.js';
import { spawnDetached } from '../../../kernel/local/launch.js';
import { QueryLog } from '../../../kernel/notebook/query/query-log.js';
import { temporaryDirectory } from '../service.js';

type FileName = {
  [Name in LayoutName]: (typeof layout)[Name]['is'] extends 'file' ? Name : never;
}[LayoutName];

/** An append-only file of a data directory: how to append a text, and how to read its texts. */
interface Growing {
  add(dataDir: string, text: string): Promise<unknown>;
  read(dataDir: string): Promise<readonly string[]>;
}

const time = '2026-01-01T00:00:00Z';

/** Every file of the layout: replaced as a whole, or append-only. */
const files: Readonly<Record<FileName, 'replaced' | Growing>> = {
  'service.json': 'replaced',
  'format.json': 'replaced',
  'imports.json': 'replaced',
  'logins.json': 'replaced',
  'queries.jsonl.old': 'replaced',
  'service.log': {
    add: (dataDir, text) => spawnDetached('echo', [text], dataDir).ended,
    read: async dataDir => (await readFile(inDataDir(dataDir, 'service.log'), 'utf8')).split('\n'),
  },
  'history.jsonl': {
    add: async (dataDir, text) => sessionIn(dataDir).append(1, text),
    read: async dataDir =>
      historyIn(dataDir)
        .list({ access: 'tail', n: 10 })
        .map(({ source }) => source),
  },
  'queries.jsonl': {
    add: (dataDir, apl) => {
      const window = { startTime: time, endTime: time };
      return queriesIn(dataDir).append({ at: time, profile: 'local', apl, ...window, rows: 1, elapsedMs: 1 });
    },
    read: async dataDir => (await queriesIn(dataDir).entries()).map(({ apl }) => apl),
  },
};

const sessions = new Map<string, History>();

/** Returns the session of a test; only its first cell adds a header line. */
function sessionIn(dataDir: string): History {
  const known = sessions.get(dataDir) ?? historyIn(dataDir);
  sessions.set(dataDir, known);
  return known;
}

function historyIn(dataDir: string): History {
  return new History(inDataDir(dataDir, 'history.jsonl'), () => undefined);
}

function queriesIn(dataDir: string): QueryLog {
  return new QueryLog(inDataDir(dataDir, 'queries.jsonl'));
}

const growing = Object.entries(files).flatMap(([name, how]) =>
  how === 'replaced' ? [] : [[name, how] as const],
);

test.each(growing)('a torn line in %s loses no other line', async (name, { add, read }) => {
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, name);
  await add(dataDir, 'first');
  const { length } = await readFile(file);
  for (const cut of [1, 2, length >> 1, length - 2]) {
    await add(dataDir, `torn at ${cut}`);
    const whole = (await readFile(file)).length;
    await truncate(file, whole - cut);
    await add(dataDir, `after ${cut}`);
    expect(await read(dataDir)).toEqual(expect.arrayContaining(['first', `after ${cut}`]));
  }
  // A line from another program without its line feed.
  await appendFile(file, 'x');
  await add(dataDir, 'last');
  expect((await read(dataDir)).filter(text => text !== '').at(-1)).toBe('last');
});
