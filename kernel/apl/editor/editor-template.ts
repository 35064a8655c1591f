import { limits } from '../syntax/syntax-limits.js';
import { writtenText } from '../syntax/tokens/quote.js';

/** What stands in the template of log lines for words, or parts of a word, that differ. */
export const WILD = '<*>';

/** Fields of a `parse`, each with the text before it. */
const MOST_FIELDS = Math.floor(limits.pieces.most / 2);

/**
 * Returns the `parse` operator that splits the lines of a template into fields, in the order of its wildcards, the last of which takes
 * what is left of more than the operator has; undefined for a template without any, or of wildcards alone. `types` are those of the
 * fields that are not strings, by name.
 */
export function parseLine(
  field: string,
  template: string,
  types: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  const pieces = parsePieces(template);
  if (pieces.length < 2 || pieces.every(piece => piece.trim() === '')) return undefined;
  const parts = pieces.flatMap((piece, at) => {
    const name = `p${at + 1}`;
    const type = types.get(name);
    return [
      ...(piece === '' ? [] : [writtenText(piece)]),
      ...(at < pieces.length - 1 ? [type === undefined ? name : `${name}: ${type}`] : []),
    ];
  });
  return `parse ${field} with ${parts.join(' ')}`;
}

/** The names of the fields of {@link parseLine}. */
export function parseFields(template: string): readonly string[] {
  return parsePieces(template)
    .slice(1)
    .map((_, at) => `p${at + 1}`);
}

/** The texts around the wildcards of a template; those beside each other are one field, as nothing says where the first ends. */
function parsePieces(template: string): readonly string[] {
  const all = template.split(/(?:<\*>)(?: ?<\*>)*/);
  return all.length <= MOST_FIELDS ? all : [...all.slice(0, MOST_FIELDS), ''];
}

/** Characters of the texts of a template that a condition compares: what begins alike that far is taken for the same. */
const LONGEST = 2_000;

/** Returns the condition for the lines of a template: as many words, with its texts where it has them. */
export function templateCondition(field: string, template: string): string {
  const compared = template.length > LONGEST ? template.slice(0, LONGEST).replace(/<\*?$/, '') : template;
  const pattern = compared
    .split(' ')
    .map(word => (word === WILD ? ' *[^ ]*' : word.split(WILD).map(escaped).join('[^ ]*')))
    .join(' ');
  return `${field} matches regex ${writtenText(`^${pattern}${compared === template ? '$' : ''}`)}`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
