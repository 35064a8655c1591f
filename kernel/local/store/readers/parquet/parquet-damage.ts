import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { cut, visible } from '../../../../text.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Connection } from '../../../engine/duckdb.js';
import { LocalError } from '../../../local-errors.js';
import { readPageHeader } from './parquet-footer.js';

const again = 'Get the file again, or write it again.';

/** Engine errors about unreadable files, and the messages that replace them: `rest` follows the file name. */
const failures: readonly { readonly words: RegExp; readonly rest: string; readonly hint: string }[] = [
  {
    words: /Unsupported compression codec "(\w+)"/,
    rest: 'is compressed with $1, which is not supported',
    hint: 'Write it with another compression, such as zstd, snappy or LZ4_RAW.',
  },
  {
    words: /decompress(?:ion)?\b.*\bfail|Failed to decompress/i,
    rest: 'is damaged: its data cannot be decompressed',
    hint: again,
  },
  {
    words: /^(?:Invalid Error: )?(\w+) encoding is only supported for/,
    rest: 'uses the encoding $1 for a type for which it is not supported',
    hint: 'Write it without this encoding.',
  },
  {
    words: /MAP_KEY_VALUE requires two children/,
    rest: 'has a map without values, which is not supported',
    hint: 'Write the keys as a list, or drop the column.',
  },
  {
    words:
      /Variant column must have 'metadata' and 'value'|StructStats::GetChildStats but there are no stats/,
    rest: 'has a VARIANT group without a `value` column, which is not supported',
    hint: 'Write it with a `value` column in every group.',
  },
  {
    words: /Variant shredding on type: '(\w+)' is not implemented/,
    rest: 'has a VARIANT with a column of type $1, which is not supported',
    hint: 'Write the VARIANT without shredding.',
  },
  {
    words: /Partially shredded objects have to encode Object Variants/,
    rest: 'is damaged: a VARIANT has object fields next to a value that is not an object',
    hint: again,
  },
  {
    words: /Geoparquet/i,
    rest: 'has GeoParquet metadata that cannot be read',
    hint: 'Write it without this metadata, or drop the geometry columns.',
  },
  {
    words: /Out of buffer|TProtocolException/,
    rest: 'is damaged, or written in an unsupported way: a page ends before its values do',
    hint: again,
  },
  {
    words: /No magic bytes found at end/,
    rest: 'is truncated: the schema at the end of the file is missing',
    hint: again,
  },
];

/** Returns the error for a Parquet file, given the engine's message; undefined if there is no better message. */
export function failureOf(name: string, words: string, cause: unknown): LocalError | undefined {
  for (const { words: pattern, rest, hint } of failures) {
    const found = pattern.exec(words);
    if (found !== null)
      return new LocalError('invalid', 'unreadable', `${name} ${rest.replace('$1', found[1] ?? '')}.`, {
        hint,
        cause,
      });
  }
  return undefined;
}

/** Verifies page checksums, which the engine does not. Throws LocalError for a damaged page. */
export async function checkPages(connection: Connection, files: readonly string[]): Promise<void> {
  for (let from = 0; from < files.length; from += filesAtOnce) {
    const some = files.slice(from, from + filesAtOnce);
    const rows = await connection.run(
      `SELECT file_name, path_in_schema, coalesce(nullif(dictionary_page_offset, 0), data_page_offset), data_page_offset, total_compressed_size
       FROM parquet_metadata([${some.map(sqlText).join(', ')}])`,
    );
    const chunks = new Map(some.map(file => [file, [] as (readonly unknown[])[]]));
    for (const [file, ...chunk] of rows) chunks.get(String(file))?.push(chunk);
    for (const [file, own] of chunks) await checkFile(file, own);
  }
}

/** Number of footers per statement: one statement each takes five times as long. */
const filesAtOnce = 250;

async function checkFile(file: string, chunks: readonly (readonly unknown[])[]): Promise<void> {
  const handle = await open(file);
  try {
    for (const [column, dictionary, data, size] of chunks) {
      const start = Math.min(Number(dictionary), Number(data));
      const state = await checkChunk(handle, start, start + Number(size));
      if (state === 'damaged') throw damaged(path.basename(file), String(column));
      // A writer stores checksums for all pages or none.
      if (state === 'unknown') return;
    }
  } finally {
    await handle.close();
  }
}

async function checkChunk(
  handle: FileHandle,
  start: number,
  end: number,
): Promise<'whole' | 'damaged' | 'unknown'> {
  for (let at = start; at < end; ) {
    const begin = await readAt(handle, at, Math.min(longestHeader, end - at));
    const header = readPageHeader(begin);
    if (header?.checksum === undefined) return 'unknown';
    const page = await readAt(handle, at + header.length, header.size);
    if (page.length < header.size || crc32(page) !== header.checksum) return 'damaged';
    at += header.length + header.size;
  }
  return 'whole';
}

/** Maximum header size in bytes; headers contain the minimum and maximum of a page. */
const longestHeader = 64 * 1024;

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function damaged(name: string, column: string): LocalError {
  const message = `${name} is damaged: a page of \`${visible(cut(column, 80))}\` does not match its checksum.`;
  return new LocalError('invalid', 'unreadable', message, { hint: again });
}
