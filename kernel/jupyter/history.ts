import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { decodedLines, mostBytes, openFileSync } from '../files.js';
import { appendLine, unsealed } from '../local/sealed.js';
import { systemRefusal } from '../machine.js';
import { plural, withoutTokens } from '../text.js';
import { matchesGlob } from './glob.js';
import type { HistoryQuery } from './jupyter-requests.js';

/** One executed cell: session number, execution count, source. */
export interface HistoryEntry {
  readonly session: number;
  readonly line: number;
  readonly source: string;
}

/**
 * The cells run in this session and all earlier ones.
 *
 * The file has one JSON object per line and is append-only: kernels share it without a lock. A session's number is the index of its
 * opening line among those of all sessions, so that every kernel counts alike. Lines left incomplete by a crash or otherwise damaged
 * are skipped and logged.
 */
export class History {
  readonly #sessionId = randomUUID();
  readonly #file: string | undefined;
  readonly #log: (line: string) => void;
  readonly #sessions = new Map<string, number>();
  readonly #entries: HistoryEntry[] = [];
  readonly #outputs = new Map<number, string>();
  /** Known cells, by session, line and checksum: a file that was truncated or replaced is read again from the beginning. */
  readonly #known = new Set<string>();
  #inode: number | undefined;
  #readBytes = 0;
  #opened = false;
  #broken = false;

  /** With `file` undefined or unusable, the history lasts as long as the kernel. */
  constructor(file: string | undefined, log: (line: string) => void) {
    this.#file = file;
    this.#log = log;
  }

  /** Adds a cell of this session. */
  append(line: number, source: string): void {
    if (!this.#opened) this.#write({ session: this.#sessionId, started: new Date().toISOString() });
    this.#opened = true;
    this.#write({ session: this.#sessionId, line, source: withoutTokens(source) });
  }

  /** Stores a cell's result as text, for this session only and never in the file: results are the user's data. */
  recordOutput(line: number, text: string): void {
    if (text.length > MAX_OUTPUT_CHARACTERS) return;
    this.#outputs.set(line, text);
    for (const oldest of this.#outputs.keys()) {
      if (this.#outputs.size <= MAX_OUTPUTS) break;
      this.#outputs.delete(oldest);
    }
  }

  /** Returns a cell's result as text; undefined if it had none or it was discarded. */
  outputOf(entry: HistoryEntry): string | undefined {
    return entry.session === this.#current() ? this.#outputs.get(entry.line) : undefined;
  }

  /** Returns the cells that match `query`, oldest first. */
  list(query: HistoryQuery): HistoryEntry[] {
    this.#readNew();
    const entries = this.#entries.toSorted((a, b) => a.session - b.session || a.line - b.line);
    switch (query.access) {
      case 'tail':
        return last(entries, query.n);
      case 'range':
        return this.#range(entries, query);
      case 'search': {
        const found = entries.filter(entry => matchesGlob(query.pattern, entry.source));
        return last(query.unique ? latestOfEach(found) : found, query.n);
      }
    }
  }

  #range(
    entries: readonly HistoryEntry[],
    query: Extract<HistoryQuery, { access: 'range' }>,
  ): HistoryEntry[] {
    const session = query.session > 0 ? query.session : this.#current() + query.session;
    const lines = entries.filter(entry => entry.session === session);
    const end = (lines.at(-1)?.line ?? 0) + 1;
    const fromEnd = (line: number) => (line < 0 ? end + line : line);
    const start = fromEnd(query.start);
    const stop = query.stop === undefined ? end : fromEnd(query.stop);
    return lines.filter(({ line }) => line >= start && line < stop);
  }

  /** Returns the number of this session, or the number it would get now if it has no cells yet. */
  #current(): number {
    return this.#sessions.get(this.#sessionId) ?? this.#sessions.size + 1;
  }

  #write(record: JsonRecord): void {
    if (this.#file === undefined || this.#broken) {
      this.#take(record);
      return;
    }
    try {
      appendLine(this.#file, record);
    } catch (cause) {
      this.#fallBack(cause);
      this.#take(record);
    }
  }

  #readNew(): void {
    if (this.#file === undefined || this.#broken) return;
    try {
      const { lines, end, inode } = readLines(this.#file, this.#inode, this.#readBytes);
      this.#inode = inode;
      this.#readBytes = end;
      const records = lines.filter(line => line !== '').map(parseRecord);
      for (const record of records) this.#take(record);
      const unread = records.filter(record => record === undefined).length;
      if (unread > 0) this.#log(`${plural(unread, 'damaged line')} of ${this.#file} left out`);
    } catch (cause) {
      if (!isMissing(cause)) this.#fallBack(cause);
    }
  }

  #fallBack(cause: unknown): void {
    this.#broken = true;
    const reason = systemRefusal(cause)?.reason ?? (cause instanceof Error ? cause.message : String(cause));
    this.#log(`the history is kept in memory only, as ${this.#file} cannot be used: ${reason}`);
  }

  #take(record: JsonRecord | undefined): void {
    if (!record) return;
    const known = this.#sessions.get(record.session);
    // A session whose opening line is damaged begins at its first cell.
    const session = known ?? this.#sessions.size + 1;
    if (known === undefined) this.#sessions.set(record.session, session);
    const { line, source } = record;
    // Older files may contain tokens.
    if (line === undefined || source === undefined) return;
    const cell = `${session} ${line} ${crc32(source)}`;
    if (this.#known.has(cell)) return;
    this.#known.add(cell);
    this.#entries.push({ session, line, source: withoutTokens(source) });
  }
}

const MAX_OUTPUTS = 1_000;
const MAX_OUTPUT_CHARACTERS = 64 * 1024;

/** A session's opening line has `started`; a cell's line has `line` and `source`. */
interface JsonRecord {
  readonly session: string;
  readonly started?: string;
  readonly line?: number;
  readonly source?: string;
}

function parseRecord(line: string): JsonRecord | undefined {
  try {
    const { content, intact } = unsealed(JSON.parse(line));
    const record = content as Partial<Record<keyof JsonRecord, unknown>> | null;
    if (intact === false || typeof record?.session !== 'string') return undefined;
    const { session, line: number, source } = record;
    if (typeof number === 'number' && typeof source === 'string') return { session, line: number, source };
    return typeof record.started === 'string' ? { session } : undefined;
  } catch {
    return undefined;
  }
}

const NEWLINE = 10;

interface NewLines {
  readonly lines: readonly string[];
  readonly end: number;
  readonly inode: number;
}

/**
 * Returns the complete lines after byte `read`, or all lines if the file was replaced or truncated, and the offset of the next one.
 * Skips the oldest lines beyond the read limit.
 */
function readLines(file: string, inode: number | undefined, read: number): NewLines {
  const handle = openFileSync(file);
  try {
    const { ino, size } = fstatSync(handle);
    const next = ino === inode && size >= read ? read : 0;
    const start = Math.max(next, size - mostBytes);
    const bytes = Buffer.alloc(size - start);
    const length = readSync(handle, bytes, 0, bytes.length, start);
    const last = bytes.subarray(0, length).lastIndexOf(NEWLINE);
    // In UTF-16 a line break has two bytes.
    const complete = last + (bytes[last + 1] === 0 ? 2 : 1);
    const first = start > next ? bytes.indexOf(NEWLINE) + 1 : 0;
    const text = decodedLines(bytes.subarray(first, complete));
    return { lines: text.split('\n'), end: start + complete, inode: ino };
  } finally {
    closeSync(handle);
  }
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}

function last<T>(items: readonly T[], n: number | undefined): T[] {
  if (n === undefined) return [...items];
  return n <= 0 ? [] : items.slice(-n);
}

function latestOfEach(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const latest = new Map<string, HistoryEntry>();
  for (const entry of entries) {
    latest.delete(entry.source);
    latest.set(entry.source, entry);
  }
  return [...latest.values()];
}
