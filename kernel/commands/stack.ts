import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Makes the stack of every error name the lines of kernel/ instead of those of the bundle. The source maps are read when a stack
 * is: Node's own option reads those of all modules at each start, which takes a tenth of a second.
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

/** A frame without a source map keeps its place. That of a package names its file: the maps do not have its lines. */
function sourcePlace(place: string, url: string, line: string, column: string): string {
  const entry = sourceMap(url)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) return place;
  const { href } = new URL(entry.originalSource, url);
  if (href.includes('/node_modules/')) return href;
  return `${href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

const maps = new Map<string, SourceMap | undefined>();

function sourceMap(url: string): SourceMap | undefined {
  if (!maps.has(url)) maps.set(url, readSourceMap(url));
  return maps.get(url);
}

function readSourceMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
