import { cut } from '../../text.js';

/** Longer names are cut: they stand in a legend. */
export const LABEL_LENGTH = 48;

/**
 * Returns a label of at most `length` characters for each name, no two the same: names with the same beginning show their end too,
 * and get a number where even that does not tell them apart.
 */
export function distinctLabels(names: readonly string[], length = LABEL_LENGTH): readonly string[] {
  const short = names.map(name => cut(name, length));
  const times = new Map<string, number>();
  for (const label of short) times.set(label, (times.get(label) ?? 0) + 1);
  const taken = new Set(short.filter(label => times.get(label) === 1));
  return names.map((name, index) => {
    const label = short[index] ?? '';
    return times.get(label) === 1 ? label : freeLabel(name, taken, length);
  });
}

function freeLabel(name: string, taken: Set<string>, length: number): string {
  const end = Math.floor(length * 0.46);
  const both = name.length <= length ? name : `${cut(name, length - end)}${ending(name, end)}`;
  let label = both;
  for (let number = 2; taken.has(label); number++) label = `${cut(both, length - 8)} (${number})`;
  taken.add(label);
  return label;
}

/** The last characters, never half of one. */
function ending(name: string, length: number): string {
  return name.slice(-length).replace(/^[\udc00-\udfff]/, '');
}
