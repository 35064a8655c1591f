import { WILD } from '../../../apl/editor/editor-template.js';

/**
 * Templates of log lines by Drain: He, Zhu, Zheng, Lyu, "Drain: An Online Log Parsing Approach with Fixed Depth Tree" (ICWS 2017). Lines
 * of as many words that begin alike are compared word by word; a line joins the template that it shares most words with. Numbers and
 * ids are masked first, as `MASK` says. Last, words of which a place has but a few are told apart again, as IPLoM does (Makanju et al.,
 * KDD 2009): they are states more often than values.
 */

/** UUIDs, addresses of IPv4 with their ports, and numbers, as RE2 and JavaScript read it. */
export const MASK = [
  String.raw`\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b`,
  String.raw`\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]+)?\b`,
  String.raw`\b(?:0x)?[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*\b|[0-9]+`,
].join('|');

/** Returns a line whose numbers are masked. */
export function masked(line: string): string {
  return line.replace(new RegExp(MASK, 'g'), WILD);
}

/** A template, and the masked lines that it stands for. */
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

/** First words by which lines are told apart before they are compared. */
const FIRST_WORDS = 2;
/** The share of its words that a line has in common with its template. */
const LEAST_ALIKE = 0.5;
/** Different words at one place of the beginning; all others share a branch. */
const MOST_BRANCHES = 100;
/** So many different words at one place are values. */
const MOST_STATES = 3;
/** Lines for each of them, on average, without which nothing is known of them. */
const LEAST_LINES = 3;
/** A word without a digit that has no `=`: neither a number nor an id nor an attribute. */
const STATE = /^[^\d<=]*[A-Za-z]{2}[^\d<=]*$/;
/** Days and months are values, however few of them there are. */
const OF_A_DATE =
  /^(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|(?:jan|febr)(?:uary)?|feb|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?|(?:sept|nov|dec)(?:ember)?|oct(?:ober)?|nov|dec)[.,]?$/i;

/** Groups lines as they come. */
export class Drain<T> {
  readonly #leaves = new Map<string, Group<T>[]>();
  readonly #branches = new Map<string, Set<string>>();
  readonly #groups: Group<T>[] = [];

  /** Adds a masked line, which came `count` times. */
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

/** Splits a line at single spaces; more than one begin the next word, so that a padded number is as many words as one that is not. */
function wordsOf(text: string): readonly string[] {
  return text.split(/(?<=\S) /);
}

function common(words: readonly string[], others: readonly string[]): readonly string[] {
  return words.map((word, at) => (word === others[at] ? word : WILD));
}

/** A group for each of the words that tell its lines apart. */
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

/** The group with most words in common, of those the one with most wildcards; undefined if all are too different. */
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
