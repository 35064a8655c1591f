import { open } from 'node:fs/promises';

/** Returns the compression of a file, undefined if it has none or one that is not supported. */
export async function packingOf(file: string): Promise<'gzip' | 'zstd' | undefined> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const kind = beginsAs(buffer.subarray(0, bytesRead));
    return kind === 'gzip' || kind === 'zstd' ? kind : undefined;
  } finally {
    await handle.close();
  }
}

/** Compressed data or a binary format: its first bytes as Latin-1, its name, and how to convert it. */
interface Packing {
  readonly begin: string;
  /** File name suffix of a format without a magic number. */
  readonly ending?: string;
  /** Further check of the beginning, if text could begin the same way. */
  readonly further?: (start: string) => boolean;
  readonly name: string;
  /** Kind that readers distinguish. */
  readonly kind?: 'gzip' | 'zstd' | 'parquet' | 'zip';
  /** How to convert it; undefined if it can be read. */
  readonly instead?: string;
}

const intoText = 'Convert it to Parquet or text lines first.';

const capture = {
  name: 'a packet capture',
  instead: 'Convert it first: tshark -r FILE -T ek > packets.ndjson.',
};

const zip = 'PK\x03\x04';
const asWorkbook = 'Save it as .xlsx, or its sheet as CSV, first.';

const openDocument = { name: 'an OpenDocument file', instead: asWorkbook };

/** Offset of the first file name in a ZIP archive, followed by its content if that is not compressed. */
const zipName = 30;

const packings: readonly Packing[] = [
  { begin: '\x1f\x8b', name: 'compressed with gzip', kind: 'gzip' },
  { begin: '\x28\xb5\x2f\xfd', name: 'compressed with Zstandard', kind: 'zstd' },
  { begin: 'PAR1', name: 'a Parquet file', kind: 'parquet' },
  {
    begin: zip,
    further: start => start.startsWith('mimetypeapplication/vnd.oasis.opendocument', zipName),
    ...openDocument,
  },
  // Not all programs write the type first, as they should.
  { begin: zip, ending: '.ods', ...openDocument },
  {
    begin: zip,
    further: start =>
      /^(?:Index\/Document\.iwa|Data\/PresetImageFill|[^/]*\.numbers\/)/.test(start.slice(zipName)),
    name: 'a Numbers file',
    instead: asWorkbook,
  },
  { begin: zip, name: 'a ZIP archive', kind: 'zip' },
  {
    begin: 'BZh',
    further: start => start.startsWith('1AY&SY', 4),
    name: 'compressed with bzip2',
    instead: 'Unpack it first: bunzip2 -k FILE.',
  },
  { begin: '\xfd7zXZ\0', name: 'compressed with xz', instead: 'Unpack it first: xz -dk FILE.' },
  { begin: '\x04"M\x18', name: 'compressed with LZ4', instead: 'Unpack it first: lz4 -d FILE.' },
  { begin: "7z\xbc\xaf'\x1c", name: 'a 7-Zip archive', instead: 'Unpack it first: 7z x FILE.' },
  { begin: 'Rar!\x1a\x07', name: 'a RAR archive', instead: 'Unpack it first: unrar x FILE.' },
  { begin: '\x1f\x9d', name: 'compressed with compress', instead: 'Unpack it first: uncompress -k FILE.' },
  { begin: 'LZIP\x01', name: 'compressed with lzip', instead: 'Unpack it first: lzip -dk FILE.' },
  {
    begin: '',
    ending: '.br',
    // Log names may end in .br too, for Brazilian domains.
    further: start => /[^\P{Cc}\t\n\r\x80-\x9f]/u.test(start),
    name: 'compressed with Brotli',
    instead: 'Unpack it first: brotli -dk FILE.',
  },
  {
    begin: '\xff\x06\0\0sNaPpY',
    name: 'compressed with Snappy',
    instead: 'Unpack it first: snzip -dk FILE.',
  },
  {
    begin: ']\0\0',
    further: start => [...start.slice(5, 13)].every(byte => byte === '\xff' || byte === '\0'),
    name: 'compressed with LZMA',
    instead: 'Unpack it first: xz -dk --format=lzma FILE.',
  },
  ...['\xd4\xc3\xb2\xa1', '\xa1\xb2\xc3\xd4', 'M<\xb2\xa1', '\xa1\xb2<M'].map(begin => ({
    begin,
    ...capture,
  })),
  {
    begin: '\n\r\r\n',
    further: start => ['\x1a+<M', 'M<+\x1a'].includes(start.slice(8, 12)),
    ...capture,
  },
  {
    begin: 'LPKSHHRH',
    name: 'a systemd journal',
    instead: 'Convert it first: journalctl --file FILE -o json > journal.ndjson.',
  },
  { begin: '\x89HDF\r\n\x1a\n', name: 'an HDF5 file', instead: intoText },
  { begin: 'ARROW1\0\0', name: 'an Arrow file', instead: intoText },
  {
    begin: '\xff\xff\xff\xff',
    // The length of a schema, which is a FlatBuffers table.
    further: start => start.length > 8 && start.charCodeAt(7) === 0 && start.charCodeAt(8) < 64,
    name: 'an Arrow stream',
    instead: intoText,
  },
  {
    begin: 'Obj\x01',
    name: 'an Avro file',
    instead: `${intoText} DuckDB does so: COPY (FROM read_avro('FILE')) TO 'events.parquet'.`,
  },
  {
    begin: 'ORC',
    further: start => [...start].some(character => character < '\t'),
    name: 'an ORC file',
    instead: `${intoText} In Python: pyarrow.parquet.write_table(pyarrow.orc.read_table('FILE'), 'events.parquet').`,
  },
  {
    begin: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    name: 'an old Excel workbook, or one with a password',
    instead: 'Save it as .xlsx without a password, or its sheet as CSV, first.',
  },
  { begin: 'SQLite format 3\0', name: 'an SQLite database', instead: intoText },
  {
    begin: 'ElfFile\0',
    name: 'a Windows event log',
    instead: 'Convert it first: wevtutil qe FILE /lf /f:xml.',
  },
  {
    begin: 'version https://git-lfs.github.com/spec/v1\n',
    name: 'a Git LFS pointer without the data',
    instead: 'Download the file first: git lfs pull.',
  },
];

const longestBegin = 256;

function packingAt(start: Buffer, file = ''): Packing | undefined {
  const text = start.toString('latin1', 0, longestBegin);
  return packings.find(
    ({ begin, ending = '', further }) =>
      text.startsWith(begin) && file.toLowerCase().endsWith(ending) && further?.(text) !== false,
  );
}

/** Returns the kind of a readable file that begins with these bytes, undefined for any other, such as text. */
export function beginsAs(start: Buffer): Packing['kind'] {
  return packingAt(start)?.kind;
}

/** Whether a file that begins with these bytes is from Office 2007 or later: a ZIP archive with certain parts. */
export function isOfficeFile(start: Buffer): boolean {
  return (
    beginsAs(start) === 'zip' &&
    /^(?:\[Content_Types\]\.xml|_rels\/|docProps\/|xl\/)/.test(
      start.toString('latin1', zipName, longestBegin),
    )
  );
}

/**
 * Returns the name of an unreadable format, judging by the first bytes and the file name, and how to convert it; undefined for a readable
 * one.
 */
export function unreadPacking(
  start: Buffer,
  file: string,
): { readonly name: string; readonly instead: string } | undefined {
  const { name, instead } = packingAt(start, file) ?? {};
  return name === undefined || instead === undefined ? undefined : { name, instead };
}

/** Returns the name of a format other than text, judging by the first bytes; undefined if none is recognized. */
export function packedAs(start: Buffer): string | undefined {
  return packingAt(start)?.name;
}
