import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import { compilerFor } from '../../../kernel/local/sql/sql-request.js';
import { columnNote } from '../../../kernel/local/store/dataset/bucket/bucket-table.js';
import { trino } from '../../../kernel/local/trino/trino-dialect.js';
import { computedThere } from '../../../kernel/local/trino/trino-functions.js';
import { inlineFunctions, withFunctions } from '../../../kernel/local/trino/trino-program.js';
import { rowsSql } from '../../../kernel/local/trino/trino-relations.js';
import { readAs, readingOf, shownTypes, withinDays } from '../../../kernel/local/trino/trino-types.js';
import { DAY } from '../../../kernel/time.js';

const catalog: DatasetCatalog = {
  names: () => ['logs'],
  schema: name => ({
    name,
    open: false,
    fields: [
      { name: '_time', type: 'datetime' },
      { name: 'uri', type: 'string' },
      { name: 'n', type: 'long' },
    ],
  }),
  scan: (_, fields) => `SELECT ${fields.map((field, index) => `${field} AS f${index}`).join(', ')} FROM logs`,
};

function written(apl: string, approximate = false, datasets = catalog): string {
  const result = compilerFor(trino({ approximate }))({ apl }, datasets, 0n);
  return result.ok
    ? result.compiled.tables.map(({ sql }) => sql).join('\n;\n')
    : result.diagnostics.map(({ message }) => message).join('\n');
}

test('a function that the cluster cannot compute is refused by name', () => {
  expect(written('logs | extend u = parse_url(uri)')).toBe('`parse_url` is not available on a Trino cluster');
});

test('rows of bins are sorted in the final select', () => {
  expect(written('logs | summarize count() by bin(_time, 1m)')).toMatch(
    / SELECT c3, c4 FROM s2 ORDER BY c3 ASC NULLS FIRST, c4 ASC NULLS FIRST\n;\n/,
  );
});

test('estimates are used only if the deployment allows them', () => {
  expect(written('logs | summarize dcount(n)')).toContain('count(DISTINCT ');
  expect(written('logs | summarize dcount(n)', true)).toContain('approx_distinct(');
});

test('a statement is prefixed with the functions it calls, directly or not', () => {
  expect(withFunctions("SELECT 'apl_none(1)'")).toBe("SELECT 'apl_none(1)'");
  const names = [...withFunctions('SELECT apl_dyn_long(x)').matchAll(/FUNCTION (\w+)/g)].map(
    ([, name]) => name,
  );
  expect(names).toEqual(['apl_real_long', 'apl_text_long', 'apl_dyn_long']);
});

test('an inline function declares its parameter and return types', () => {
  const type = '[a-z]+(?:\\([a-z\\d]+(?:, [a-z\\d]+)*\\))?';
  const signature = new RegExp(`^\\([a-z]+ ${type}(?:, [a-z]+ ${type})*\\) RETURNS ${type}$`);
  expect(inlineFunctions.filter(([, heading]) => !signature.test(heading))).toEqual([]);
  expect(withFunctions('SELECT apl_array_length(c1)')).toBe(
    "WITH FUNCTION apl_array_length(j varchar) RETURNS bigint RETURN CASE WHEN substr(j, 1, 1) = '[' THEN json_array_length(j) END\nSELECT apl_array_length(c1)",
  );
});

test.each([
  [
    'summarize sum(n)',
    "TRY_CAST(coalesce(sum(CAST(c2 AS decimal(38, 0))), DECIMAL '0') AS bigint) AS c5 FROM s0",
  ],
  ['summarize sum(x)', 'coalesce(sum((CASE WHEN NOT is_nan(c3) THEN c3 END)), 0) AS c5 FROM s0'],
  [
    'summarize avg(x) by bin(_time, 1h)',
    'SELECT CAST(sum(c6 * c7) AS double) / nullif(CAST(sum(c7) AS double), 0) AS c6 FROM',
  ],
  [
    'summarize avg(totimespan(n)) by bin(_time, 1h)',
    'SELECT apl_real_long(CAST(sum(CAST(c8 AS decimal(38, 0))) AS double) / nullif(CAST(sum(c7) AS double), 0)) AS c6 FROM',
  ],
  ['project v = toint(d)', 'apl_dyn_long(c4) AS c5'],
  ['project v = toreal(d)', 'apl_dyn_real(c4) AS c5'],
  ['project v = tobool(d)', 'apl_dyn_bool(c4) AS c5'],
  ['project v = toreal(uri)', 'apl_text_real(c1) AS c5'],
  ['project v = toint(x)', 'apl_real_long(c3) AS c5'],
  ['project v = strcat(uri)', "concat(CAST('' AS varchar), coalesce(c1, '')) AS c5"],
  [
    'project v = strcat_delim("-", uri, uri)',
    "array_join(ARRAY[coalesce(c1, ''), coalesce(c1, '')], CAST('-' AS varchar)) AS c5",
  ],
])('%s becomes the expected SQL', (apl, expected) => {
  const more = [
    { name: 'x', type: 'real' },
    { name: 'd', type: 'dynamic' },
  ] as const;
  const wider: DatasetCatalog = {
    ...catalog,
    schema: name => {
      const schema = catalog.schema(name);
      return schema && { ...schema, fields: [...schema.fields, ...more] };
    },
  };
  expect(written(`logs | ${apl}`, false, wider)).toContain(expected);
});

test('distinct values are counted of an expression that Trino cannot fold to a constant', () => {
  expect(written("logs | extend c = 'x' | summarize dcount(c), count()")).toContain(
    'count(DISTINCT CASE WHEN random() >= 0 THEN c3 END)',
  );
});

test('local rows become one literal for each column', () => {
  const columns = [
    { type: 'long', json: '[9223372036854775807,null]' },
    { type: 'real', json: '["NaN","-0"]' },
    { type: 'string', json: `["'); DROP TABLE x; --","\\\\u0000"]` },
    { type: 'datetime', json: '[0,1]' },
  ] as const;
  expect(rowsSql(columns)).toBe(
    `UNNEST(CAST(json_parse('[9223372036854775807,null]') AS array(bigint)), CAST(json_parse('["NaN","-0"]') AS array(double)), \
CAST(json_parse('["''); DROP TABLE x; --","\\\\u0000"]') AS array(varchar)), CAST(json_parse('[0,1]') AS array(bigint))) AS w(c0, c1, c2, c3)`,
  );
});

test.each([
  [
    'timestamp(3)',
    1n,
    "t >= TIMESTAMP '1970-01-01 00:00:00.001' AND t < TIMESTAMP '1970-01-01 00:00:01.500'",
  ],
  ['timestamp(0)', 1n, "t >= TIMESTAMP '1970-01-01 00:00:01' AND t < TIMESTAMP '1970-01-01 00:00:02'"],
  [
    'timestamp(9)',
    1n,
    "t >= TIMESTAMP '1970-01-01 00:00:00.000000001' AND t < TIMESTAMP '1970-01-01 00:00:01.500000000'",
  ],
  [
    'timestamp(6) with time zone',
    1n,
    "t >= TIMESTAMP '1970-01-01 00:00:00.000001 UTC' AND t < TIMESTAMP '1970-01-01 00:00:01.500000 UTC'",
  ],
  ['date', 1n, "t >= DATE '1970-01-02' AND t < DATE '1970-01-02'"],
])('a range becomes a condition on a %s as stored', (type, start, expected) => {
  expect(readingOf(type)?.within?.('t', start, 1_500_000_000n)).toBe(expected);
});

test('unreadable types are omitted', () => {
  const types = [
    'HyperLogLog',
    'array(varbinary)',
    'row("time" bigint, x array(varchar))',
    'map(varchar, double)',
    'decimal(18,0)',
    'decimal(38,10)',
  ];
  expect(types.map(type => readingOf(type)?.type)).toEqual([
    undefined,
    undefined,
    'dynamic',
    'dynamic',
    'long',
    'real',
  ]);
});

test('docs/trino.md lists the types and functions', () => {
  const page = new URL('../../../docs/trino.md', import.meta.url);
  const text = readFileSync(page, 'utf8');
  const there = [...computedThere].filter(([, is]) => is).map(([name]) => `\`${name}\``);
  const here = [...computedThere].filter(([, is]) => !is).map(([name]) => `\`${name}\``);
  const parts = {
    types: shownTypes.map(([type, becomes]) => `| ${type} | ${becomes} |`).join('\n'),
    functions: `Of the ${computedThere.size} functions, ${there.length} are computed there: ${there.sort().join(', ')}.\n\nThe other ${here.length} are computed here, over the rows that came back: ${here.sort().join(', ')}.`,
  };
  const wanted = Object.entries(parts).reduce(
    (page, [name, part]) =>
      page.replace(
        new RegExp(`(<!-- begin: ${name} -->\n)[^]*?(<!-- end: ${name} -->)`),
        (_, begin: string, end: string) => `${begin}${part}\n${end}`,
      ),
    text,
  );
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, wanted);
  else expect(text).toBe(wanted);
});

test('a range becomes a condition on the days of objects, including days read in part', () => {
  const within = (start: bigint, end: bigint) => withinDays('"day"', start, end);
  expect(within(20_000n * DAY, 20_001n * DAY)).toBe(`"day" BETWEEN '2024-10-04' AND '2024-10-04'`);
  expect(within(20_000n * DAY - 1n, 20_001n * DAY + 1n)).toBe(`"day" BETWEEN '2024-10-03' AND '2024-10-05'`);
});

test('column comments written by publish name fields, and other comments do not', () => {
  expect(columnNote('APL: dynamic a.b c')).toEqual({ name: 'a.b c', type: 'dynamic' });
  expect(columnNote('APL: day of _time')).toBe('day');
  for (const other of ['', 'the price', 'APL: money a', 'APL: constructor a'])
    expect(columnNote(other)).toBeUndefined();
  const [text, long] = [readingOf('varchar'), readingOf('bigint')];
  if (text === undefined || long === undefined) throw new RangeError('there are no readings');
  expect([readAs(text, 'dynamic')?.type, readAs(long, 'timespan')?.type]).toEqual(['dynamic', 'timespan']);
  expect([readAs(text, 'long'), readAs(long, 'dynamic')]).toEqual([undefined, undefined]);
});

test('an inline function has no syntax that Trino cannot compile over constants', () => {
  const fragile = /\b(?:NULLIF|BETWEEN)\b|\bIN \(|\bCASE (?!WHEN)/i;
  expect(inlineFunctions.filter(([, , body]) => fragile.test(body))).toEqual([]);
});
