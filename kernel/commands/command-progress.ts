import { basename } from 'node:path';
import { oneLine, partRead } from '../text.js';

/** Shows how much of an import has been read: on a terminal one line that is overwritten, elsewhere a line every ten seconds. */
export interface ProgressLine {
  /**
   * `share` is from 0 to 1, undefined while the source is looked at before it is read; `rows` is about how many it has, 0 if that is
   * not known.
   */
  show(share: number | undefined, rows: number): void;
  /** Clears the line. */
  end(): void;
}

/** The stream that progress is written to, as `process.stderr` is. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Returns the line of a file, a directory or a pattern; `clock` counts milliseconds. */
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
      const what = share === undefined ? 'looking at its values,' : `${partRead(share, rows)} in`;
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
