import { cut } from '../../text.js';

/** Longer names are cut: they stand in a legend. */
export const LABEL_LENGTH = 48;

/**
 * Returns a label of at most 48 characters for each name, no two the same: names with the same beginning show their end too,
 * and get a number where even that does not tell them apart.
 */
export function distinctLabels(names: readonly string[]): readonly string[] {
  const short = names.map(name => cut(name, LABEL_LENGTH));
  const times = new Map<string, number>();
  for (const label of short) times.set(label, (times.get(label) ?? 0) + 1);
  const taken = new Set(short.filter(label => times.get(label) === 1));
  return names.map((name, index) => {
    const label = short[index] ?? '';
    return taken.has(label) ? label : freeLabel(name, taken);
  });
}

const END_LENGTH = 22;

function freeLabel(name: string, taken: Set<string>): string {
  const both = name.length <= LABEL_LENGTH ? name : `${cut(name, LABEL_LENGTH - END_LENGTH)}${ending(name)}`;
  let label = both;
  for (let number = 2; taken.has(label); number++) label = `${cut(both, LABEL_LENGTH - 8)} (${number})`;
  taken.add(label);
  return label;
}

/** The last characters, never half of one. */
function ending(name: string): string {
  return name.slice(-END_LENGTH).replace(/^[\udc00-\udfff]/, '');
}
