import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { decodeNotices, encodeNotices, noticeHeader } from '../../../../kernel/api/api-notices.js';
import { checkData } from '../../../../kernel/local/check/check.js';
import { type TestService, testService } from '../../service.js';

interface Kind {
  readonly route: string;
  readonly directory: string;
  readonly name: string;
  readonly code: string;
  readonly deletedBy: string;
  /** Returns a document with a given word as its name. */
  readonly body: (word: string) => object;
  readonly wordOf: (document: Record<string, string>) => string | undefined;
  /** Invalid members, with the resulting message. */
  readonly wrong: readonly (readonly [member: object, reason: string])[];
}

const kinds: Readonly<Record<string, Kind>> = {
  starred: {
    route: '/v2/apl-starred-queries',
    directory: 'starred',
    name: 'starred query',
    code: 'starred-unreadable',
    deletedBy: '%unstar',
    body: name => ({ kind: 'apl', name, who: 'local', metadata: { a: 'b' }, query: { apl: 'web | count' } }),
    wordOf: ({ name }) => name,
    wrong: [
      [{ name: 5 }, 'starred query.name should be a string, not a number'],
      [{ query: 'web' }, '`query` should be a JSON object'],
      [{ query: { apl: 7 } }, '`query.apl` should be a query string'],
      [{ nmae: 'x' }, '`nmae` is not a known property of a starred query'],
    ],
  },
  annotations: {
    route: '/v2/annotations',
    directory: 'annotations',
    name: 'annotation',
    code: 'annotation-unreadable',
    deletedBy: '%annotate --delete',
    body: title => ({ datasets: ['web'], type: 'deploy', title, time: '2026-06-15T10:00:00Z' }),
    wordOf: ({ title }) => title,
    wrong: [
      [{ datasets: 'web' }, '`datasets` should be a list of at least one name'],
      [{ time: 'noon' }, '`time` should be a time, such as 2026-01-31T10:00:00Z'],
      [{ time: '1600-01-01T00:00:00Z' }, '`time` should be between 1677-09-22 and 2262-04-11'],
      [{ time: null }, '`time` is missing'],
      [{ type: 5 }, '`type` should be 1 to 64 lowercase letters, digits and hyphens, such as "deploy"'],
      [
        { endTime: '2026-06-15T09:00:00Z' },
        '`endTime` (2026-06-15T09:00:00Z) should be after `time` (2026-06-15T10:00:00Z)',
      ],
      [{ titel: 'x' }, '`titel` is not a known property of an annotation'],
    ],
  },
};

/** Kinds of damage to a file, with the reported reason. */
const damages: Readonly<Record<string, readonly [damage: (file: string) => void, reason: string]>> = {
  cut: [file => writeFileSync(file, readFileSync(file).subarray(0, 40)), 'it is not JSON'],
  'damaged by a flipped bit': [
    file => writeFileSync(file, flipped(readFileSync(file), 0, 2)),
    'it is not JSON',
  ],
  'not text': [file => writeFileSync(file, flipped(readFileSync(file), 60, 7)), 'it is not UTF-8'],
  emptied: [file => writeFileSync(file, ''), 'it is empty'],
  'all zeros after a power failure': [
    file => writeFileSync(file, Buffer.alloc(readFileSync(file).length)),
    'it is not JSON',
  ],
  'half copied': [
    file => {
      const bytes = readFileSync(file);
      writeFileSync(file, Buffer.concat([bytes.subarray(0, 70), Buffer.alloc(bytes.length - 70)]));
    },
    'it is not JSON',
  ],
  'a list': [file => writeFileSync(file, '[]'), 'Its content should be a JSON object'],
  'far too long': [file => writeFileSync(file, ' '.repeat(4 * 2 ** 20 + 1)), 'it is larger than 4 MiB'],
  'a directory': [
    file => {
      rmSync(file);
      mkdirSync(file);
      writeFileSync(path.join(file, 'inner'), 'x');
    },
    'it is a directory',
  ],
  'a link to itself': [
    file => {
      rmSync(file);
      symlinkSync(file, file);
    },
    'its symbolic links form a loop',
  ],
};

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  return bytes;
}

const table = Object.entries(kinds).flatMap(([name, kind]) =>
  Object.entries(damages).map(([damage, row]) => [name, damage, kind, ...row] as const),
);

test.each(table)(
  '%s: a document that is %s is reported, and can be replaced and deleted',
  async (_, damage, kind, hurt, reason) => {
    const { service, ids, fileOf } = await threeOf(kind);
    const [bad = ''] = ids;
    hurt(fileOf(bad));
    const said = `The ${kind.name} ${bad} cannot be read: ${reason} (${fileOf(bad)}).`;
    const remedy = `Repair the file, or delete it with \`${kind.deletedBy} ${bad}\`.`;
    expect([damage, ...(await listed(service, kind))]).toEqual([
      damage,
      ['two', 'three'],
      [`${said} It is left out. ${remedy}`],
    ]);
    expect(await service.json('GET', `${kind.route}/${bad}`)).toEqual({
      status: 500,
      body: {
        code: 500,
        message: said,
        detail: { errorType: kind.code, message: said, hint: remedy },
      },
    });
    expect((await service.json('PUT', `${kind.route}/${bad}`, kind.body('new'))).status).toBe(200);
    expect(await listed(service, kind)).toEqual([['new', 'two', 'three'], []]);
    hurt(fileOf(bad));
    expect(await service.json('DELETE', `${kind.route}/${bad}`)).toEqual({ status: 204, body: undefined });
    expect(await listed(service, kind)).toEqual([['two', 'three'], []]);
    const left = readdirSync(path.join(service.dataDir, kind.directory));
    // A directory is never deleted, whoever created its contents.
    expect(left.filter(name => name.endsWith('.damaged')).length).toBe(damage === 'a directory' ? 2 : 0);
    expect(left.filter(name => !name.endsWith('.damaged')).sort()).toEqual(
      ids
        .slice(1)
        .map(id => `${id}.json`)
        .sort(),
    );
  },
);

test.each(
  Object.values(kinds).flatMap(kind => kind.wrong.map(([member, reason]) => ({ kind, member, reason }))),
)('a member of the wrong type is reported as damage: $member', async ({ kind, member, reason }) => {
  const { service, ids, fileOf } = await threeOf(kind);
  const [bad = ''] = ids;
  writeFileSync(fileOf(bad), JSON.stringify({ ...kind.body('x'), ...member }));
  const [names, notices] = await listed(service, kind);
  expect([names, notices[0]?.split(' (/')[0]]).toEqual([
    ['two', 'three'],
    `The ${kind.name} ${bad} cannot be read: ${reason}`,
  ]);
});

/** Makes a file immutable; returns whether that is possible here. */
function isPinned(file: string): boolean {
  try {
    execFileSync('chattr', ['+i', file], { stdio: 'pipe' });
  } catch {
    return false;
  }
  onTestFinished(() => void execFileSync('chattr', ['-i', file]));
  return true;
}

test.for(Object.entries(kinds))(
  '%s: a file that the system refuses to delete is reported as such',
  async ([, kind], { skip }) => {
    const { service, ids, fileOf } = await threeOf(kind);
    const [bad = ''] = ids;
    // Not every file system supports immutable files, and not every user may create them.
    skip(!isPinned(fileOf(bad)), 'chattr makes no file immutable here');
    const { status, body } = await service.json('DELETE', `${kind.route}/${bad}`);
    const place = path.join(service.dataDir, kind.directory);
    expect([status, body.message]).toEqual([
      507,
      `The operation failed in ${place}: the permission is missing. Check who owns the directory and its files, and their permissions.`,
    ]);
    expect((await listed(service, kind))[0]).toEqual(['one', 'two', 'three']);
  },
);

test.each(Object.entries(kinds))(
  '%s: copies under other names and names that are not ids are reported, not listed',
  async (_, kind) => {
    const { service, ids, fileOf } = await threeOf(kind);
    const [first = ''] = ids;
    const [host = '', ...copies] = [
      `${first}-DESKTOP.json`,
      `${first} (1).json`,
      `Copy of ${first}.json`,
      `${first}.sync-conflict-20260105-093000-7QNMTZ2.json`,
    ].map(name => path.join(service.dataDir, kind.directory, name));
    const mine = path.join(service.dataDir, kind.directory, 'my query.json');
    const hidden = path.join(service.dataDir, kind.directory, `._${first}.json`);
    for (const file of [host, ...copies, mine, hidden]) copyFileSync(fileOf(first), file);
    const copied = (file: string) =>
      `${file} is a copy of ${first}.json. It is left out. Delete it, or move it away.`;
    const misnamed = (file: string) =>
      `${file} has a name that is not a valid ID. It is left out. Rename it to at most 64 letters, digits, \`-\` and \`_\`, or move it away.`;
    const told = async () => {
      const [words, notices] = await listed(service, kind);
      return [words, [...notices].sort()];
    };
    const all = ['one', 'two', 'three'];
    expect(await told()).toEqual([all, [...[host, ...copies].map(copied), misnamed(mine)].sort()]);
    const faults = (await checkData(service.dataDir)).faults.map(({ file, state }) => [file, state]);
    expect(faults.sort()).toEqual(
      [...[host, ...copies].map(file => [file, 'copied']), [mine, 'misnamed']].sort(),
    );
    rmSync(fileOf(first));
    // The name of the first copy is also a valid id.
    expect(await told()).toEqual([all, [...copies, mine].map(misnamed).sort()]);
  },
);

test('a partial change to an unreadable annotation fails and leaves the file', async () => {
  const { annotations: kind } = kinds;
  if (kind === undefined) throw new Error('no kind');
  const { service, ids, fileOf } = await threeOf(kind);
  const [bad = ''] = ids;
  writeFileSync(fileOf(bad), '{');
  const answer = await service.json('PUT', `${kind.route}/${bad}`, { title: 'new' });
  expect([answer.status, answer.body.detail.errorType]).toEqual([500, 'annotation-unreadable']);
  expect(readFileSync(fileOf(bad), 'utf8')).toBe('{');
});

test('a file edited by hand is listed and reported until its checksum is deleted', async () => {
  const { starred: kind } = kinds;
  if (kind === undefined) throw new Error('no kind');
  const { service, ids, fileOf } = await threeOf(kind);
  const file = fileOf(ids[0] ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"one"', '"edited"'));
  const said = `The starred query ${ids[0]} does not match its checksum: it was edited by hand or is damaged (${file}). It is listed anyway. If the content is correct, delete the line with \`checksum\`.`;
  expect(await listed(service, kind)).toEqual([['edited', 'two', 'three'], [said]]);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"local"', '"locam"'));
  expect(await listed(service, kind)).toEqual([['two', 'three'], [said]]);
  writeFileSync(file, JSON.stringify({ name: 'by hand', query: { apl: 'web' } }));
  expect((await service.json('GET', `${kind.route}/${ids[0]}`)).body).toEqual({
    id: ids[0],
    dataset: '',
    kind: 'apl',
    name: 'by hand',
    who: '',
    metadata: {},
    query: { apl: 'web', queryOptions: {} },
  });
});

test('as many damaged files are named as an HTTP header holds, and the others are counted', () => {
  const notices = Array.from({ length: 300 }, (_, index) => `File ${index} über ${'x'.repeat(100)}`);
  const shown = decodeNotices(encodeNotices(notices));
  expect(encodeNotices(notices).length).toBeLessThan(8_000);
  expect(shown.slice(0, -1)).toEqual(notices.slice(0, shown.length - 1));
  expect(shown.at(-1)).toBe(`${300 - shown.length + 1} more could not be read.`);
  expect(decodeNotices(encodeNotices(['\u0000'.repeat(9_000)]))).toEqual(['1 could not be read.']);
});

test.each([undefined, '', '%', 'x', '{}', '[1]'])(
  'a malformed notice header yields no notices: %s',
  value => {
    expect(decodeNotices(value)).toEqual([]);
  },
);

/** Starts a service with three documents of a kind. */
async function threeOf(kind: Kind) {
  const service = await testService();
  await service.json('POST', '/v2/datasets', { name: 'web' });
  const ids: string[] = [];
  for (const word of ['one', 'two', 'three'])
    ids.push((await service.json('POST', kind.route, kind.body(word))).body.id);
  const fileOf = (id: string) => path.join(service.dataDir, kind.directory, `${id}.json`);
  return { service, ids, fileOf };
}

/** Returns the words of the listed documents, and the notices about the others. */
async function listed(service: TestService, kind: Kind): Promise<[string[], readonly string[]]> {
  const answer = await service.send('GET', kind.route);
  const words = ((await answer.json()) as Record<string, string>[]).map(each => kind.wordOf(each) ?? '');
  const order = ['new', 'edited', 'one', 'two', 'three'];
  words.sort((a, b) => order.indexOf(a) - order.indexOf(b));
  return [words, decodeNotices(answer.headers.get(noticeHeader) ?? undefined)];
}
