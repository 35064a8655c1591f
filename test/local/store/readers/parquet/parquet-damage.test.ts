import { expect, test } from 'vitest';
import { failureOf } from '../../../../../kernel/local/store/readers/parquet/parquet-damage.js';

const again = 'Get the file again, or have its writer write it again.';

test.each([
  [
    'Not implemented Error: Unsupported compression codec "LZO". Supported options are uncompressed, brotli, gzip',
    'is packed with LZO, which is not read.',
    'Write it with another compression, such as zstd, snappy or LZ4_RAW.',
  ],
  ['ZSTD Decompression failure', 'is damaged: what is packed in it cannot be unpacked.', again],
  [
    'Invalid Input Error: Failed to decompress GZIP block',
    'is damaged: what is packed in it cannot be unpacked.',
    again,
  ],
  [
    'Invalid Error: BYTE_STREAM_SPLIT encoding is only supported for FLOAT or DOUBLE data',
    'has values in the encoding BYTE_STREAM_SPLIT of a type for which it is not read.',
    'Write it without this encoding.',
  ],
  [
    'IO Error: MAP_KEY_VALUE requires two children',
    'has a map without values, which is not read.',
    'Write its keys as a list, or leave the column out of the file.',
  ],
  [
    "Variant column must have 'metadata' and 'value'",
    'has a VARIANT with a part that has no column `value`, which is not read.',
    'Write it with the column `value` in every part.',
  ],
  [
    'StructStats::GetChildStats but there are no stats for this index',
    'has a VARIANT with a part that has no column `value`, which is not read.',
    'Write it with the column `value` in every part.',
  ],
  [
    "Variant shredding on type: 'TIME' is not implemented",
    'has a VARIANT with a column of the type TIME, which is not read.',
    'Write it without columns for parts of the VARIANT (shredding).',
  ],
  [
    'Partially shredded objects have to encode Object Variants in the value',
    'is damaged: a VARIANT has the fields of an object beside a value that is not one.',
    again,
  ],
  [
    'Invalid Input Error: Geoparquet file has no version',
    'has a description of its geometries (GeoParquet) that cannot be read.',
    'Write it without this description, or leave the geometries out of the file.',
  ],
  [
    'Out of buffer',
    'is damaged, or written in a way that is not read: a part of it ends before its values do.',
    again,
  ],
  [
    'TProtocolException: Invalid data',
    'is damaged, or written in a way that is not read: a part of it ends before its values do.',
    again,
  ],
  [
    "No magic bytes found at end of file '/tmp/a.parquet'",
    'is cut off: a Parquet file has its schema at its end.',
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
