import { crc32 } from 'node:zlib';
import { textOf } from '../../../files.js';
import { writeDurably } from '../store-files.js';

/** Suffix of lists: `x.replaces` names the files that `x.parquet` replaces. */
export const listSuffix = '.replaces';

/** Returns the path of the list of a Parquet file. */
export function listOf(file: string): string {
  return file.replace(/\.parquet$/, listSuffix);
}

/** Returns the name of the Parquet file that a list belongs to. */
export function fileOf(list: string): string {
  return list.replace(listSuffix, '.parquet');
}

/** Writes the list of a Parquet file twice, each with a checksum, so that damage in one place leaves the other intact. */
export async function writeReplacements(file: string, names: readonly string[]): Promise<void> {
  const json = JSON.stringify(names);
  await writeDurably(listOf(file), `${json}\t${crc32(json)}\n`.repeat(2));
}

/**
 * Returns the names in a list, undefined if neither copy is intact. Lists of earlier versions are one line without a checksum. Rejects with
 * the system's error.
 */
export async function readReplacements(list: string): Promise<readonly string[] | undefined> {
  const text = await textOf(list);
  const lines = text.split(/\r?\n/);
  return (
    lines.map(line => checked(line)).find(names => names !== undefined) ??
    (lines.length === 1 ? namesIn(text) : undefined)
  );
}

function checked(line: string): readonly string[] | undefined {
  const [json = '', checksum] = line.split('\t');
  return checksum === String(crc32(json)) ? namesIn(json) : undefined;
}

function namesIn(json: string): readonly string[] | undefined {
  try {
    const names: unknown = JSON.parse(json);
    return Array.isArray(names) && names.every(isPartName) ? names : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is the name of a Parquet file in the same directory. */
function isPartName(name: unknown): name is string {
  return typeof name === 'string' && name.endsWith('.parquet') && !name.includes('/');
}
