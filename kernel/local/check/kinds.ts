import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { loginsIn } from '../../api/login/login-store.js';
import { anySize, bytesOf, decodedLines, textOf } from '../../files.js';
import type { Engine } from '../engine/duckdb.js';
import { changedReason, unsealed } from '../sealed.js';
import { decodeLog } from '../store/append/records.js';
import { copiesAmong, copyReason, givenName } from '../store/dataset/dataset-copies.js';
import { FooterReader } from '../store/dataset/footers.js';
import { examinePart, idOf } from '../store/dataset/part-file.js';
import { fileOf, listSuffix, readReplacements } from '../store/dataset/replacement-list.js';
import { readWholeAnnotation, readWholeStar } from '../store/documents/contents.js';
import { leftOut } from '../store/documents/document-names.js';
import { jsonOf } from '../store/documents/documents.js';
import { readFormat } from '../store/store-format.js';
import { valuesDamage } from './check-parquet.js';

/**
 * A fault of a file, worded as in "it {reason}". A `changed` file may have been edited by hand and is still read, a `copied` one is ignored
 * in favor of the other, and a `misnamed` one is not read.
 */
export interface Fault {
  readonly state: 'damaged' | 'changed' | 'copied' | 'misnamed';
  readonly reason: string;
  /** Replaces the remedy of the file's kind. */
  readonly remedy?: string;
}

/** A kind of file in a data directory. */
export interface FileKind {
  /** Paths within the data directory, with slashes. */
  readonly pattern: RegExp;
  /** A sentence that says how to handle a damaged file. */
  readonly remedy: string;
  /** Reads the whole file and returns its fault; rejects with the system error, or with what the file is not. */
  readonly check: (file: string, tools: CheckTools) => Promise<Fault | string | undefined>;
}

export interface CheckTools {
  readonly engine: Engine;
  readonly dataDir: string;
  /** Contents of directories that may contain copies, by path. */
  readonly neighbors: Map<string, Promise<Neighbors>>;
}

/** File names in a directory, sorted, and names of files replaced by others there, whether or not they still exist. */
interface Neighbors {
  readonly names: readonly string[];
  readonly replaced: readonly string[];
}

const copy = 'restore a good copy, or move the file away to continue without its contents';

/** Every kind of file that contains user data. */
export const fileKinds: readonly FileKind[] = [
  {
    pattern: /^datasets\/[^/]+\/[^./][^/]*\.parquet$/,
    remedy: `${copy}; \`%drop\` deletes the dataset`,
    check: async (file, tools) =>
      (await copyFault(file, tools)) ??
      (await examinePart(file, basename(file))).damage ??
      (await valuesDamage(tools.engine, file)),
  },
  {
    pattern: /^datasets\/[^/]+\/[^/]+\.replaces$/,
    remedy: `${copy}: without it, replaced rows reappear`,
    check: async file =>
      (await readReplacements(file)) === undefined
        ? 'is damaged: it lists the files that were replaced'
        : undefined,
  },
  {
    pattern: /^datasets\/[^/]+\/[^/]+\.log$/,
    remedy: 'start the service and query the dataset: readable events are stored, and the rest is set aside',
    check: async (file, tools) => {
      const { damage } = decodeLog(await bytesOf(file, anySize));
      if (damage !== undefined) return 'is damaged: some of its batches cannot be read';
      return copyFault(file, tools);
    },
  },
  {
    pattern: /^datasets\/[^/]+\/dataset\.json$/,
    remedy: 'repair it or delete it; deleting it loses the descriptions of the dataset and its fields',
    check: async file => {
      const value = await jsonOf(file);
      return objectFault(value) ?? changeIn(unsealed(value));
    },
  },
  document(/^starred\/[^./][^/]*\.json$/, '%unstar', readWholeStar),
  document(/^annotations\/[^./][^/]*\.json$/, '%annotate --delete', readWholeAnnotation),
  lines(/^history\.jsonl$/, ['session']),
  lines(/^queries\.jsonl(?:\.old)?$/, ['at', 'profile', 'apl', 'startTime', 'endTime']),
  {
    pattern: /^format\.json$/,
    remedy: 'delete it: the next start creates it again',
    check: async (_, { dataDir }) => {
      const found = await readFormat(dataDir);
      return found.kind === 'damaged' ? `cannot be read: ${found.reason}` : undefined;
    },
  },
  {
    pattern: /^imports\.json$/,
    remedy: 'delete it: `%import --replace` asks again before it replaces the rows of a dataset',
    check: async file => {
      const value = await jsonOf(file);
      const isIntact = unsealed(value).intact === true;
      return objectFault(value) ?? (isIntact ? undefined : 'is damaged: its checksum does not match');
    },
  },
  {
    pattern: /^logins\.json$/,
    remedy: 'sign in again with `%login`, which sets this file aside',
    check: async file =>
      loginsIn(await textOf(file)).isDamaged ? 'is damaged: some of its sign-ins cannot be read' : undefined,
  },
  {
    pattern: /^service\.json$/,
    remedy: 'delete it: the next query starts a service that creates it again',
    check: async file => objectFault(await jsonOf(file)),
  },
];

/** Returns the kind of a user directory that cannot be listed, with the reason. */
export function unlisted(fault: string): FileKind {
  return {
    pattern: /^/,
    remedy: 'repair it, or move it away: a new one is created when needed',
    check: async () => fault,
  };
}

async function copyFault(file: string, tools: CheckTools): Promise<Fault | undefined> {
  const name = basename(file);
  if (givenName(name) === name) return undefined;
  const { names, replaced } = await neighborsOf(file, tools);
  const isCopy =
    replaced.map(givenName).includes(givenName(name)) || copiesAmong(names, replaced.map(idOf)).has(name);
  return isCopy
    ? { state: 'copied', reason: copyReason(name), remedy: 'delete it, or move it away' }
    : undefined;
}

function neighborsOf(file: string, { engine, neighbors }: CheckTools): Promise<Neighbors> {
  const directory = dirname(file);
  const found = neighbors.get(directory) ?? readNeighbors(directory, engine);
  neighbors.set(directory, found);
  return found;
}

async function readNeighbors(directory: string, engine: Engine): Promise<Neighbors> {
  const names = (await readdir(directory)).sort();
  const pathOf = (name: string) => join(directory, name);
  const lists = names.filter(name => name.endsWith(listSuffix) && names.includes(fileOf(name)));
  const listed = await Promise.all(lists.map(list => readReplacements(pathOf(list)).catch(() => undefined)));
  const parts = names.filter(name => name.endsWith('.parquet') && !name.startsWith('.'));
  const footers = await new FooterReader(engine).read(parts.map(pathOf));
  const noted = footers.map(footer => ('unreadable' in footer ? [] : footer.replaces));
  return { names, replaced: [...listed, ...noted].flatMap(each => each ?? []) };
}

function document(pattern: RegExp, deletedBy: string, read: (value: unknown) => unknown): FileKind {
  return {
    pattern,
    remedy: `repair it, or delete it with \`${deletedBy} ID\``,
    check: async (file, tools) => {
      const fault = leftOut(basename(file), (await neighborsOf(file, tools)).names);
      if (fault !== undefined) return fault;
      const { content, intact } = unsealed(await jsonOf(file));
      read(content);
      return changeIn({ intact });
    },
  };
}

function changeIn({ intact }: { readonly intact?: boolean | undefined }): Fault | undefined {
  return intact === false ? { state: 'changed', reason: changedReason } : undefined;
}

/**
 * Returns a kind of file with one JSON object per line, each with these string members; the last line may be incomplete if a kernel died.
 */
function lines(pattern: RegExp, texts: readonly string[]): FileKind {
  return {
    pattern,
    remedy: 'nothing to do: unreadable lines are skipped',
    check: async file => {
      const all = decodedLines(await bytesOf(file))
        .split('\n')
        .filter(line => line !== '');
      const wrong = all.filter(line => !holds(line, texts)).length;
      return wrong === 0 ? undefined : `is damaged: ${wrong} of its ${all.length} lines cannot be read`;
    },
  };
}

function holds(line: string, texts: readonly string[]): boolean {
  try {
    const { content, intact } = unsealed(JSON.parse(line));
    const value = content as Readonly<Record<string, unknown>>;
    return intact !== false && texts.every(name => typeof value[name] === 'string');
  } catch {
    return false;
  }
}

function objectFault(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : 'is damaged: it is not a JSON object';
}
