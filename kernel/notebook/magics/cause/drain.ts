import { writtenText } from '../../../apl/syntax/tokens/quote.js';

/**
 * Templates of log lines by Drain: He, Zhu, Zheng, Lyu, "Drain: An Online Log Parsing Approach with Fixed Depth Tree" (ICWS 2017). Lines
 * of as many words that begin alike are compared word by word; a line joins the template that it shares most words with. Numbers and
 * ids are masked first, as `MASK` says.
 */

/** What stands in a template for words that differ. */
export const WILD = '<*>';

/** Numbers, ids and addresses, as RE2 and JavaScript read it. */
export const MASK = String.raw`\b(?:0x)?[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*\b|[0-9]+`;

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
  words: string[];
  readonly members: T[];
}

/** First words by which lines are told apart before they are compared. */
const FIRST_WORDS = 2;
/** The share of its words that a line has in common with its template. */
const LEAST_ALIKE = 0.5;
/** Different words at one place of the beginning; all others share a branch. */
const MOST_BRANCHES = 100;

/** Groups lines as they come. */
export class Drain<T> {
  readonly #leaves = new Map<string, Group<T>[]>();
  readonly #branches = new Map<string, Set<string>>();
  readonly #groups: Group<T>[] = [];

  /** Adds a masked line. */
  add(line: string, member: T): void {
    const words = line.split(' ');
    const leaf = this.#leafOf(words);
    const best = nearest(leaf, words);
    if (best === undefined) {
      const group = { words, members: [member] };
      leaf.push(group);
      this.#groups.push(group);
      return;
    }
    best.members.push(member);
    best.words = best.words.map((word, at) => (word === words[at] ? word : WILD));
  }

  templates(): readonly Template<T>[] {
    return this.#groups;
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

/** The group with most words in common, of those the one with most wildcards; undefined if all are too different. */
function nearest<T>(leaf: readonly Group<T>[], words: readonly string[]): Group<T> | undefined {
  let best: Group<T> | undefined;
  let [most, wildest] = [0, -1];
  for (const group of leaf) {
    let [same, wild] = [0, 0];
    for (const [at, word] of group.words.entries()) {
      if (word === WILD) wild += 1;
      else if (word === words[at]) same += 1;
    }
    const alike = same / words.length;
    if (alike > most || (alike === most && wild > wildest)) [best, most, wildest] = [group, alike, wild];
  }
  return most >= LEAST_ALIKE ? best : undefined;
}

/**
 * Returns the `parse` operator that splits the lines of a template into fields, in the order of its wildcards; undefined for a template
 * without any, or of wildcards alone.
 */
export function parseLine(field: string, { words }: Pick<Template<unknown>, 'words'>): string | undefined {
  // Wildcards beside each other are one field: nothing says where the first ends.
  const pieces = words.join(' ').split(/(?:<\*>)(?: ?<\*>)*/);
  if (pieces.length < 2 || pieces.every(piece => piece.trim() === '')) return undefined;
  const parts = pieces.flatMap((piece, at) => [
    ...(piece === '' ? [] : [writtenText(piece)]),
    ...(at < pieces.length - 1 ? [`p${at + 1}`] : []),
  ]);
  return `parse ${field} with ${parts.join(' ')}`;
}
