import { closeSync, openSync, readdirSync, statfsSync } from 'node:fs';
import { devNull, freemem, loadavg, tmpdir, totalmem } from 'node:os';
import process from 'node:process';
import { memoryAtMost } from '../../machine.js';
import { formatCount } from '../../text.js';

/** What this process can run out of. */
export type Scarce = 'disk space' | 'memory' | 'open files';

/** Returns what there is nearly none left of; undefined when there is enough of everything. */
export function scarceResource(directories: readonly string[] = [tmpdir()]): Scarce | undefined {
  if (openError() !== undefined) return 'open files';
  if (directories.some(each => (freeBytes(each) ?? leastFree) < leastFree)) return 'disk space';
  return freemem() < totalmem() * leastShare ? 'memory' : undefined;
}

/** Returns how much is left, and in use, of what this process can run out of, for the log. */
export function describeResources(directories: readonly string[] = [tmpdir()]): string {
  // The system tells everything else by files.
  const error = openError();
  if (error !== undefined) return error;
  const { rss } = process.memoryUsage();
  return [
    `memory: ${mebibytes(freemem())} of ${mebibytes(totalmem())} free, ${mebibytes(rss)} of at most ${mebibytes(memoryAtMost())} in use`,
    ...directories.map(each => `disk: ${mebibytes(freeBytes(each))} free for ${each}`),
    `open files: ${openFiles()}`,
    `load: ${loadavg()[0]?.toFixed(1)}`,
  ].join('; ');
}

/** In bytes. */
const leastFree = 2 ** 20;

const leastShare = 0.02;

/** Why no file can be opened; undefined when one can. */
function openError(): string | undefined {
  try {
    closeSync(openSync(devNull, 'r'));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** None without free inodes; undefined where the directory is gone or the system does not tell. */
function freeBytes(directory: string): number | undefined {
  try {
    const { blocks, bavail, bsize, files, ffree } = statfsSync(directory);
    if (blocks === 0) return undefined;
    return files > 0 && ffree === 0 ? 0 : bavail * bsize;
  } catch {
    return undefined;
  }
}

function openFiles(): string {
  try {
    return formatCount(readdirSync('/proc/self/fd').length);
  } catch {
    return 'unknown';
  }
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? 'unknown' : `${formatCount(Math.floor(bytes / 2 ** 20))} MiB`;
}
