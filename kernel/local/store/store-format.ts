import { AplKernelError } from '../../errors.js';
import { textOf } from '../../files.js';
import { inDataDir } from '../data-layout.js';
import { sealedText, unsealed } from '../sealed.js';
import { hasCode, replaceFile } from './store-files.js';

/**
 * Format of the data directory that this version writes. Format 0 had no format file and is otherwise identical: programs of that time can
 * still read the current format.
 */
const dataFormat = 1;

/** Format of a data directory, and the version of the program that wrote it, as far as known. */
type FoundFormat =
  | { readonly kind: 'known'; readonly format: number; readonly version: string }
  /** The file cannot be read for this `reason`. */
  | { readonly kind: 'damaged'; readonly reason: string };

/** Returns the path of a data directory's format file. */
function formatFile(dataDir: string): string {
  return inDataDir(dataDir, 'format.json');
}

/** Returns the format of a data directory, 0 if there is no format file. */
export async function readFormat(dataDir: string): Promise<FoundFormat> {
  try {
    const { content, intact } = unsealed(JSON.parse(await textOf(formatFile(dataDir))));
    // One flipped bit turns a 1 into a 3, and a newer format blocks everything.
    if (intact === false) return { kind: 'damaged', reason: 'its checksum does not match its content' };
    const { format, version } = (content ?? {}) as { readonly format?: unknown; readonly version?: unknown };
    if (typeof format !== 'number' || !Number.isSafeInteger(format))
      return { kind: 'damaged', reason: 'it contains no format number' };
    return { kind: 'known', format, version: String(version) };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { kind: 'known', format: 0, version: '0.1.0' };
    return { kind: 'damaged', reason: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Throws AplKernelError if a data directory has a newer format. An unreadable format counts as the current one: a damaged file of twenty
 * bytes must not block everything.
 */
export async function checkFormat(dataDir: string): Promise<FoundFormat> {
  const found = await readFormat(dataDir);
  if (found.kind === 'damaged' || found.format <= dataFormat) return found;
  const { format, version } = found;
  throw new AplKernelError(
    'data-format',
    `apl-kernel ${version} wrote ${dataDir} in format ${format}, but this version reads only up to format ${dataFormat}`,
    { hint: `Update apl-kernel to ${version} or later, or set APL_KERNEL_DATA to another directory.` },
  );
}

/**
 * Upgrades a data directory to the current format, which is written last: a process killed before that repeats the upgrade. A read-only
 * directory stays unchanged. Throws AplKernelError if it has a newer format.
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
    await replaceFile(formatFile(dataDir), text).catch(error =>
      log(`the data format was not recorded: ${error}`),
    );
  }
}
