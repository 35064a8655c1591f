import { basename } from 'node:path';
import { oneLine, partRead } from '../text.js';

/** Shows the progress of an import: on a terminal one line that is overwritten, elsewhere a line every ten seconds. */
export interface ProgressLine {
  /**
   * `share` is from 0 to 1, or undefined while the source is inspected before reading; `rows` is about how many it has, or 0 if unknown.
   */
  show(share: number | undefined, rows: number): void;
  /** Clears the line. */
  end(): void;
}

/** Stream for progress output, such as `process.stderr`. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Returns the progress line for a file, a directory or a pattern; `clock` counts milliseconds. */
export function progressLine(
  stream: ProgressStream,
  source: string,
  clock: () => number = () => performance.now(),
): ProgressLine {
  const name = oneLine(basename(source));
  const started = clock();
  let shownAt = started;
  return {
    show: (share, rows) => {
      const now = clock();
      const seconds = Math.floor((now - started) / 1_000);
      const what = share === undefined ? 'inspecting its values,' : `${partRead(share, rows)} in`;
      const text = `${name}: ${what} ${seconds} s`;
      if (stream.isTTY) stream.write(`\r${clearToEnd}${text}`);
      else if (now - shownAt >= plainMs) {
        stream.write(`${text}\n`);
        shownAt = now;
      }
    },
    end: () => {
      if (stream.isTTY) stream.write(`\r${clearToEnd}`);
    },
  };
}

const clearToEnd = '\x1b[K';
const plainMs = 10_000;
