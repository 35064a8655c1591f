import { expect, test } from 'vitest';
import { importText, lines, stored, useService } from '../readers/traps.js';

useService();

const types = (...names: readonly string[]) =>
  `unnest([${names.map(name => `'${name} ' || typeof(${name})`).join(', ')}])`;
const timeless =
  'No field contains timestamps: every row gets the time of the import and matches every time range. Set one with `--time` if there is one.';

test('numbers without a digit before or after the point are reals', async () => {
  const text = lines('a,b,c,d', '.5,1,5.,.5', '-.25,-.75,-7.,.', '.5e-3,2,0.,.25', '12.,.125,1.e+2,1', '');
  const { dataset, body } = await importText('a.csv', text);
  expect(body.notes).toEqual([timeless]);
  expect(await stored(dataset, types('a', 'b', 'c', 'd'))).toEqual(
    Array.from({ length: 4 }, () => ['a DOUBLE', 'b DOUBLE', 'c DOUBLE', 'd VARCHAR']).flat(),
  );
  expect(await stored(dataset, 'a, b, c, d')).toEqual([
    '0.5|1.0|5.0|.5',
    '-0.25|-0.75|-7.0|.',
    '0.0005|2.0|0.0|.25',
    '12.0|0.125|100.0|1',
  ]);
});

test('spaces around numbers, times and bools are not part of them, and blanks are null', async () => {
  const text = lines(
    'n,r,b,t,w,blank,s',
    '  1,1.5, true,2026-01-01T00:00:00Z , NA, , x',
    ' 10, .5,false , 2026-01-02T00:00:00Z,5 ,  ,y ',
    '   ,,true,  , ?,,',
    '',
  );
  const { dataset, body } = await importText('a.csv', text, { timeField: 't' });
  expect(body.notes).toEqual([
    'Read as null because the other values are not text: `NA`, `?` in `w` (2).',
    'No readable timestamp in `t` in 1 row: they get the time of the import.',
  ]);
  const [first] = await stored(dataset, "concat_ws(' ', typeof(n), typeof(r), typeof(b), typeof(w))");
  expect(first).toBe('BIGINT DOUBLE BOOLEAN BIGINT');
  expect(await stored(dataset, "n, r, b, w, '<' || blank || '>', '<' || s || '>'")).toEqual([
    '1|1.5|true|null|< >|< x>',
    '10|0.5|false|5|<  >|<y >',
    'null|null|true|null|null|null',
  ]);
});

test('numbers with spaces far below the first ones', async () => {
  const text = `a,b\n${'1,1.5\n'.repeat(10_300)} 2 , .5\n  ,\n3,.25\n`;
  const { dataset, body } = await importText('a.csv', text);
  expect(body.notes).toEqual([timeless]);
  expect(await stored(dataset, 'count(*), count(a), sum(a), sum(b), typeof(any_value(a))')).toEqual([
    '10303|10302|10305|15450.75|BIGINT',
  ]);
});

test('a space after each delimiter is not part of the strings, and a note says so', async () => {
  const text = lines('name, city, n, note', 'a, New York, 1, "x, y"', ' b, Bern , 2, ', 'c, , ?, z', '');
  const { dataset, body } = await importText('a.csv', text);
  expect(body.notes).toEqual([
    'Spaces after the delimiters are not part of the values.',
    'Read as null because the other values are not text: `?` in `n` (1).',
    timeless,
  ]);
  expect(await stored(dataset, 'name, city, n, note')).toEqual([
    'a|New York|1|x, y',
    ' b|Bern |2|null',
    'c|null|null|z',
  ]);
});

test('strings keep their spaces if not every delimiter has one after it', async () => {
  const { dataset, body } = await importText('a.csv', lines('name, city', 'a, Bern', 'b,Rome', ''));
  expect(body.notes).toEqual([timeless]);
  expect(await stored(dataset, 'name, city')).toEqual(['a| Bern', 'b|Rome']);
});

test.each<[string, string, readonly string[]]>([
  ['1-month,24-hour mean', '0.5,7', ['1-month', '24-hour mean']],
  ['2017-2018 change,2018/19', '5%,7', ['2017-2018 change', '2018/19']],
  ['0-14,65+', '20.5,7', ['0-14', '65+']],
  ['2-bedroom,0-1', '3-bedroom,2-2', ['column2', 'column3']],
])('a first line of %s above %s has the names %j', async (head, below, names) => {
  const { body } = await importText('a.csv', lines(`name,${head}`, `a,${below}`, `b,${below}`, ''));
  expect(body.fields.slice(3).map((field: { name: string }) => field.name)).toEqual(names);
});

test('names of groups above a header are not rows, and a note shows them', async () => {
  const { dataset, body } = await importText(
    'a.csv',
    lines(',load,,', 'host,a,b,c', 'x,1,2,#DIV/0!', 'y,3,4,5', ''),
  );
  expect(body.notes).toEqual([
    'Skipped 1 line above the table: ",load,,".',
    'Read as null because the other values are not text: `#DIV/0!` in `c` (1).',
    timeless,
  ]);
  expect(await stored(dataset, 'host, a, b, c')).toEqual(['x|1|2|null', 'y|3|4|5']);
});
