import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Stands for a line break within an event: no log holds it. */
export const lineBreak = '\u0001\u0002\u0004';

/** Characters of an event, at most: the lines after that are events of their own. */
const longestEvent = 2 ** 20;

/** Returns the events of lines: one begins at each line that matches `begins`, and those that follow belong to it. */
export function eventsOf(lines: readonly string[], begins: string): readonly string[] {
  const joiner = new Joiner(begins, '\n');
  return [...lines.flatMap(line => joiner.add(line)), ...joiner.end()];
}

/** Writes the events of a text file, a line each, with {@link lineBreak} between their lines. Bytes stay as they are. */
export async function writeEvents(file: string, target: string, begins: string): Promise<void> {
  const events = Readable.from(eventLines(file, begins));
  await pipeline(events, createWriteStream(target, { mode: 0o600, encoding: 'latin1' }));
}

async function* eventLines(file: string, begins: string): AsyncGenerator<string> {
  const joiner = new Joiner(begins, lineBreak);
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: chunkBytes })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    const events = lines.flatMap(line => joiner.add(line.replace(/\r$/, '')));
    if (events.length > 0) yield `${events.join('\n')}\n`;
  }
  yield [...joiner.add(rest), ...joiner.end(), ''].join('\n');
}

const chunkBytes = 2 ** 20;

/** Collects the lines of one event. */
class Joiner {
  readonly #begins: RegExp;
  readonly #between: string;
  #lines: string[] = [];
  #length = 0;

  constructor(begins: string, between: string) {
    this.#begins = new RegExp(begins, 'u');
    this.#between = between;
  }

  /** Takes a line; returns the event before it if the line begins another. */
  add(line: string): readonly string[] {
    const isNext =
      this.#length + line.length > longestEvent || this.#begins.test(line.slice(0, longestBegin));
    const before = isNext ? this.end() : [];
    this.#lines.push(line);
    this.#length += line.length + this.#between.length;
    return before;
  }

  /** Returns the event of the lines since the last one, without the blank lines at its end. */
  end(): readonly string[] {
    const last = this.#lines.findLastIndex(line => line !== '');
    const event = this.#lines.slice(0, last + 1).join(this.#between);
    this.#lines = [];
    this.#length = 0;
    return event === '' ? [] : [event];
  }
}

/** The pattern for the beginning of an event looks no further. */
const longestBegin = 512;
