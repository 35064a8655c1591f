import { AplKernelError } from '../../errors.js';
import { textOf } from '../../files.js';
import { inDataDir } from '../data-layout.js';
import { sealedText, unsealed } from '../sealed.js';
import { hasCode, replaceFile } from './store-files.js';

/**
 * The format of a data directory that this program writes. Format 0 had no file that says so, and is otherwise the same: a program of
 * that time can still read what this one writes.
 */
const dataFormat = 1;

/** The format of a data directory, and the version of the program that wrote it, as far as is known. */
type FoundFormat =
  | { readonly kind: 'known'; readonly format: number; readonly version: string }
  /** The file cannot be read, and `reason` says why. */
  | { readonly kind: 'damaged'; readonly reason: string };

/** Returns the file in which a data directory holds its format. */
function formatFile(dataDir: string): string {
  return inDataDir(dataDir, 'format.json');
}

/** Returns the format of a data directory; 0 if no file holds it. */
export async function readFormat(dataDir: string): Promise<FoundFormat> {
  try {
    const { content, intact } = unsealed(JSON.parse(await textOf(formatFile(dataDir))));
    // One bit makes a 3 of a 1, and a newer format stops everything.
    if (intact === false) return { kind: 'damaged', reason: 'its checksum does not fit its content' };
    const { format, version } = (content ?? {}) as { readonly format?: unknown; readonly version?: unknown };
    if (typeof format !== 'number' || !Number.isSafeInteger(format))
      return { kind: 'damaged', reason: 'it holds no number of a format' };
    return { kind: 'known', format, version: String(version) };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { kind: 'known', format: 0, version: '0.1.0' };
    return { kind: 'damaged', reason: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Throws AplKernelError for a data directory of a newer format. One whose format cannot be read is taken for one of this program's:
 * a damaged file of twenty bytes must not stop everything.
 */
export async function checkFormat(dataDir: string): Promise<FoundFormat> {
  const found = await readFormat(dataDir);
  if (found.kind === 'damaged' || found.format <= dataFormat) return found;
  const { format, version } = found;
  throw new AplKernelError(
    'data-format',
    `apl-kernel ${version} has written ${dataDir} in format ${format}, and this version reads up to format ${dataFormat}`,
    { hint: `Update apl-kernel to ${version} or later, or set APL_KERNEL_DATA to another directory.` },
  );
}

/**
 * Makes a data directory one of this program's format, which only then is written down: a program that is killed before does it again.
 * A directory that cannot be written stays as it is. Throws AplKernelError for one of a newer format.
 */
export async function openFormat(
  dataDir: string,
  version: string,
  log: (text: string) => void,
): Promise<void> {
  const found = await checkFormat(dataDir);
  if (found.kind === 'damaged') log(`${formatFile(dataDir)} cannot be read: ${found.reason}`);
  else if (found.format < dataFormat) {
    const text = sealedText({ format: dataFormat, version });
    await replaceFile(formatFile(dataDir), text).catch(error => log(`the format is not noted: ${error}`));
  }
}
