/**
 * Queries of nested values: members of dynamic values and of JSON strings, fields of mixed types, arrays of 0 to 50 strings, pairs, addresses;
 * and of values derived from them.
 * Like `engine.ts`: through the local service against a handwritten statement over the same file. ROWS, RUNS and ONLY (a pattern of
 * query names) are environment variables.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { TypeName } from '../kernel/apl/catalog/entry.js';
import { copyToParquet } from '../kernel/local/engine/engine-parquet.js';
import { compare, type Question } from './tools/compared.js';
import type { Goal } from './tools/row.js';
import { startProcess, stopProcess } from './tools/service.js';

const rows = Number(process.env.ROWS ?? '1000000');
const runs = Number(process.env.RUNS ?? 5);
const only = process.env.ONLY;
const goal: Goal = { ratio: 1.3, plus: 5 };
/** Fields besides the time; an import stores dynamic values as strings of JSON. */
const types: Readonly<Record<string, TypeName>> = {
  ...{ level: 'string', attributes: 'dynamic', body: 'string', tags: 'dynamic' },
  ...{ pairs: 'string', ip: 'string', line: 'string', code: 'dynamic' },
};
const fields = Object.keys(types);
const texts = `from_json(tags, '["VARCHAR"]')`;
const number = (key: string) => `TRY_CAST(json_extract_string(attributes, '$.${key}') AS DOUBLE)`;
const pair = (key: string) => `regexp_extract(pairs, '(?:^| )${key}=("[^"]*"|[^ ]*)', 1)`;

const questions: readonly Question[] = [
  {
    name: 'members that are numbers',
    apl: 'where attributes.size > 990 | count',
    sql: `SELECT count(*) FROM t AND ${number('size')} > 990`,
  },
  {
    name: 'mean of a member',
    apl: 'summarize avg(todouble(attributes.load)), max(toint(attributes.size)) by level',
    sql: `SELECT level, avg(${number('load')}), max(TRY_CAST(json_extract_string(attributes, '$.size') AS BIGINT)) FROM t GROUP BY 1`,
  },
  {
    name: 'members that are a text',
    apl: "where attributes.k8s.pod == 'pod-77' | count",
    sql: "SELECT count(*) FROM t AND json_extract_string(attributes, '$.k8s.pod') = 'pod-77'",
  },
  {
    name: 'the largest member',
    apl: 'summarize max(attributes.size), min(attributes.k8s.pod)',
    sql: `SELECT max(${number('size')}), min(json_extract_string(attributes, '$.k8s.pod')) FROM t`,
  },
  {
    name: 'numbers and texts in one field, by value',
    apl: 'summarize count() by code | top 10 by count_',
    sql: 'SELECT code, count(*) n FROM t GROUP BY 1 ORDER BY n DESC LIMIT 10',
  },
  {
    name: 'numbers and texts in one field, sorted',
    apl: 'top 100 by code',
    sql: 'SELECT * FROM t ORDER BY TRY_CAST(code AS DOUBLE) DESC NULLS FIRST, code DESC LIMIT 100',
  },
  {
    name: 'values that contain a text',
    apl: "where attributes contains 'pod-77' | count",
    sql: "SELECT count(*) FROM t AND contains(lower(attributes), 'pod-77')",
  },
  {
    name: 'time since the previous row',
    apl: 'sort by level asc, _time asc | extend gap = iff(prev(level) == level, _time - prev(_time), 0s) | summarize max(gap)',
    sql: 'SELECT max(g) FROM (SELECT _time - lag(_time) OVER (PARTITION BY level ORDER BY _time) g FROM t)',
  },
  {
    name: 'members of a text of JSON',
    apl: 'extend p = parse_json(body) | summarize sum(toint(p.a)), count() by tostring(p.b.c)',
    sql: "SELECT json_extract_string(body, '$.b.c') c, sum(TRY_CAST(json_extract_string(body, '$.a') AS BIGINT)), count(*) FROM t GROUP BY 1",
  },
  {
    name: 'arrays that have a text',
    apl: "where set_has_element(tags, 'gold') | count",
    sql: `SELECT count(*) FROM t AND contains(tags, 'gold') AND list_contains(${texts}, 'gold')`,
  },
  {
    name: 'arrays that have a text, by in',
    apl: "where 'gold' in (tags) | count",
    sql: `SELECT count(*) FROM t AND contains(tags, 'gold') AND list_contains(${texts}, 'gold')`,
  },
  {
    name: 'place in an array',
    apl: "summarize count() by array_index_of(tags, 'gold')",
    sql: `SELECT CASE WHEN contains(tags, 'gold') THEN coalesce(list_position(${texts}, 'gold'), 0) - 1 ELSE -1 END p, count(*) FROM t GROUP BY 1`,
  },
  {
    name: 'the beginnings of arrays',
    apl: 'summarize count() by tostring(array_slice(tags, 0, 2)) | top 10 by count_',
    sql: `SELECT to_json(from_json(tags, '["JSON"]')[1:2])::VARCHAR x, count(*) n FROM t GROUP BY 1 ORDER BY n DESC LIMIT 10`,
  },
  {
    name: 'joined arrays',
    apl: "summarize dcount(strcat_array(tags, ','))",
    sql: `SELECT count(DISTINCT array_to_string(${texts}, ',')) FROM t`,
  },
  {
    name: 'sorted arrays',
    apl: 'summarize dcount(tostring(array_sort_asc(tags)))',
    sql: `SELECT count(DISTINCT to_json(list_sort(${texts}))::VARCHAR) FROM t`,
  },
  {
    name: 'mv-expand to texts',
    apl: 'mv-expand tags to typeof(string) | summarize count() by tags | top 10 by count_',
    sql: `SELECT x, count(*) n FROM (SELECT unnest(${texts}) x FROM t) GROUP BY 1 ORDER BY n DESC LIMIT 10`,
  },
  {
    name: 'parse-kv',
    apl: "parse-kv pairs as (level:long, path:string, took:real) with (pair_delimiter=' ', kv_delimiter='=', quote='\"') | summarize sum(level), avg(took) by path",
    sql: `SELECT ${pair('path')} p, sum(TRY_CAST(${pair('level')} AS BIGINT)), avg(TRY_CAST(${pair('took')} AS DOUBLE)) FROM t GROUP BY 1`,
  },
  {
    name: 'addresses in one of several ranges',
    apl: "where ipv4_is_in_any_range(ip, '10.0.0.0/8', '172.16.0.0/12') | count",
    sql: "SELECT count(*) FROM t AND (starts_with(ip, '10.') OR (starts_with(ip, '172.') AND split_part(ip, '.', 2)::INTEGER BETWEEN 16 AND 31))",
  },
  {
    name: 'addresses in a text',
    apl: "where has_ipv4(line, '10.1.2.3') | count",
    sql: "SELECT count(*) FROM t AND regexp_matches(line, '(?:^|[^0-9A-Za-z.])10[.]1[.]2[.]3(?:$|[^0-9A-Za-z.])')",
  },
  {
    name: 'addresses in a range',
    apl: "where ipv4_is_in_range(ip, '10.0.0.0/8') | count",
    sql: "SELECT count(*) FROM t AND starts_with(ip, '10.')",
  },
  {
    name: 'networks of addresses',
    apl: 'summarize dcount(format_ipv4_mask(ip, 16))',
    sql: "SELECT count(DISTINCT concat(split_part(ip, '.', 1), '.', split_part(ip, '.', 2), '.0.0/16')) FROM t",
  },
  {
    name: 'one of several addresses in a text',
    apl: "where has_any_ipv4(line, '10.1.2.3', '11.1.2.3') | count",
    sql: "SELECT count(*) FROM t AND regexp_matches(line, '(?:^|[^0-9A-Za-z.])1[01][.]1[.]2[.]3(?:$|[^0-9A-Za-z.])')",
  },
  {
    name: 'search in all fields',
    apl: "search 'pod-77' | count",
    sql: `SELECT count(*) FROM t AND (${fields.map(field => `contains(lower(${field}), 'pod-77')`).join(' OR ')})`,
  },
  {
    name: 'one group of extract_all',
    apl: "summarize dcount(tostring(extract_all(@'(\\d+)', dynamic([1]), line)))",
    sql: "SELECT count(DISTINCT to_json(regexp_extract_all(line, '(\\d+)', 1))::VARCHAR) FROM t",
  },
  {
    name: 'two groups of extract_all',
    apl: "summarize dcount(tostring(extract_all(@'(\\w+)=(\\w+)', pairs)))",
    sql: "SELECT count(DISTINCT to_json(list_zip(regexp_extract_all(pairs, '(\\w+)=(\\w+)', 1), regexp_extract_all(pairs, '(\\w+)=(\\w+)', 2)))::VARCHAR) FROM t",
  },
  {
    name: 'maps as texts',
    apl: "summarize dcount(tostring(pack('a', level, 'b', _time, 'c', strlen(line))))",
    sql: "SELECT count(DISTINCT json_object('a', level, 'b', replace(_time::VARCHAR, ' ', 'T') || 'Z', 'c', length(line))::VARCHAR) FROM t",
  },
  {
    name: 'concatenated arrays',
    apl: 'summarize dcount(tostring(array_concat(tags, tags)))',
    sql: `SELECT count(DISTINCT to_json(list_concat(${texts}, ${texts}))::VARCHAR) FROM t`,
  },
  {
    name: 'parts of a text',
    apl: "summarize dcount(tostring(split(line, ' ')))",
    sql: "SELECT count(DISTINCT to_json(string_split(line, ' '))::VARCHAR) FROM t",
  },
  {
    name: 'cases of members',
    apl: "summarize count() by c = case(toint(attributes.size) > 900 or tags has 'gold', 'a', todouble(attributes.load) > 7.0, 'b', 'c')",
    sql: `SELECT CASE WHEN ${number('size')} > 900 OR contains(tags, 'gold') THEN 'a' WHEN ${number('load')} > 7 THEN 'b' ELSE 'c' END c, count(*) FROM t GROUP BY 1`,
  },
];

const names = "['prod', 'eu-west-1', 'gold', 'beta', 'v1.2', 'north', 'edge']";

/** Arrays are mostly short, and have common names beside rare ones. */
const generated = `SELECT make_timestamp_ns(1767225600000000000 + i * (2592000000000000 // ${rows})) AS _time,
  ['INFO', 'WARN', 'ERROR'][1 + (hash(i, 1) % 3)::BIGINT] AS level,
  to_json({'k8s': {'pod': 'pod-' || (hash(i, 2) % 900), 'ns': 'ns-' || (hash(i, 3) % 12)}, 'size': hash(i, 4) % 1000, 'load': (hash(i, 5) % 10000) / 1000.0})::VARCHAR AS attributes,
  '{"a":' || (hash(i, 6) % 100) || ',"b":{"c":"x' || (hash(i, 7) % 1000) || '","d":[1,2.50,"e"]},"info":"' || (hash(i, 8) % 7) || '"}' AS body,
  to_json(list_transform(range((pow((hash(i, 9) % 1000) / 1000.0, 4) * 51)::BIGINT), lambda n:
    ${names}[1 + (hash(i, n, 10) % 7)::BIGINT] || CASE WHEN hash(i, n, 11) % 3 = 0 THEN '-' || (hash(i, n, 12) % 400) ELSE '' END))::VARCHAR AS tags,
  'level=' || (hash(i, 13) % 5) || ' path=/api/v' || (hash(i, 14) % 3) || ' took=' || ((hash(i, 15) % 90000) / 100.0) || ' user="u ' || (hash(i, 16) % 5000) || '"' AS pairs,
  concat_ws('.', hash(i, 17) % 224, hash(i, 18) % 256, hash(i, 19) % 256, hash(i, 20) % 256) AS ip,
  concat('from ', hash(i, 21) % 224, '.1.2.3:', hash(i, 22) % 65536, ' to upstream ', hash(i, 23) % 90) AS line,
  CASE WHEN hash(i, 24) % 10 = 0 THEN '"unknown"' ELSE (hash(i, 25) % 600)::VARCHAR END AS code FROM range(${rows}) r(i)`;

const dataDir = await mkdtemp(join(tmpdir(), 'apl-bench-'));
const folder = join(dataDir, 'datasets', 'bench');
const file = join(folder, '0.parquet');
await mkdir(folder, { recursive: true });
const instance = await DuckDBInstance.create(':memory:', { temp_directory: dataDir });
const connection = await instance.connect();
const note = Object.entries({ _time: 'datetime' as const, ...types }).map(([name, type]) => ({
  name,
  type,
  column: name,
}));
await connection.run(copyToParquet(generated, file, { fields: note }));
const service = await startProcess(dataDir);
try {
  const asked = { service, connection, files: [file], scale: `${rows / 1e6} M rows`, runs };
  for (const question of questions.filter(({ name }) => new RegExp(only ?? '').test(name)))
    await compare({ goal, ...question }, asked);
} finally {
  await stopProcess(service);
  connection.closeSync();
  instance.closeSync();
}
