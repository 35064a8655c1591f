import { describe, it } from 'vitest';
import type { FunctionEntry, Param, TypeName } from '../../../../kernel/apl/catalog/entry.js';
import { conversion as conversionCatalog } from '../../../../kernel/apl/catalog/functions/conversion-functions.js';
import { formats as formatsCatalog } from '../../../../kernel/apl/catalog/functions/format-functions.js';
import { genai as genaiCatalog } from '../../../../kernel/apl/catalog/functions/genai-functions.js';
import { net as netCatalog } from '../../../../kernel/apl/catalog/functions/net-functions.js';
import { sql as sqlCatalog } from '../../../../kernel/apl/catalog/functions/sql-functions.js';
import { strings as stringsCatalog } from '../../../../kernel/apl/catalog/functions/string-functions.js';
import { conversion } from '../../../../kernel/local/duckdb/functions/duckdb-conversion.js';
import { formats } from '../../../../kernel/local/duckdb/functions/duckdb-formats.js';
import { genai } from '../../../../kernel/local/duckdb/functions/duckdb-genai.js';
import { net } from '../../../../kernel/local/duckdb/functions/duckdb-net.js';
import { sql } from '../../../../kernel/local/duckdb/functions/duckdb-sql.js';
import { strings } from '../../../../kernel/local/duckdb/functions/duckdb-strings.js';
import type { SqlArg, SqlTemplate } from '../../../../kernel/local/sql/sql-template.js';
import { b, context, d, j, n, nul, opaque, openEngine, r, s, t } from './harness.js';

const engine = openEngine();
const maxLong = 9223372036854775807n;

/** Values that attackers and broken programs write into logs. */
const values: Readonly<Record<TypeName, readonly SqlArg[]>> = {
  string: [
    ...[
      '',
      ' ',
      "'",
      '"',
      '\\',
      "'; DROP TABLE t; --",
      '%',
      '%zz%ff',
      '(',
      '[a',
      'a{9999}',
      '\\1',
      '$1',
      '$9',
      '\0',
      '\n',
      '\u001b[31',
    ],
    ...[
      'é👩‍🚀',
      '\u202e',
      'NaN',
      '-inf',
      '1e999',
      '9223372036854775808',
      '-0',
      '{',
      '[1,]',
      '[null]',
      'null',
      '{"a":',
      '"\\ud800"',
    ],
    ...[
      '1.2.3.4',
      '1.2.3.4/33',
      '1.2.3.256',
      '::1/129',
      ':::',
      'http://[',
      '//@:',
      'file://',
      'C:',
      '2024-13-45T99:99:99Z',
      '9999999999999999999',
    ],
    ...['[['.repeat(100), '('.repeat(100), 'a'.repeat(500), 'select ('.repeat(100)],
  ].map(s),
  long: [0n, 1n, -1n, 33n, maxLong, -maxLong - 1n].map(n),
  real: [0, -0.5, 1e308, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(r),
  bool: [true, false].map(b),
  datetime: [t('1970-01-01T00:00:00Z'), t('2262-04-11T23:47:16.854775806Z'), t('1677-09-22T00:00:00Z')],
  timespan: [0n, maxLong, -maxLong - 1n].map(d),
  dynamic: [
    ...[
      [],
      {},
      [null],
      [[[]]],
      { a: null },
      'x',
      '',
      1.5,
      true,
      [1, 'a', null, {}],
      { query: [{}], port: {}, path: 1 },
    ].map(value => j(value)),
    ...[
      [256, -1, 1e300],
      { statement: 'select', columns: [1] },
      { statement: 'select', columns: [{ operator: 'x', params: [] }] },
    ].map(value => j(value)),
    ...[[{ role: 1, content: [1, null], tool_calls: 'x', parts: {} }], [{ role: 'tool', content: '{' }]].map(
      value => j(value),
    ),
    j('123456789012345678901234567890', 'text'),
    j('1e999', 'text'),
  ],
};

const families: readonly (readonly [
  readonly FunctionEntry[],
  Readonly<Record<string, SqlTemplate<never>>>,
])[] = [
  [stringsCatalog, strings],
  [formatsCatalog, formats],
  [conversionCatalog, conversion],
  [netCatalog, net],
  [genaiCatalog, genai],
  [sqlCatalog, sql],
];

/** Functions resolved by the binder, or whose arguments it converts to a common type. */
const bound = ['ensure_field', 'column_ifexists', 'ingestion_time', 'coalesce', 'iff', 'case'];
const runnable = families.flatMap(([catalog, templates]) =>
  catalog
    .filter(entry => entry.unavailable === undefined && !bound.includes(entry.name))
    .map(entry => [entry.name, entry, templates[entry.name] as SqlTemplate | undefined] as const),
);

function typesOf(param: Param): readonly TypeName[] {
  switch (param.type) {
    case 'number':
      return ['long', 'real'];
    case 'any':
      return ['string', 'long', 'real', 'bool', 'datetime', 'timespan', 'dynamic'];
    case 'array':
    case 'map':
      return ['dynamic'];
    case 'scalar':
    case 'type':
    case 'field':
      return ['string'];
    default:
      return [param.type];
  }
}

/** Combines each value of one parameter with a default for the others. */
function calls(entry: FunctionEntry): SqlArg[][] {
  return entry.params.flatMap((param, place) =>
    typesOf(param).flatMap(type =>
      [...values[type], nul(type)].map(value =>
        entry.params.map((other, index) => (index === place ? value : companion(other))),
      ),
    ),
  );
}

function companion(param: Param): SqlArg {
  const type = typesOf(param)[0] ?? 'string';
  const list = values[type];
  return list[1] ?? nul(type);
}

/** Compiles a call; arguments that need not be constant are treated as columns. */
function compiled(template: SqlTemplate, entry: FunctionEntry, args: readonly SqlArg[]): string {
  const given = args.map((arg, index) => {
    const { name, constant } = entry.params[index] ?? {};
    if (name === 'capture_group') return n(0n);
    return constant ? s('(.)') : opaque(arg);
  });
  return template(given, context);
}

describe('no value makes a query fail', () => {
  it.each(runnable)('%s', async (_, entry, template) => {
    if (template === undefined) throw new Error('no template');
    const expressions = calls(entry).map(args => `(${compiled(template, entry, args)})::VARCHAR IS NULL`);
    await engine.query(`SELECT ${[...new Set(expressions)].join(', ')}`);
  });
});
