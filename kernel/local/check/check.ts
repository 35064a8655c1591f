import { lstat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type LayoutName, layout } from '../data-layout.js';
import { Engine } from '../engine/duckdb.js';
import { faultReason } from '../store/documents/documents.js';
import { hasCode, listed, systemFault } from '../store/store-files.js';
import { type CheckTools, type Fault, type FileKind, fileKinds, unlisted } from './kinds.js';

/** A faulty file in a data directory. */
export interface FaultyFile extends Fault {
  readonly file: string;
  readonly remedy: string;
}

/** Number of files read in a data directory, and the faults found. */
export interface DataReport {
  readonly files: number;
  readonly faults: readonly FaultyFile[];
}

/** Reads all user data files in a data directory, changing nothing. */
export async function checkData(dataDir: string): Promise<DataReport> {
  const engine = await Engine.open({ dataDir, families: [], connections: 1 });
  try {
    const faults: FaultyFile[] = [];
    const tools: CheckTools = { engine, dataDir, neighbors: new Map() };
    let files = 0;
    for await (const { file, kind } of filesIn(dataDir, dataDir)) {
      const fault = await faultOf(file, kind, tools);
      files += 1;
      if (fault !== undefined) faults.push({ file, remedy: kind.remedy, ...fault });
    }
    return { files, faults };
  } finally {
    await engine.close();
  }
}

/** Yields the files of known kinds, sorted by name, including a directory found in place of such a file. */
async function* filesIn(dataDir: string, directory: string): AsyncGenerator<Found> {
  const { names, fault } = await listed(directory);
  if (fault !== undefined) yield { file: directory, kind: unlisted(fault) };
  for (const name of [...names].sort()) {
    const file = join(directory, name);
    const place = relative(dataDir, file).split(sep).join('/');
    const kind = fileKinds.find(({ pattern }) => pattern.test(place));
    if (kind !== undefined) yield { file, kind };
    else if (await isDirectoryOfUser(place, file)) yield* filesIn(dataDir, file);
  }
}

interface Found {
  readonly file: string;
  readonly kind: FileKind;
}

/** Returns whether a path belongs to a directory named in the layout, whatever is there now, or to a dataset. */
async function isDirectoryOfUser(place: string, file: string): Promise<boolean> {
  if (Object.hasOwn(layout, place)) {
    const { is, of } = layout[place as LayoutName];
    return is === 'directory' && of === 'user';
  }
  if (!/^datasets\/[^./][^/]*$/.test(place)) return false;
  const found = await lstat(file).catch(() => undefined);
  return found?.isDirectory() === true || found?.isSymbolicLink() === true;
}

async function faultOf(file: string, kind: FileKind, tools: CheckTools): Promise<Fault | undefined> {
  try {
    const found = await kind.check(file, tools);
    return typeof found === 'string' ? { state: 'damaged', reason: found } : found;
  } catch (error) {
    // A running service may have removed files that it replaced.
    const isGone = hasCode(error, 'ENOENT') && systemFault(file, error) === undefined;
    return isGone ? undefined : { state: 'damaged', reason: `cannot be read: ${faultReason(error)}` };
  }
}
