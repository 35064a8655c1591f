import { cut } from '../../text.js';

/** Maximum length of a name in a legend; longer ones are cut. */
export const LABEL_LENGTH = 48;

/**
 * Returns a label of at most `length` characters for each name, no two the same: names with the same beginning also show their end, or if
 * that is the same too, the part that differs, and get a number if even that does not tell them apart.
 */
export function distinctLabels(names: readonly string[], length = LABEL_LENGTH): readonly string[] {
  const short = names.map(name => cut(name, length));
  const alone = aloneIn(short);
  const taken = new Set(alone);
  const ends = names.map(name => bothEnds(name, length));
  const aloneByEnds = aloneIn(ends);
  const shared = sharedStarts(names, ends);
  return names.map((name, index) => {
    const [label, both] = [short[index] ?? '', ends[index] ?? ''];
    if (alone.has(label)) return label;
    const wanted = aloneByEnds.has(both) ? both : differing(name, shared.get(both) ?? 0, length);
    return freeLabel(wanted, taken, length);
  });
}

/** Returns the length of the common prefix of the names with the same label. */
function sharedStarts(names: readonly string[], labels: readonly string[]): ReadonlyMap<string, number> {
  const firsts = new Map<string, string>();
  const shared = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const label = labels[index] ?? '';
    const first = firsts.get(label) ?? name;
    firsts.set(label, first);
    let same = 0;
    const most = shared.get(label) ?? name.length;
    while (same < most && first[same] === name[same]) same += 1;
    shared.set(label, same);
  }
  return shared;
}

/** Returns the strings that occur only once. */
function aloneIn(texts: readonly string[]): ReadonlySet<string> {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return new Set(texts.filter(text => times.get(text) === 1));
}

/** The share of a label that its end takes up. */
const END = 0.46;

function bothEnds(name: string, length: number): string {
  if (name.length <= length) return name;
  const end = Math.floor(length * END);
  return `${cut(name, length - end)}${ending(name, end)}`;
}

/** Returns the beginning of a name, and the part from where it differs from others with the same beginning and end. */
function differing(name: string, shared: number, length: number): string {
  if (name.length <= length) return name;
  const start = Math.floor(length * (1 - END) * 0.5);
  const rest = length - start - 1;
  const from = Math.max(start, shared - Math.floor(rest / 4));
  const part = name.slice(from).replace(/^[\udc00-\udfff]/, '');
  return `${cut(name, start)}${cut(part, rest)}`;
}

function freeLabel(wanted: string, taken: Set<string>, length: number): string {
  let label = wanted;
  for (let number = 2; taken.has(label); number++) label = `${cut(wanted, length - 8)} (${number})`;
  taken.add(label);
  return label;
}

/** Returns the last characters without splitting a surrogate pair. */
function ending(name: string, length: number): string {
  return name.slice(-length).replace(/^[\udc00-\udfff]/, '');
}
