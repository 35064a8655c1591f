import { expect, test } from 'vitest';
import { importText, lines, stored, useService } from '../readers/traps.js';

useService();

const note = 'The lines are read as Fluentd or Fluent Bit records, with time and tag.';
const at = '2025-10-10 13:55:36';

test.each([
  [
    'a file of Fluentd',
    [
      '2025-10-10T13:55:36+00:00\tapp.web\t{"log":"a","n":9007199254740993}',
      '2025-10-10T15:55:36.5+02:00\tapp\t{}',
    ],
    [`${at}|app.web|a|9007199254740993`, `${at}.5|app|null|null`],
  ],
  [
    'a file of Fluent Bit',
    ['app: [1760104536.123456789, {"log":"a => \\"b\\"","n":1}]', 'app: [1760104536.5, {"n":2}]'],
    [`${at}.123456789|app|a => "b"|1`, `${at}.5|app|null|2`],
  ],
  [
    'standard output of Fluent Bit',
    [
      '[0] app: [1760104536.123456789, {"log"=>"a\\"=>b", "n"=>1, "o"=>{"p"=>[true, 0.5]}}]',
      '[1] app: [[1760104536.5, {}], {"n"=>2}]',
      '[2] app: [[1760104536.6, {"m"=>1}], {"n"=>3}]',
      '[3] app: [1760104536.7, {"log"=>"a nil", "n"=>nil, "o"=>[nil, "nil"]}]',
    ],
    [`${at}.123456789|app|a"=>b|1`, `${at}.5|app|null|2`, `${at}.6|app|null|3`, `${at}.7|app|a nil|null`],
  ],
])('records have their time and tag: %s', async (_, content, expected) => {
  const { dataset, body } = await importText('fluent.log', lines(...content));
  expect(body.notes).toEqual([note]);
  expect(await stored(dataset, '_time, tag, log, n')).toEqual(expected);
});

test('records without a tag have their time', async () => {
  const { dataset } = await importText(
    'fluent.json',
    '[1760104536.123456789, {"log":"a"}]\n[1760104537.0,{}]\n',
  );
  expect(await stored(dataset, '_time, log, message')).toEqual([
    `${at}.123456789|a|null`,
    `${at}.123456789|null|[1760104537.0,{}]`,
  ]);
});

test('a line that is not a record is an event with its text', async () => {
  const content = lines('app: [1760104536.5, {"log":"a"}]', '[2025/10/10 13:55:36] [ info] "x" {started}');
  const { dataset, body } = await importText('fluent.log', content);
  expect(body.notes).toEqual([
    note,
    'Not records: 1 line, each imported as an event with the line in `message` and the timestamp of the preceding record.',
  ]);
  expect(await stored(dataset, '_time, log, message')).toEqual([
    `${at}.5|a|null`,
    `${at}.5|null|[2025/10/10 13:55:36] [ info] "x" {started}`,
  ]);
});
