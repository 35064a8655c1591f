import { expect, test } from 'vitest';
import { failureOf } from '../../../../../kernel/local/store/readers/parquet/parquet-damage.js';

const again = 'Get the file again, or write it again.';

test.each([
  [
    'Not implemented Error: Unsupported compression codec "LZO". Supported options are uncompressed, brotli, gzip',
    'is compressed with LZO, which is not supported.',
    'Write it with another compression, such as zstd, snappy or LZ4_RAW.',
  ],
  ['ZSTD Decompression failure', 'is damaged: its data cannot be decompressed.', again],
  [
    'Invalid Input Error: Failed to decompress GZIP block',
    'is damaged: its data cannot be decompressed.',
    again,
  ],
  [
    'Invalid Error: BYTE_STREAM_SPLIT encoding is only supported for FLOAT or DOUBLE data',
    'uses the encoding BYTE_STREAM_SPLIT for a type for which it is not supported.',
    'Write it without this encoding.',
  ],
  [
    'IO Error: MAP_KEY_VALUE requires two children',
    'has a map without values, which is not supported.',
    'Write the keys as a list, or drop the column.',
  ],
  [
    "Variant column must have 'metadata' and 'value'",
    'has a VARIANT group without a `value` column, which is not supported.',
    'Write it with a `value` column in every group.',
  ],
  [
    'StructStats::GetChildStats but there are no stats for this index',
    'has a VARIANT group without a `value` column, which is not supported.',
    'Write it with a `value` column in every group.',
  ],
  [
    "Variant shredding on type: 'TIME' is not implemented",
    'has a VARIANT with a column of type TIME, which is not supported.',
    'Write the VARIANT without shredding.',
  ],
  [
    'Partially shredded objects have to encode Object Variants in the value',
    'is damaged: a VARIANT has object fields next to a value that is not an object.',
    again,
  ],
  [
    'Invalid Input Error: Geoparquet file has no version',
    'has GeoParquet metadata that cannot be read.',
    'Write it without this metadata, or drop the geometry columns.',
  ],
  ['Out of buffer', 'is damaged, or written in an unsupported way: a page ends before its values do.', again],
  [
    'TProtocolException: Invalid data',
    'is damaged, or written in an unsupported way: a page ends before its values do.',
    again,
  ],
  [
    "No magic bytes found at end of file '/tmp/a.parquet'",
    'is truncated: the schema at the end of the file is missing.',
    again,
  ],
])('an engine error about a Parquet file is explained: %s', (words, message, hint) => {
  const cause = new Error(words);
  expect(failureOf('a.parquet', words, cause)).toMatchObject({
    ...{ kind: 'invalid', code: 'unreadable', message: `a.parquet ${message}`, hint, cause },
  });
});

test('other engine errors are not explained to users', () => {
  expect(failureOf('a.parquet', 'INTERNAL Error: Assertion triggered', undefined)).toBeUndefined();
});
