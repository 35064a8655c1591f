/** Returns the beginning of a ZIP archive whose first file has this name. */
const zipOf = (name: string) => `PK\x03\x04${'\0'.repeat(26)}${name}`;

/** First bytes of unsupported files, one per character, their description, and the import's advice. */
export const packed: readonly (readonly [begin: string, what: string, instead: string])[] = [
  ['BZh11AY&SY\u0012', 'compressed with bzip2', 'Unpack it first: bunzip2 -k FILE'],
  ['\xfd7zXZ\0\0', 'compressed with xz', 'Unpack it first: xz -dk FILE'],
  ['\x04"M\x18d', 'compressed with LZ4', 'Unpack it first: lz4 -d FILE'],
  ['Rar!\x1a\x07\x01\0', 'a RAR archive', 'Unpack it first: unrar x FILE'],
  ['\x1f\x9d\x90', 'compressed with compress', 'Unpack it first: uncompress'],
  ['LZIP\x01', 'compressed with lzip', 'Unpack it first: lzip -dk FILE'],
  ['\xff\x06\0\0sNaPpY', 'compressed with Snappy', 'Unpack it first: snzip'],
  [`]\0\0\x80\0${'\xff'.repeat(8)}`, 'compressed with LZMA', 'Unpack it first: xz'],
  ['\xd4\xc3\xb2\xa1', 'a packet capture', 'Convert it first: tshark'],
  ['\xa1\xb2\xc3\xd4', 'a packet capture', 'Convert it first: tshark'],
  ['\n\r\r\n\x1c\0\0\0M<+\x1a', 'a packet capture', 'Convert it first: tshark'],
  ['LPKSHHRH', 'a systemd journal', 'Convert it first: journalctl'],
  ['\x89HDF\r\n\x1a\n', 'an HDF5 file', 'Convert it to Parquet'],
  ["7z\xbc\xaf'\x1c", 'a 7-Zip archive', 'Unpack it first: 7z x FILE'],
  ['ARROW1\0\0\xff', 'an Arrow file', 'Convert it to Parquet'],
  ['\xff\xff\xff\xff\x78\0\0\0\x10\0\0\0\0\0\n\0', 'an Arrow stream', 'Convert it to Parquet'],
  ['Obj\x01\x02', 'an Avro file', 'Convert it to Parquet .* read_avro'],
  ['ORC\x0a\x03\0', 'an ORC file', 'Convert it to Parquet .*pyarrow\\.orc'],
  [
    '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    'an old Excel workbook, or one with a password',
    'Save it as \\.xlsx without a password',
  ],
  [zipOf('mimetypeapplication/vnd.oasis.opendocument.text'), 'an OpenDocument file', 'Save it as \\.xlsx'],
  [zipOf('Index/Document.iwa'), 'a Numbers file', 'Save it as \\.xlsx'],
  [zipOf('Data/PresetImageFill3-19.jpg'), 'a Numbers file', 'Save it as \\.xlsx'],
  ['ElfFile\0\0', 'a Windows event log', 'Convert it first: wevtutil'],
  ['SQLite format 3\0', 'an SQLite database', 'Convert it to Parquet'],
  [
    'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n',
    'a Git LFS pointer without the data',
    'Download the file first: git lfs pull',
  ],
];
