import { describe, expect, test } from 'vitest';
import type { Listed } from '../../kernel/api/api-notices.js';
import {
  datasetNameOf,
  type QueryProgress,
  readAnnotations,
  readDatasets,
  readErrorBody,
  readFields,
  readImportReport,
  readProgress,
  readStarredQueries,
  readStarredQuery,
  readUser,
  ShapeError,
} from '../../kernel/api/wire.js';

describe('reads an error body', () => {
  test.each<readonly [unknown, unknown]>([
    [
      { code: 404, message: 'no' },
      { code: 404, message: 'no' },
    ],
    [{ message: 'rate limit exceeded' }, { code: '', message: 'rate limit exceeded' }],
    [{ error: 'said otherwise' }, { code: '', message: 'said otherwise' }],
    [
      {
        code: 400,
        message: 'm',
        detail: { errorType: 'e', line: 1, column: 2.5, message: 'd', hint: 'h', extra: 1 },
      },
      { code: 400, message: 'm', detail: { errorType: 'e', line: 1, message: 'd', hint: 'h' } },
    ],
    [{ code: 400 }, undefined],
    ['text', undefined],
    [null, undefined],
    [['message'], undefined],
  ])('%j -> %j', (value, expected) => expect(readErrorBody(value)).toEqual(expected));
});

const star = { kind: 'apl', name: 'n', who: 'u', metadata: { a: 'b' }, query: { apl: 'web', cursor: 'c' } };

const annotation = { id: 'b', type: 'deploy', datasets: ['d'], time: '2026-01-01T00:00:00Z' };

describe('a starred query', () => {
  test('keeps the members of the API and drops others', () => {
    expect(readStarredQuery({ ...star, id: 's', dataset: 'd', other: 1 })).toEqual({
      ...star,
      id: 's',
      dataset: 'd',
    });
  });

  test.each<readonly [unknown, string]>([
    [undefined, 'starred query should be an object, not missing'],
    [{ ...star, kind: 'mpl' }, 'starred query.kind should be "apl", not a string'],
    [{ ...star, name: null }, 'starred query.name should be a string, not null'],
    [{ ...star, metadata: { n: 1 } }, 'starred query.metadata.n should be a string, not a number'],
    [{ ...star, query: {} }, 'starred query.query.apl should be a string, not missing'],
    [{ ...star, query: [] }, 'starred query.query should be an object, not an array'],
    [{ ...star, id: 3 }, 'starred query.id should be a string, not a number'],
  ])('is refused: %j', (value, message) => {
    const refused = (() => {
      try {
        return readStarredQuery(value);
      } catch (error) {
        return error;
      }
    })();
    expect(refused instanceof ShapeError && [refused.code, refused.message]).toEqual([
      'unexpected-shape',
      message,
    ]);
  });
});

test('reads a null list as empty', () => expect(readDatasets(null)).toEqual({ items: [], notices: [] }));

describe('a response', () => {
  const listing = (...items: readonly unknown[]) => ({ items, notices: [] });
  const dataset = { id: 'w', name: 'web', description: 'd', created: 'c', who: 'u', kind: 'events', rows: 3 };
  const times = { firstTime: 'a', lastTime: 'b' };
  const report = {
    dataset: 'a',
    rows: 2,
    fields: [],
    timeField: 't',
    notes: ['n'],
    rowsBefore: 1,
    rowsNow: 3,
  };

  test.each<readonly [string, (value: unknown) => unknown, unknown, unknown]>([
    ['of datasets', readDatasets, [{ ...dataset, ...times, other: 1 }], listing({ ...dataset, ...times })],
    [
      'of a dataset with only a name',
      readDatasets,
      [{ name: 'a' }],
      listing({ id: 'a', name: 'a', description: '' }),
    ],
    [
      'of a dataset with only an id',
      readDatasets,
      [{ id: 'a' }],
      listing({ id: 'a', name: 'a', description: '' }),
    ],
    [
      'of datasets, except malformed ones',
      readDatasets,
      [dataset, { id: 'a', name: 7 }, null, { ...dataset, created: 0 }],
      {
        items: [dataset],
        notices: [
          'Left out: datasets[1].name should be a string, not a number.',
          'Left out: datasets[2] should be an object, not null.',
          'Left out: datasets[3].created should be a string, not a number.',
        ],
      },
    ],
    [
      'of fields, except malformed ones, naming the first few',
      readFields,
      [{ name: 'a' }, ...Array(1000).fill({ type: 'integer' })],
      {
        items: [{ name: 'a', type: '', unit: '', hidden: false, description: '' }],
        notices: [
          ...[1, 2, 3, 4, 5].map(at => `Left out: fields[${at}].name should be a string, not missing.`),
          'Left out: 995 more of the fields.',
        ],
      },
    ],
    [
      'of fields',
      readFields,
      [
        { name: 'a', type: 'integer', unit: 'ms', hidden: true, description: 'd' },
        { name: 'b', hidden: 1 },
      ],
      listing(
        { name: 'a', type: 'integer', unit: 'ms', hidden: true, description: 'd' },
        { name: 'b', type: '', unit: '', hidden: false, description: '' },
      ),
    ],
    ['of starred queries', readStarredQueries, [star, star], { items: [star, star], notices: [] }],
    [
      'of starred queries, except malformed ones',
      readStarredQueries,
      [star, 7, { ...star, query: {} }, star],
      {
        items: [star, star],
        notices: [
          'Left out: starred queries[1] should be an object, not a number.',
          'Left out: starred queries[2].query.apl should be a string, not missing.',
        ],
      },
    ],
    [
      'of annotations, except malformed ones',
      readAnnotations,
      [{ id: 'a', type: 'deploy', datasets: ['d'] }, annotation, { ...annotation, datasets: 'd' }],
      {
        items: [annotation],
        notices: [
          'Left out: annotations[0].time should be a string, not missing.',
          'Left out: annotations[2].datasets should be an array, not a string.',
        ],
      },
    ],
    ['of a user', readUser, { id: 'u', name: 'n', email: 'e' }, { id: 'u', name: 'n', email: 'e' }],
    ['of a user with only an id', readUser, { id: 'u' }, { id: 'u', name: '', email: '' }],
    ['of an import', readImportReport, { ...report, ...times }, { ...report, ...times }],
    [
      'of an import without notes',
      readImportReport,
      { ...report, fields: [{ name: 'x', type: 'string' }], timeField: null, notes: null },
      { ...report, fields: [{ name: 'x', type: 'string' }], timeField: '', notes: [] },
    ],
  ])('%s is read', (_, read, value, expected) => expect(read(value)).toEqual(expected));

  test.each<readonly [(value: unknown) => unknown, unknown, string]>([
    [readDatasets, {}, 'datasets should be an array, not an object'],
    [readFields, 'a', 'fields should be an array, not a string'],
    [readStarredQueries, 7, 'starred queries should be an array, not a number'],
    [readStarredQuery, { ...star, dataset: 7 }, 'starred query.dataset should be a string, not a number'],
    [readStarredQuery, { ...star, who: 7 }, 'starred query.who should be a string, not a number'],
    [readUser, null, 'user should be an object, not null'],
    [readUser, {}, 'user.id should be a string, not missing'],
    [readUser, { id: 'u', name: 7 }, 'user.name should be a string, not a number'],
    [readUser, { id: 'u', email: 7 }, 'user.email should be a string, not a number'],
    [readImportReport, [], 'import report should be an object, not an array'],
    [readImportReport, { ...report, dataset: 7 }, 'import report.dataset should be a string, not a number'],
    [readImportReport, { ...report, rows: true }, 'import report.rows should be a number, not a boolean'],
    [readImportReport, { ...report, fields: 7 }, 'import report.fields should be an array, not a number'],
    [
      readImportReport,
      { ...report, fields: [7] },
      'import report.fields[0] should be an object, not a number',
    ],
    [
      readImportReport,
      { ...report, fields: [{}] },
      'import report.fields[0].name should be a string, not missing',
    ],
    [
      readImportReport,
      { ...report, fields: [{ name: 'a' }] },
      'import report.fields[0].type should be a string, not missing',
    ],
    [
      readImportReport,
      { ...report, timeField: 7 },
      'import report.timeField should be a string, not a number',
    ],
    [readImportReport, { ...report, notes: 7 }, 'import report.notes should be an array, not a number'],
    [readImportReport, { ...report, notes: [7] }, 'import report.notes[0] should be a string, not a number'],
    [
      readImportReport,
      { ...report, rowsBefore: '' },
      'import report.rowsBefore should be a number, not a string',
    ],
    [readImportReport, { ...report, rowsNow: '' }, 'import report.rowsNow should be a number, not a string'],
    [
      readImportReport,
      { ...report, firstTime: 7 },
      'import report.firstTime should be a string, not a number',
    ],
    [readImportReport, { ...report, lastTime: 7 }, 'import report.lastTime should be a string, not a number'],
  ])('is refused by %o: %j', (read, value, message) => {
    expect(() => read(value)).toThrow(ShapeError);
    expect(() => read(value)).toThrow(message);
  });

  test.each<readonly [(value: unknown) => Listed<unknown>, unknown, string]>([
    [
      readDatasets,
      [{ ...dataset, description: 7 }],
      'datasets[0].description should be a string, not a number',
    ],
    [readDatasets, [7], 'datasets[0] should be an object, not a number'],
    [readDatasets, [dataset, {}], 'datasets[1].name should be a string, not missing'],
    [readDatasets, [{ ...dataset, id: 7 }], 'datasets[0].id should be a string, not a number'],
    [readDatasets, [{ ...dataset, created: 7 }], 'datasets[0].created should be a string, not a number'],
    [readDatasets, [{ ...dataset, who: 7 }], 'datasets[0].who should be a string, not a number'],
    [readDatasets, [{ ...dataset, kind: 7 }], 'datasets[0].kind should be a string, not a number'],
    [readDatasets, [{ ...dataset, rows: '7' }], 'datasets[0].rows should be a number, not a string'],
    [readDatasets, [{ ...dataset, firstTime: 7 }], 'datasets[0].firstTime should be a string, not a number'],
    [readDatasets, [{ ...dataset, lastTime: 7 }], 'datasets[0].lastTime should be a string, not a number'],
    [readFields, [[]], 'fields[0] should be an object, not an array'],
    [readFields, [{}], 'fields[0].name should be a string, not missing'],
    [readFields, [{ name: 'a', type: 7 }], 'fields[0].type should be a string, not a number'],
    [readFields, [{ name: 'a', unit: 7 }], 'fields[0].unit should be a string, not a number'],
    [readFields, [{ name: 'a', description: 7 }], 'fields[0].description should be a string, not a number'],
  ])('has an entry omitted by %o: %j', (read, value, message) => {
    expect(read(value).notices).toEqual([`Left out: ${message}.`]);
  });
});

test.each<[value: object, progress: QueryProgress]>([
  [
    { state: 'waiting', before: 3 },
    { state: 'waiting', before: 3 },
  ],
  [
    { state: 'running', rows: 7, share: 0.5 },
    { state: 'running', rows: 7, share: 0.5 },
  ],
  [
    { state: 'running', rows: 7 },
    { state: 'running', rows: 7 },
  ],
  [
    { state: 'held up', reason: 'it is away', more: 1 },
    { state: 'held up', reason: 'it is away' },
  ],
])('reads the progress %j', (value, progress) => expect(readProgress(value)).toStrictEqual(progress));

test.each([
  ['access 2026.log.gz', 'access-2026'],
  ['/var/log/app.log*', 'app'],
  ['logs/*.ndjson', 'logs'],
  ['/var/logs/**/*.log.gz', 'logs'],
  ['data/', 'data'],
  ['./x/.', 'x'],
  ['日本.csv', 'imported'],
  ['https://ada:secret@shop.example/a.csv?sig=secret', 'a'],
])('the dataset name of %s is %s', (file, name) => expect(datasetNameOf(file)).toBe(name));

describe('reads bodies from the unit tests of clients', () => {
  const id = { id: 'test', name: 'test', description: 'Test dataset' };
  const created = '2020-11-17T22:29:00.521238198Z';
  const made = { ...id, who: 'f83e245a-afdc-47ad-a765-4addd1994333', created };
  const events = { edgeDeployment: 'cloud.us-east-1.aws', kind: 'axiom:events:v1', mapFields: null };
  const metrics = { edgeDeployment: null, kind: 'otel:metrics:v1', mapFields: ['tags'] };
  const role = { id: 'owner', name: 'Owner' };
  const user = { id: 'e9cffaad', name: 'Ada', email: 'ada@example.com' };
  const mark = { id: 'test', type: 'production-deployment', datasets: ['test1'], time: created };
  const times = { startTime: '2026-06-02T10:31:37-04:00', endTime: '2026-06-03T10:31:37-04:00' };
  const saved = { id: 'folder/query #1', kind: 'apl', name: 'Latency', who: 'user-id' };
  const cake = { id: '42', type: 'cake', datasets: ['snot', 'snot'], time: '2024-02-06T11:39:28.382Z' };
  const whole = (...items: readonly unknown[]) => ({ items, notices: [] });

  test.each<readonly [string, (value: unknown) => unknown, unknown, unknown]>([
    [
      'axiom-js: datasets of events and of metrics',
      readDatasets,
      [
        { ...made, ...events },
        { ...made, ...metrics },
      ],
      whole({ ...made, kind: events.kind }, { ...made, kind: metrics.kind }),
    ],
    [
      'axiom-js: a dataset just made',
      readDatasets,
      [{ id: 'test1', description: '' }],
      whole({ id: 'test1', name: 'test1', description: '' }),
    ],
    ['axiom-js: a user with a role', readUser, { ...user, role }, user],
    [
      'axiom-js: annotations',
      readAnnotations,
      [{ ...mark, title: 'test', description: 'd', url: 'some-url', endTime: created }, mark],
      whole({ ...mark, title: 'test', description: 'd', url: 'some-url', endTime: created }, mark),
    ],
    [
      'axiom-js: saved queries',
      readStarredQueries,
      [{ ...saved, metadata: { owner: 'runtime' }, query: { apl: "['logs']", ...times } }],
      whole({ ...saved, metadata: { owner: 'runtime' }, query: { apl: "['logs']", ...times } }),
    ],
    [
      'axiom-js: an error',
      readErrorBody,
      { message: 'invalid request' },
      { code: '', message: 'invalid request' },
    ],
    [
      'axiom-rs: annotations with nulls',
      readAnnotations,
      [{ ...cake, title: 'cookie', description: null, url: null, endTime: null }],
      whole({ ...cake, title: 'cookie' }),
    ],
    [
      'axiom-rs: a limit',
      readErrorBody,
      { message: 'query limit exceeded' },
      { code: '', message: 'query limit exceeded' },
    ],
  ])('%s', (_, read, body, expected) => expect(read(body)).toEqual(expected));
});
