import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { AplKernelError } from '../../../kernel/errors.js';
import { refusalOf } from '../../../kernel/local/http/refusal.js';
import { kindOf, systemError } from '../../../kernel/local/local-errors.js';
import { refusalInWords } from '../../../kernel/machine.js';

const refusals: readonly (readonly [code: string, status: number, errorType: string, reason: string])[] = [
  ['EROFS', 507, 'not-writable', 'the file system is read-only'],
  ['EACCES', 507, 'not-writable', 'the permission is missing'],
  ['EPERM', 507, 'not-writable', 'the permission is missing'],
  ['ENOSPC', 507, 'engine-disk', 'the disk is full'],
  ['EDQUOT', 507, 'engine-disk', 'the quota of the disk is used up'],
  ['EFBIG', 507, 'not-writable', 'the file system does not support files of this size'],
  ['EMFILE', 503, 'engine-short', 'too many files are open'],
  ['ENFILE', 503, 'engine-short', 'too many files are open'],
  ['ENOMEM', 503, 'engine-short', 'the machine is out of memory'],
  ['EBUSY', 503, 'in-use', 'another program is using it'],
  ['ETXTBSY', 503, 'in-use', 'another program is using it'],
  ['EIO', 500, 'disk-failed', 'the disk failed'],
  ['ESTALE', 503, 'disk-failed', 'the network file system has lost the file'],
  ['ENAMETOOLONG', 400, 'invalid-name', 'its name is too long'],
  ['EISDIR', 500, 'unreadable', 'it is a directory'],
  ['ENOTEMPTY', 500, 'unreadable', 'it is a directory'],
  ['ENOTDIR', 500, 'unreadable', 'a part of the path is not a directory'],
  ['ELOOP', 500, 'unreadable', 'its symbolic links form a loop'],
];

test.each(refusals)(
  'the system error %s is refused with status %i and a sentence',
  (code, status, errorType, reason) => {
    expect(code in constants.errno).toBe(true);
    const error = Object.assign(new Error(), { code, syscall: 'open', path: '/data/starred/a.json' });
    const { status: answered, error: refused } = refusalOf(error as never, 0);
    expect([answered, refused.code, refused.message]).toEqual([
      status,
      errorType,
      `The operation failed in /data/starred: ${reason}.`,
    ]);
    expect(refused.hint).toMatch(/\.$/);
  },
);

test.each([
  ['busy', 'engine-busy', 429],
  ['canceled', 'query-canceled', 499],
  ['failed', 'disk-failed', 500],
  ['failed', 'engine-ended', 500],
  ['failed', 'engine-failed', 500],
  ['failed', 'internal-column-type', 500],
  ['unavailable', 'engine-short', 503],
  ['unavailable', 'engine-unexplained', 503],
  ['unavailable', 'lease-lost', 503],
  ['storage', 'engine-disk', 507],
  ['storage', 'not-writable', 507],
  ['invalid', 'invalid-name', 400],
] as const)(
  'a failure of another process is of kind %s by its code %s, with status %i',
  (kind, code, status) => {
    const error = new AplKernelError(code, 'It failed.');
    expect(kindOf(error)).toBe(kind);
    expect(refusalOf(error, 0)).toEqual({ status, error });
  },
);

test.each([undefined, null, new Error('x'), { code: 'toString' }, { code: 5 }, { code: 'ENOENT' }])(
  'a value is not a system error: %j',
  error => {
    expect(systemError(error)).toBeUndefined();
  },
);

test('a system error is recognized only at the end of a library message', () => {
  const text = 'IO Error: Cannot open file "/data/x.parquet": Read-only file system';
  expect(refusalInWords(text)?.code).toBe('not-writable');
  expect(refusalInWords('IO Error: Cannot open file "Read-only file system": gone')).toBeUndefined();
});
