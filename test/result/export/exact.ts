import {
  Bool,
  DurationNanosecond,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampNanosecond,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';

const json = new Map([
  ['ARROW:extension:name', 'arrow.json'],
  ['ARROW:extension:metadata', ''],
]);

const time = 1_772_600_767_123_456_789n;

/** Returns a table with the extremes of every type and strings that readers get wrong. */
export function exactTable(): Table {
  const columns: readonly [string, Vector, Map<string, string>?][] = [
    ['n', vectorFromArray([2n ** 63n - 1n, -(2n ** 63n), null, 0n, 1n, 2n], new Int64())],
    ['t', as(new TimestampNanosecond('UTC'), [time, 915_148_800_000_000_000n, null, null, null, null])],
    ['d', as(new DurationNanosecond(), [86_400_000_000_001n, -1n, null, null, null, null])],
    [
      'r',
      vectorFromArray(
        [0.1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e300],
        new Float64(),
      ),
    ],
    ['s', vectorFromArray(['', '=cmd()', null, '+1\n,"x"', "'=twice", '\u{1F600}\u202E\u200B'], new Utf8())],
    ['x', vectorFromArray(['{"a":[1,null]}', '[1,2]', null, 'null', null, null], new Utf8()), json],
    ['b', vectorFromArray([true, false, null, null, null, null], new Bool())],
    ['=name', vectorFromArray([1n, 2n, 3n, 4n, 5n, 6n], new Int64())],
  ];
  const fields = columns.map(([name, vector, metadata]) => new Field(name, vector.type, true, metadata));
  const schema = new Schema(fields);
  const children = columns.flatMap(([, vector]) => vector.data);
  return new Table(schema, [
    new RecordBatch(schema, makeData({ type: new Struct(fields), length: 6, nullCount: 0, children })),
  ]);
}

function as(type: TimestampNanosecond | DurationNanosecond, values: readonly (bigint | null)[]): Vector {
  const plain = vectorFromArray(values, new Int64());
  return new (plain.constructor as new (data: unknown) => Vector)(plain.data.map(each => each.clone(type)));
}
