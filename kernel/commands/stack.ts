import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Makes the stack of every error name the lines of kernel/ instead of those of the bundle. The source maps are read when a stack
 * is, which Node does itself when a connection fails, and then those of its lines: Node's own option reads all at each start.
 */
export function nameSourceLines(): void {
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map(frame => `    at ${String(frame).replace(PLACE, sourcePlace)}`)].join('\n');
}

const PLACE = /(file:\/\/[^\s()]+):(\d+):(\d+)/;

/** As Node begins a stack; the members of an error may be anything. */
function headOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

/** A frame of no source, such as the bundler's own, keeps its place. That of a package names its file: the maps do not have its lines. */
function sourcePlace(place: string, url: string, line: string, column: string): string {
  const entry = sourceMap(url, Number(line))?.findEntry(0, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry) || !entry.originalSource) return place;
  const { href } = new URL(entry.originalSource, url);
  if (href.includes('/node_modules/')) return href;
  return `${href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

/** The maps of a program's lines, not parsed yet. */
const maps = new Map<string, readonly string[]>();

function sourceMap(url: string, line: number): SourceMap | undefined {
  const lines = maps.get(url) ?? readMaps(url);
  maps.set(url, lines);
  const map = lines[line - 1];
  return map === undefined ? undefined : new SourceMap(JSON.parse(map));
}

function readMaps(url: string): readonly string[] {
  try {
    return readFileSync(`${fileURLToPath(url)}.lines`, 'utf8').split('\n');
  } catch {
    return [];
  }
}
