import { lstat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type LayoutName, layout } from '../data-layout.js';
import { Engine } from '../engine/duckdb.js';
import { faultReason } from '../store/documents/documents.js';
import { hasCode, listed, systemFault } from '../store/store-files.js';
import { type CheckTools, type Fault, type FileKind, fileKinds, unlisted } from './kinds.js';

/** A file of a data directory with which something is wrong. */
export interface FaultyFile extends Fault {
  readonly file: string;
  readonly remedy: string;
}

/** What was read of a data directory, and what was found. */
export interface DataReport {
  readonly files: number;
  readonly faults: readonly FaultyFile[];
}

/** Reads all of every file in a data directory that holds something of the user's, and changes nothing. */
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

/** The files of a kind that is known, in the order of their names; a directory in the place of one is one of them. */
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

/** Whether a path is that of a directory which the layout names, whatever is in its place, or of a dataset. */
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
    // A service that works meanwhile removes files that it has replaced.
    const isGone = hasCode(error, 'ENOENT') && systemFault(file, error) === undefined;
    return isGone ? undefined : { state: 'damaged', reason: `cannot be read: ${faultReason(error)}` };
  }
}
