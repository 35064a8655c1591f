import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Maps the stack of every error to the lines of kernel/ instead of those of the bundle. Source maps are read when a stack is first used,
 * which Node itself does when a connection fails, and then only the maps of its lines: Node's own option reads all of them at each start.
 */
export function nameSourceLines(): void {
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map(frame => `    at ${String(frame).replace(PLACE, sourcePlace)}`)].join('\n');
}

const PLACE = /(file:\/\/[^\s()]+):(\d+):(\d+)/;

/** Returns the first line of a stack as Node writes it; the members of an error may be anything. */
function headOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

/**
 * Returns the source position of a frame. Without a source, as in the bundler's own code, it is unchanged. In a package, it names the file
 * only, as the maps lack its lines.
 */
function sourcePlace(place: string, url: string, line: string, column: string): string {
  const entry = sourceMap(url, Number(line))?.findEntry(0, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry) || !entry.originalSource) return place;
  const { href } = new URL(entry.originalSource, url);
  if (href.includes('/node_modules/')) return href;
  return `${href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

/** Source maps of a program's lines, not yet parsed. */
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
