import { createReadStream } from 'node:fs';
import { plural } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { writeValues } from '../readers/reader-values.js';
import { asArgument } from '../times/timeless.js';

/** A list of events within an object. */
interface List {
  /** Path of keys to the list. */
  readonly keys: readonly string[];
  /** Byte range from its opening to its closing bracket, half-open. */
  readonly start: number;
  readonly end: number;
  /** Whether its first value is an object. */
  readonly ofObjects: boolean;
  /** Whether it has several values. */
  readonly several: boolean;
}

/** The object that a file consists of, or several concatenated objects with one key each. */
interface Wrapper {
  readonly lists: readonly List[];
  /** Paths of the keys of the object itself and of the objects in it, down to the lists. */
  readonly keys: readonly (readonly string[])[];
  /** Number of objects. */
  readonly objects: number;
  /** Whether the file ends within a list. */
  readonly isCut: boolean;
  /** Number of bytes up to its end. */
  readonly end: number;
}

/** Names that programs use for the list of events in a response. */
const usual =
  /^(?:records|items|values?|data|results?|logs|events|entries|hits|rows|messages|logEvents|features|matches|findings|alerts|incidents|issues|jobs|runs|spans|datapoints)$/i;

/** Names of events after another word, as in `traceEvents` and `workflow_runs`. */
const prefixed = (() => {
  const words =
    'records items results logs events entries messages findings alerts incidents issues jobs runs activities requests'.split(
      ' ',
    );
  const capitalized = words.map(word => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  return new RegExp(`_(?:${words.join('|')})$|[a-z](?:${capitalized.join('|')})$`);
})();

/** Lists whose names are not the usual ones: HTTP archives. */
const known: readonly string[] = ['log.entries'];

/**
 * Writes the events of a JSON file with one or several objects around a list, one per line: the list at `path`, such as `data.items`,
 * otherwise the only one with a usual name. Returns notes for the import report, and whether it has written them: if not, the file is one
 * event or several. Throws LocalError if there is no list at `path`.
 */
export async function writeList(
  file: string,
  target: string,
  name: string,
  path?: string,
): Promise<{ readonly written: boolean; readonly notes: readonly string[] }> {
  const wrapper = await wrapperOf(file);
  const found = wrapper && listsAt(wrapper, path);
  const [list] = found ?? [];
  if (path !== undefined && list === undefined) throw noList(name, path, wrapper?.lists ?? []);
  if (wrapper === undefined || found === undefined || list === undefined)
    return { written: false, notes: largeListNotes(wrapper) };
  for (const { start, end } of found) await writeValues(file, target, { start, end: end - 1 });
  const others = wrapper.keys.filter(keys => isBeside(keys, list.keys)).map(keys => keys.join('.'));
  const left =
    others.length === 0
      ? ''
      : ` Skipped ${plural(others.length, 'other field')} of the enclosing object: ${others
          .slice(0, 8)
          .map(key => `\`${key}\``)
          .join(', ')}.`;
  const where = wrapper.objects === 1 ? 'list' : `lists in ${plural(wrapper.objects, 'object')},`;
  const cut = wrapper.isCut ? ['The JSON is incomplete: the file may be truncated.'] : [];
  return {
    written: true,
    notes: [`The events come from the ${where} \`${list.keys.join('.')}\`.${left}`, ...cut],
  };
}

/** Whether a key is in the object around a list, or around that, and does not lead to the list. */
function isBeside(keys: readonly string[], list: readonly string[]): boolean {
  return keys.every((key, index) => (key === list[index]) === index < keys.length - 1);
}

/** Returns a note about a list of objects that makes up most of the one object of a file. */
function largeListNotes(wrapper: Wrapper | undefined): readonly string[] {
  const list = wrapper?.lists.find(
    ({ ofObjects, several, start, end }) => ofObjects && several && (end - start) * 2 > wrapper.end,
  );
  if (wrapper?.objects !== 1 || list === undefined) return [];
  const name = list.keys.join('.');
  return [
    `The file is one event: \`--path ${asArgument(name)}\` reads the objects in \`${name}\` as events.`,
  ];
}

/** Returns the list at a path, otherwise the only one with a usual name; with several objects, one list per object. */
function listsAt({ lists, objects }: Wrapper, path: string | undefined): readonly List[] | undefined {
  if (objects === 1) {
    if (path !== undefined) return onlyOne(lists.filter(({ keys }) => keys.join('.') === path));
    const ofEvents = lists.filter(({ ofObjects }) => ofObjects);
    const named = ofEvents.filter(
      ({ keys }) => keys.every(key => usual.test(key)) || known.includes(keys.join('.')),
    );
    return onlyOne(named.length > 0 ? named : ofEvents.filter(hasPrefix));
  }
  return lists.length === objects && lists.every(({ keys }) => ofSeveral.test(keys.join('.')))
    ? lists
    : undefined;
}

function onlyOne(lists: readonly List[]): readonly List[] | undefined {
  return lists.length === 1 ? lists : undefined;
}

/** Whether the last key is a prefixed name of events, and those before it are usual names. */
function hasPrefix({ keys }: List): boolean {
  return prefixed.test(keys.at(-1) ?? '') && keys.slice(0, -1).every(key => usual.test(key));
}

/** List in concatenated objects, as in cloud logs. In files of other programs, an object with one list is itself an event. */
const ofSeveral = /^records$/i;

function noList(name: string, path: string, lists: readonly List[]): LocalError {
  const found = lists.map(({ keys }) => keys.join('.')).slice(0, 20);
  return new LocalError('invalid', 'no-list', `${name} has no list ${JSON.stringify(path)}.`, {
    hint:
      found.length === 0
        ? 'It is not an object with a list of events.'
        : `Its lists are ${found.join(', ')}.`,
  });
}

/** Returns whether a file that begins with these bytes may be one object. */
export function mayBeObject(start: Buffer): boolean {
  return new Scan().take(start);
}

/** Scans a file up to the end of its first object; undefined if anything else follows, or there is no object. */
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

/** Maximum number of keys kept: an object that has more of them is not an event around a list. */
const mostNamed = 100_000;

/** Maximum length of a path to a list. */
const mostKeys = 3;

interface OpenList {
  readonly keys: readonly string[];
  readonly start: number;
  readonly depth: number;
  ofObjects: boolean | undefined;
  several: boolean;
}

/** Tracks nested objects, from the outermost inward, and the lists in them. */
class Scan {
  readonly #lists: List[] = [];
  #named: (readonly string[])[] = [];
  /** Current key of each open object, undefined until it is read. */
  readonly #keys: (string | undefined)[] = [];
  /** Open values: an object whose keys are tracked, or anything else. */
  readonly #open: ('followed' | 'other')[] = [];
  #list: OpenList | undefined;
  #objects = 0;
  #text: number[] | undefined;
  #inText = false;
  #escaped = false;
  #awaitsKey = false;
  #at = -1;
  #ended = false;

  get found(): Wrapper | undefined {
    const cut = this.#ended ? undefined : this.#list;
    if (!this.#ended && cut?.ofObjects !== true) return undefined;
    const lists = cut === undefined ? this.#lists : [...this.#lists, this.#listTo(cut)];
    return {
      lists,
      keys: this.#named,
      objects: this.#objects,
      isCut: cut !== undefined,
      end: this.#at + 1,
    };
  }

  #listTo({ keys, start, ofObjects, several }: OpenList): List {
    return { keys, start, end: this.#at + 1, ofObjects: ofObjects === true, several };
  }

  /** Reads a chunk; returns whether the file may still be one object. */
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
    if (this.#open.length === 0 && (byte !== braceOpen || !this.#begins())) return false;
    if (this.#list?.ofObjects === undefined && this.#list !== undefined && byte !== bracketClose)
      this.#list.ofObjects = byte === braceOpen;
    switch (byte) {
      case quote:
        this.#inText = true;
        this.#text = this.#awaitsKey ? [] : undefined;
        break;
      case comma:
        this.#awaitsKey = this.#open.at(-1) === 'followed';
        if (this.#list?.depth === this.#open.length - 1) this.#list.several = true;
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

  /** Whether another object may follow the previous ones. */
  #begins(): boolean {
    if (this.#ended && (this.#named.length > 1 || !ofSeveral.test(this.#named[0]?.[0] ?? ''))) return false;
    this.#named = [];
    this.#objects += 1;
    this.#ended = false;
    return true;
  }

  #inString(byte: number): void {
    if (!this.#escaped && byte === quote) {
      this.#inText = false;
      if (this.#text !== undefined) this.#names(Buffer.from(this.#text).toString());
      this.#text = undefined;
      return;
    }
    this.#text?.push(byte);
    this.#escaped = !this.#escaped && byte === backslash;
  }

  #names(key: string): void {
    this.#keys[this.#keys.length - 1] = key;
    if (this.#named.length < mostNamed) this.#named.push(this.#keys.map(each => each ?? ''));
  }

  #opens(isObject: boolean): void {
    const isFollowed = this.#open.every(each => each === 'followed') && this.#open.length < mostKeys;
    const keys = this.#keys.map(key => key ?? '');
    if (!isObject && isFollowed && this.#list === undefined)
      this.#list = { keys, start: this.#at, depth: this.#open.length, ofObjects: undefined, several: false };
    const followed = isObject && isFollowed;
    this.#open.push(followed ? 'followed' : 'other');
    if (followed) this.#keys.push(undefined);
    this.#awaitsKey = followed;
  }

  #closes(): void {
    if (this.#open.pop() === 'followed') this.#keys.pop();
    const list = this.#list;
    if (list !== undefined && list.depth === this.#open.length) {
      this.#lists.push(this.#listTo(list));
      this.#list = undefined;
    }
    this.#awaitsKey = false;
    this.#ended = this.#open.length === 0;
  }
}
