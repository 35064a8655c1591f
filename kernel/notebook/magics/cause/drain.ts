import { WILD } from '../../../apl/editor/editor-template.js';

/**
 * Templates of log lines by Drain: He, Zhu, Zheng, Lyu, "Drain: An Online Log Parsing Approach with Fixed Depth Tree" (ICWS 2017).
 * Lines with the same number of words and the same beginning are compared word by word; a line joins the template with which it
 * shares the most words. Numbers and ids are masked first, per `MASK`. Finally, positions with only a few different words are split
 * again, as in IPLoM (Makanju et al., KDD 2009): those are more often states than values.
 */

/** UUIDs, IPv4 addresses with their ports, and numbers, in the syntax of both RE2 and JavaScript. */
export const MASK = [
  String.raw`\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b`,
  String.raw`\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]+)?\b`,
  String.raw`\b(?:0x)?[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*\b|[0-9]+`,
].join('|');

/** Masks the numbers of a line. */
export function masked(line: string): string {
  return line.replace(new RegExp(MASK, 'g'), WILD);
}

/** A template, and the masked lines that it matches. */
export interface Template<T> {
  readonly words: readonly string[];
  readonly members: readonly T[];
}

interface Group<T> {
  words: readonly string[];
  readonly lines: Line<T>[];
}

interface Line<T> {
  readonly words: readonly string[];
  readonly member: T;
  readonly count: number;
}

/** Number of leading words that separate lines before they are compared. */
const FIRST_WORDS = 2;
/** Minimum share of words that a line has in common with its template. */
const LEAST_ALIKE = 0.5;
/** Maximum different words at one leading position; any further ones share a branch. */
const MOST_BRANCHES = 100;
/** Maximum different words at one position that are states rather than values. */
const MOST_STATES = 3;
/** Minimum lines per state, on average, to tell states from values. */
const LEAST_LINES = 3;
/** A word without digits and `=`: neither a number nor an id nor an attribute. */
const STATE = /^[^\d<=]*[A-Za-z]{2}[^\d<=]*$/;
/** Days and months are values, however few there are. */
const OF_A_DATE =
  /^(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|(?:jan|febr)(?:uary)?|feb|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?|(?:sept|nov|dec)(?:ember)?|oct(?:ober)?|nov|dec)[.,]?$/i;

/** Groups lines as they arrive. */
export class Drain<T> {
  readonly #leaves = new Map<string, Group<T>[]>();
  readonly #branches = new Map<string, Set<string>>();
  readonly #groups: Group<T>[] = [];

  /** Adds a masked line that occurred `count` times. */
  add(text: string, member: T, count = 1): void {
    const line = { words: wordsOf(text), member, count };
    const leaf = this.#leafOf(line.words);
    const best = nearest(leaf, line.words);
    if (best === undefined) {
      const group = { words: line.words, lines: [line] };
      leaf.push(group);
      this.#groups.push(group);
      return;
    }
    best.lines.push(line);
    best.words = common(best.words, line.words);
  }

  templates(): readonly Template<T>[] {
    return this.#groups.flatMap(toldApart).map(({ words, lines }) => ({
      words,
      members: lines.map(({ member }) => member),
    }));
  }

  #leafOf(words: readonly string[]): Group<T>[] {
    let path = String(words.length);
    for (const word of words.slice(0, FIRST_WORDS)) {
      const branches = this.#branches.get(path) ?? new Set();
      this.#branches.set(path, branches);
      const branch = word.includes(WILD) ? WILD : word;
      const isKnown = branches.has(branch) || branches.size < MOST_BRANCHES;
      if (isKnown) branches.add(branch);
      path = `${path} ${isKnown ? branch : WILD}`;
    }
    const leaf = this.#leaves.get(path) ?? [];
    this.#leaves.set(path, leaf);
    return leaf;
  }
}

/** Splits a line at single spaces; further spaces belong to the next word, so that padding a number does not change the number of words. */
function wordsOf(text: string): readonly string[] {
  return text.split(/(?<=\S) /);
}

function common(words: readonly string[], others: readonly string[]): readonly string[] {
  return words.map((word, at) => (word === others[at] ? word : WILD));
}

/** Splits a group by the words at its state positions. */
function toldApart<T>(group: Group<T>): readonly Group<T>[] {
  const { words, lines } = group;
  const count = lines.reduce((sum, line) => sum + line.count, 0);
  const places = words.flatMap((word, at) => {
    if (word !== WILD) return [];
    const states = new Set(lines.map(line => line.words[at] ?? ''));
    const areStates =
      states.size <= MOST_STATES && [...states].every(each => STATE.test(each) && !OF_A_DATE.test(each));
    return areStates && count >= LEAST_LINES * states.size ? [at] : [];
  });
  if (places.length === 0) return [group];
  const parts = new Map<string, Group<T>>();
  for (const line of lines) {
    const key = places.map(at => line.words[at]).join(' ');
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { words: line.words, lines: [line] });
    else {
      part.lines.push(line);
      part.words = common(part.words, line.words);
    }
  }
  return [...parts.values()];
}

/** Returns the group with the most words in common, and among those the one with the most wildcards; undefined if all are too different. */
function nearest<T>(leaf: readonly Group<T>[], words: readonly string[]): Group<T> | undefined {
  let best: Group<T> | undefined;
  let [most, wildest] = [0, -1];
  for (const group of leaf) {
    let [same, wild, silent] = [0, 0, 0];
    for (const [at, word] of group.words.entries()) {
      if (word === WILD) {
        wild += 1;
        if (words[at] === WILD) silent += 1;
      } else if (word === words[at]) same += 1;
    }
    const alike = same / Math.max(words.length - silent, 1);
    if (alike > most || (alike === most && wild > wildest)) [best, most, wildest] = [group, alike, wild];
  }
  return most >= LEAST_ALIKE ? best : undefined;
}
