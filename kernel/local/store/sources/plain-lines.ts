import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { writeCopy } from '../bounds/bounded-copies.js';
import { longestLine } from '../bounds/bounded-text.js';
import { writeValues } from '../readers/reader-values.js';

/** Whether most lines of a text are JSON objects, so that any other line is a separate event. */
export function isOfObjects(lines: readonly string[]): boolean {
  const isObjectLine = (line: string) => line.startsWith('{') && line.trimEnd().endsWith('}');
  return lines.filter(isObjectLine).length * 2 > lines.filter(line => line.trim() !== '').length;
}

/** A copy in which every line is an object. */
export interface Wrapped {
  readonly objects: number;
  /** Number of lines that were not objects. */
  readonly texts: number;
  /** Number of lines in which U+FFFD replaced bytes that are not UTF-8. */
  readonly broken: number;
  /** Whether the copy differs from the text. */
  readonly changed: boolean;
  /** Whether the JSON of the text is complete. */
  readonly whole: boolean;
}

/**
 * Copies a text, turning each line that is not a JSON object into the `message` of one, or dropping it with `drops`. Undefined if a line is
 * too long: the copy is then incomplete.
 */
export async function wrapLines(file: string, target: string, drops: boolean): Promise<Wrapped | undefined> {
  const wrapper = new Wrapper(drops);
  const chunks = createReadStream(file, { highWaterMark: chunkBytes });
  await writeCopy(target, [Readable.from(wrappedLines(chunks, wrapper))]);
  return wrapper.tooLong ? undefined : { ...wrapper.counts, changed: wrapper.changed, whole: true };
}

/** Copies the values of a text, see {@link writeValues}, like {@link wrapLines} copies lines. */
export async function wrapValues(file: string, target: string, drops: boolean): Promise<Wrapped> {
  const wrapper = new Wrapper(drops);
  const whole = await writeValues(file, target, { recovers: true, lines: text => [wrapper.line(text)] });
  return { ...wrapper.counts, changed: true, whole };
}

/** Returns an object with a text as its `message`, as a line of JSON. */
export function messageLine(text: string): string {
  return `${JSON.stringify({ message: text })}\n`;
}

async function* wrappedLines(chunks: AsyncIterable<Buffer>, wrapper: Wrapper): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end > 0) yield wrapper.lines(Buffer.concat([...rest.splice(0), chunk.subarray(0, end)]));
    rest = [...rest, chunk.subarray(end)];
    wrapper.tooLong = rest.length * chunkBytes > longestLine;
    if (wrapper.tooLong) return;
  }
  yield wrapper.lines(Buffer.concat(rest));
}

/** Wraps or drops lines, and counts them. */
class Wrapper {
  readonly #drops: boolean;
  tooLong = false;
  changed = false;
  #objects = 0;
  #texts = 0;
  #broken = 0;

  constructor(drops: boolean) {
    this.#drops = drops;
  }

  get counts(): Pick<Wrapped, 'objects' | 'texts' | 'broken'> {
    return { objects: this.#objects, texts: this.#texts, broken: this.#broken };
  }

  /** Keeps lines of objects byte for byte. */
  lines(text: Buffer): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf(lineFeed, at) + 1 || text.length;
      const line = text.subarray(at, end);
      const wrapped = this.line(line);
      if (wrapped !== line) {
        parts.push(text.subarray(from, at), wrapped);
        from = end;
        this.changed = true;
      }
      at = end;
    }
    return Buffer.concat([...parts, text.subarray(from)]);
  }

  /** Returns a line unchanged if it is blank or an object that the engine reads, otherwise an object that contains it, or a blank line. */
  line(bytes: Buffer): Buffer {
    const text = bytes.toString();
    const isWhole = isUtf8(bytes);
    const isMarked = text.startsWith('\ufeff');
    const plain = isMarked ? text.slice(1) : text;
    if (plain.trim() === '') return bytes;
    if (!isWhole) this.#broken += 1;
    if (plain.trimStart().startsWith('{') && isObject(plain)) {
      this.#objects += 1;
      if (isWhole) return isMarked ? bytes.subarray(3) : bytes;
      return Buffer.from(`${plain.trimEnd()}\n`);
    }
    this.#texts += 1;
    return Buffer.from(this.#drops ? '\n' : messageLine(plain.trimEnd()));
  }
}

/** Whether the engine reads a text as one object: it also accepts infinity, NaN and trailing commas, but no unpaired surrogates. */
function isObject(text: string): boolean {
  if (/\\u[dD][89a-fA-F]/.test(text) && halves.test(text.replaceAll('\\\\', ''))) return false;
  if (isJson(text)) return true;
  if (!/,\s*[}\]]|nan|inf/i.test(text)) return false;
  return isJson(
    text.replace(lenient, part => (part.startsWith('"') ? part : part.startsWith(',') ? '' : '0')),
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const halves = /\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]/;
const lenient = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:nan|inf(?:inity)?)\b|,(?=\s*[}\]])/gi;
const lineFeed = 0x0a;
const chunkBytes = 2 ** 20;
