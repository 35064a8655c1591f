import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { importText, stored, useService } from '../readers/traps.js';

useService();

const fileOf = (name: string) => readFile(path.join(import.meta.dirname, 'archives', name));

describe('archives are imported as their files', () => {
  test.each(['logs.zip', 'logs.tar', 'logs.tar.gz'])(
    '%s, the oldest file first, without hidden ones',
    async name => {
      const { dataset, body } = await importText(name, await fileOf(name));
      expect(body.notes[0]).toBe('Imported 3 files together.');
      expect(await stored(dataset, 'line')).toEqual([
        '2025-10-10 13:55:01 a',
        '2025-10-10 13:55:02 b',
        '2025-10-10 13:55:03 c',
      ]);
    },
  );

  test.each(['\n', '\0'.repeat(512)])('a ZIP archive with %j after its end is whole', async after => {
    const bytes = Buffer.concat([await fileOf('logs.zip'), Buffer.from(after)]);
    const { dataset, body } = await importText('logs.zip', bytes);
    expect(body.notes[0]).toBe('Imported 3 files together.');
    expect(await stored(dataset, 'count(line)')).toEqual(['3']);
  });

  test.each([
    ['logs.zip', 300],
    ['logs.tar.gz', 200],
  ] as const)('a truncated %s is refused', async (name, bytes) => {
    const { status, body } = await importText(name, (await fileOf(name)).subarray(0, bytes));
    expect([status, body.message]).toEqual([
      400,
      `${name} is truncated or damaged: it cannot be unpacked completely.`,
    ]);
  });

  test.each<[string, (bytes: Buffer, header: number) => unknown, string]>([
    [
      'is encrypted',
      (bytes, header) => {
        bytes.writeUInt16LE(1, header + 8);
        // An encryption header precedes the stored data.
        bytes.writeUInt32LE(bytes.readUInt32LE(header + 20) + 12, header + 20);
      },
      'encrypted. Unpack it first: unzip FILE.',
    ],
    [
      'has files compressed with LZMA',
      (bytes, header) => bytes.writeUInt16LE(14, header + 10),
      'a ZIP archive that uses a newer compression method. Unpack it first: 7z x FILE.',
    ],
  ])('a ZIP archive that %s is refused with the reason', async (_, change, says) => {
    const bytes = await fileOf('logs.zip');
    const headerAfter = (from: number) => bytes.indexOf('PK\x01\x02', from, 'latin1');
    for (let header = headerAfter(0); header >= 0; header = headerAfter(header + 4)) change(bytes, header);
    const { status, body } = await importText('logs.zip', bytes);
    expect([status, body.message]).toEqual([400, `logs.zip is ${says}`]);
  });

  test('an OpenDocument workbook that does not start with its type is refused by name', async () => {
    const { body } = await importText('a.ods', await fileOf('logs.zip'));
    expect(body.message).toMatch(
      /a\.ods is an OpenDocument file\. Save it as \.xlsx, or its sheet as CSV, first\.$/,
    );
  });

  test('a file compressed twice is refused by name', async () => {
    const { body } = await importText('a.log.gz', gzipSync(await fileOf('logs.zip')));
    expect(body.message).toMatch(/archive/);
  });
});

describe('an Excel workbook', () => {
  test('gives its first sheet, with numbers, booleans, strings and dates', async () => {
    const { dataset, body } = await importText('orders.xlsx', await fileOf('orders.xlsx'));
    expect(body.notes).toEqual([
      'The rows come from the sheet `Orders`: use `--path` for another one: `Others`.',
    ]);
    expect(await stored(dataset, 'COLUMNS(* EXCLUDE _sysTime)')).toEqual([
      '2025-10-10 13:55:01.25|2025-10-10 13:55:01.25|00501|1.5|true|a "quoted", text|2025-10-10 00:00:00',
      '2025-10-10 13:55:02|2025-10-10 13:55:02|00502|9007199254740991|false|null|null',
    ]);
  });

  test('gives the named sheet, and refuses a missing one', async () => {
    const named = await importText('orders.xlsx', await fileOf('orders.xlsx'), { list: 'Others' });
    expect(await stored(named.dataset, 'v')).toEqual(['7']);
    const { body } = await importText('orders.xlsx', await fileOf('orders.xlsx'), { list: 'None' });
    expect(body.message).toBe('orders.xlsx has no sheet "None". Its sheets are Orders, Others.');
  });

  test('is recognized whatever its name, and refused if its parts are not text', async () => {
    const { dataset } = await importText('download', await fileOf('orders.xlsx'));
    expect(await stored(dataset, 'id')).toEqual(['00501', '00502']);
    const { body } = await importText('orders.xlsb', await fileOf('binary.xlsb'));
    expect(body.message).toBe(
      'orders.xlsb cannot be read as an Excel workbook. Save the sheet as CSV first.',
    );
  });

  test('gives the first sheet with cells, wherever its parts are, with dates since 1904', async () => {
    const { dataset, body } = await importText('odd.xlsx', await fileOf('odd.xlsx'));
    expect(body.notes[0]).toBe('The rows come from the sheet `Rows`: use `--path` for another one: `Empty`.');
    expect(await stored(dataset, 'day, note')).toEqual(['2025-10-10 00:00:00|a\rb_x000D_']);
    const empty = await importText('odd.xlsx', await fileOf('odd.xlsx'), { list: 'Empty' });
    expect(empty.body.message).toBe('odd.xlsx contains no rows.');
    const chart = await importText('odd.xlsx', await fileOf('odd.xlsx'), { list: 'Chart' });
    expect(chart.body.message).toBe('odd.xlsx has no sheet "Chart". Its sheets are Empty, Rows.');
  });

  test('has null for a formula without a result, with a note', async () => {
    const { dataset, body } = await importText('formulas.xlsx', await fileOf('formulas.xlsx'));
    expect(await stored(dataset, 'n, twice')).toEqual(['1|null', '2|4']);
    expect(body.notes[0]).toBe(
      'Null because the file has a formula without its result: 1 cell. Saving the file in a spreadsheet adds the results.',
    );
  });

  test('has local times in a zone', async () => {
    const options = { zone: 'Europe/Berlin' };
    const { dataset } = await importText('orders.xlsx', await fileOf('orders.xlsx'), options);
    expect(await stored(dataset, '_time')).toEqual(['2025-10-10 11:55:01.25', '2025-10-10 11:55:02']);
  });

  test.each([
    ['is damaged', async () => (await fileOf('orders.xlsx')).subarray(0, 2000)],
    ['has a cell beyond the last column', () => fileOf('far.xlsx')],
  ])('that %s is refused', async (_, bytes) => {
    const { status, body } = await importText('orders.xlsx', await bytes());
    expect([status, body.message]).toEqual([
      400,
      'orders.xlsx cannot be read as an Excel workbook. Save the sheet as CSV first.',
    ]);
  });
});
