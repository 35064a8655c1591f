import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { oneLine, partRead } from '../text.js';

/** Shows how much of a file has been read: on a terminal one line that is overwritten, elsewhere a line every ten seconds. */
export interface ProgressLine {
  /**
   * `share` is from 0 to 1, undefined while the file is looked at before it is read; `rows` is about how many the file has, 0 if
   * that is not known.
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

/** Returns the line of a file; `clock` counts milliseconds. */
export function progressLine(
  stream: ProgressStream,
  file: string,
  clock: () => number = () => performance.now(),
): ProgressLine {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const name = oneLine(basename(file));
  const started = clock();
  let shownAt = started;
  return {
    show: (share, rows) => {
      const now = clock();
      const seconds = Math.floor((now - started) / 1_000);
      const what = share === undefined ? 'looking at its values,' : `${partRead(share, size, rows)} in`;
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
