import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { datedLines } from '../../../../api/logs/dated.js';
import type { Beginning } from '../../../../api/logs/log-format.js';
import { writeCopy } from '../../bounds/bounded-copies.js';

/** Placeholder for a line break within an event; no log contains it. */
export const lineBreak = '\u0001\u0002\u0004';

/** Maximum length of an event in characters: further lines become separate events. */
const longestEvent = 2 ** 20;

/** Returns the events of lines: lines that do not begin an event belong to the one before. */
export function eventsOf(lines: readonly string[], begins: Beginning): readonly string[] {
  const joiner = new Joiner(begins, '\n');
  return [...lines.flatMap(line => joiner.add(line)), ...joiner.end()];
}

/** Writes the events of a text file, one per line, with {@link lineBreak} between their lines. Bytes are unchanged. */
export async function writeEvents(file: string, target: string, begins: Beginning): Promise<void> {
  await writeCopy(target, [Readable.from(eventLines(file, begins))]);
}

async function* eventLines(file: string, begins: Beginning): AsyncGenerator<Buffer> {
  const joiner = new Joiner(begins, lineBreak);
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: chunkBytes })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    const events = lines.flatMap(line => joiner.add(withoutReturns(line)));
    if (events.length > 0) yield Buffer.from(`${events.join('\n')}\n`, 'latin1');
  }
  yield Buffer.from([...joiner.add(withoutReturns(rest)), ...joiner.end(), ''].join('\n'), 'latin1');
}

/** Keeps a carriage return within a line, as from a progress bar, from ending the event. */
function withoutReturns(line: string): string {
  return line.replace(/\r$/, '').replaceAll('\r', lineBreak);
}

const chunkBytes = 2 ** 20;

/** Returns a test for whether a line begins an event: in the format, or any other with a time. */
export function beginsEvent({ line }: Beginning): (text: string) => boolean {
  const begins = new RegExp(line, 'u');
  return text => {
    const start = text.slice(0, longestBegin);
    return begins.test(start) || (clock.test(start) && isDated(start));
  };
}

/** Cheap check that every dated line passes, and few lines within an event. */
const clock = /\d:/;

let dated: readonly RegExp[] | undefined;

/** Whether a line begins with a date. The expressions are long, so they are compiled once and on demand. */
function isDated(start: string): boolean {
  dated ??= datedLines.map(pattern => new RegExp(pattern, 'u'));
  return dated.some(each => each.test(start));
}

/** Joins the lines of events. */
class Joiner {
  readonly #begins: (text: string) => boolean;
  readonly #unless: RegExp | undefined;
  readonly #between: string;
  #lines: string[] = [];
  #length = 0;

  constructor(begins: Beginning, between: string) {
    const { unless } = begins;
    this.#begins = beginsEvent(begins);
    this.#unless = unless === undefined ? undefined : new RegExp(unless, 'u');
    this.#between = between;
  }

  /** Adds a line; returns the event before it if the line begins another. */
  add(line: string): readonly string[] {
    const isNext = this.#length + line.length > longestEvent || this.#isBegin(line);
    const before = isNext ? this.end() : [];
    this.#lines.push(line);
    this.#length += line.length + this.#between.length;
    return before;
  }

  #isBegin(line: string): boolean {
    if (!this.#begins(line)) return false;
    return this.#unless === undefined || !this.#unless.test(this.#lines.at(-1) ?? '');
  }

  /** Returns the current event without trailing blank lines. */
  end(): readonly string[] {
    const last = this.#lines.findLastIndex(line => line !== '');
    const event = this.#lines.slice(0, last + 1).join(this.#between);
    this.#lines = [];
    this.#length = 0;
    return event === '' ? [] : [event];
  }
}

/** Length of a line's beginning that patterns are tested on. */
const longestBegin = 512;
