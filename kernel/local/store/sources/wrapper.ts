import { createReadStream } from 'node:fs';
import { plural } from '../../../text.js';
import { LocalError } from '../../errors.js';
import { writeArrayAsLines } from '../readers/array.js';

/** The list in an object that holds the events of a file. */
interface List {
  /** The keys that lead to it. */
  readonly keys: readonly string[];
  /** Its brackets are the first and the last of these bytes, half open. */
  readonly start: number;
  readonly end: number;
  /** Its first value is an object. */
  readonly ofObjects: boolean;
}

/** The one object that a file consists of. */
interface Wrapper {
  readonly lists: readonly List[];
  /** The keys of the object itself. */
  readonly keys: readonly string[];
}

/** Names that programs give to the list of events in their answers. */
const usual =
  /^(?:records|items|values?|data|results?|logs|events|entries|hits|rows|messages|logEvents|features)$/i;

/**
 * Writes the events of a JSON file that is one object around a list, a line each: of the list at `path`, such as `data.items`, else of
 * the only one with a usual name. Returns what the import says of that; undefined if the file has no such list, and then nothing is
 * written. Throws LocalError if it has none at `path`.
 */
export async function writeList(
  file: string,
  target: string,
  name: string,
  path?: string,
): Promise<readonly string[] | undefined> {
  const wrapper = await wrapperOf(file);
  const list =
    wrapper &&
    (path === undefined ? onlyList(wrapper) : wrapper.lists.find(({ keys }) => keys.join('.') === path));
  if (path !== undefined && list === undefined) throw noList(name, path, wrapper?.lists ?? []);
  if (wrapper === undefined || list === undefined) return undefined;
  await writeArrayAsLines(file, target, { start: list.start, end: list.end - 1 });
  const others = wrapper.keys.filter(key => key !== list.keys[0]);
  const left =
    others.length === 0
      ? ''
      : ` Left out: ${plural(others.length, 'other field')} of the object around them, ${others
          .slice(0, 8)
          .map(key => `\`${key}\``)
          .join(', ')}.`;
  return [`The events are those of the list \`${list.keys.join('.')}\`.${left}`];
}

function onlyList({ lists }: Wrapper): List | undefined {
  const [list, ...others] = lists.filter(
    ({ keys, ofObjects }) => ofObjects && keys.every(key => usual.test(key)),
  );
  return others.length === 0 ? list : undefined;
}

function noList(name: string, path: string, lists: readonly List[]): LocalError {
  const found = lists.map(({ keys }) => keys.join('.')).slice(0, 20);
  return new LocalError('invalid', 'no-list', `${name} has no list ${JSON.stringify(path)}.`, {
    hint:
      found.length === 0
        ? 'It is not an object with a list of events in it.'
        : `Its lists are ${found.join(', ')}.`,
  });
}

/** Returns whether a file that begins like this may be one object. */
export function mayBeObject(start: Buffer): boolean {
  return new Scan().take(start);
}

/** Looks through a file up to the end of its first object; undefined if there is more than that, or no object. */
async function wrapperOf(file: string): Promise<Wrapper | undefined> {
  const scan = new Scan();
  for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 18 })) {
    if (!scan.take(chunk)) return undefined;
  }
  return scan.found;
}

const [quote, backslash, colon, comma, braceOpen, braceClose, bracketOpen, bracketClose] = [
  ...'"\\:,{}[]',
].map(character => character.charCodeAt(0));

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Keys that lead to a list, at most. */
const mostKeys = 3;

/** Follows the objects that hold one another from the outermost one in, and the lists in them. */
class Scan {
  readonly #lists: List[] = [];
  readonly #topKeys: string[] = [];
  /** The keys of the objects that are open, each undefined until it is read. */
  readonly #keys: (string | undefined)[] = [];
  /** What is open: an object whose keys are followed, or anything else. */
  readonly #open: ('followed' | 'other')[] = [];
  #list:
    | { keys: readonly string[]; start: number; depth: number; ofObjects: boolean | undefined }
    | undefined;
  #text: number[] | undefined;
  #inText = false;
  #escaped = false;
  #awaitsKey = false;
  #at = -1;
  #ended = false;

  get found(): Wrapper | undefined {
    return this.#ended ? { lists: this.#lists, keys: this.#topKeys } : undefined;
  }

  /** Returns whether the file may still be one object. */
  take(chunk: Buffer): boolean {
    for (const byte of chunk) {
      this.#at += 1;
      if (!this.#next(byte)) return false;
    }
    return true;
  }

  #next(byte: number): boolean {
    if (this.#inText) {
      this.#inString(byte);
      return true;
    }
    if (byte <= 0x20 || (this.#at < byteOrderMark.length && byte === byteOrderMark[this.#at])) return true;
    if (this.#ended || (this.#open.length === 0 && byte !== braceOpen)) return false;
    if (this.#list?.ofObjects === undefined && this.#list !== undefined && byte !== bracketClose)
      this.#list.ofObjects = byte === braceOpen;
    switch (byte) {
      case quote:
        this.#inText = true;
        this.#text = this.#awaitsKey ? [] : undefined;
        break;
      case comma:
        this.#awaitsKey = this.#open.at(-1) === 'followed';
        break;
      case colon:
        this.#awaitsKey = false;
        break;
      case braceOpen:
      case bracketOpen:
        this.#opens(byte === braceOpen);
        break;
      case braceClose:
      case bracketClose:
        this.#closes();
        break;
    }
    return true;
  }

  #inString(byte: number): void {
    if (!this.#escaped && byte === quote) {
      this.#inText = false;
      if (this.#text !== undefined) this.#named(Buffer.from(this.#text).toString());
      this.#text = undefined;
      return;
    }
    this.#text?.push(byte);
    this.#escaped = !this.#escaped && byte === backslash;
  }

  #named(key: string): void {
    this.#keys[this.#keys.length - 1] = key;
    if (this.#open.length === 1) this.#topKeys.push(key);
  }

  #opens(isObject: boolean): void {
    const isFollowed = this.#open.every(each => each === 'followed') && this.#open.length < mostKeys;
    const keys = this.#keys.map(key => key ?? '');
    if (!isObject && isFollowed && this.#list === undefined)
      this.#list = { keys, start: this.#at, depth: this.#open.length, ofObjects: undefined };
    const followed = isObject && isFollowed;
    this.#open.push(followed ? 'followed' : 'other');
    if (followed) this.#keys.push(undefined);
    this.#awaitsKey = followed;
  }

  #closes(): void {
    if (this.#open.pop() === 'followed') this.#keys.pop();
    const list = this.#list;
    if (list !== undefined && list.depth === this.#open.length) {
      this.#lists.push({
        keys: list.keys,
        start: list.start,
        end: this.#at + 1,
        ofObjects: list.ofObjects === true,
      });
      this.#list = undefined;
    }
    this.#awaitsKey = false;
    this.#ended = this.#open.length === 0;
  }
}
