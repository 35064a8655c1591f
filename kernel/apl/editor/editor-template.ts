import { limits } from '../syntax/syntax-limits.js';
import { writtenText } from '../syntax/tokens/quote.js';

/** Wildcard in a log template, for words or parts of a word that differ. */
export const WILD = '<*>';

/** Maximum number of fields in a `parse`, each with the literal before it. */
const MOST_FIELDS = Math.floor(limits.pieces.most / 2);

/**
 * Returns the `parse` operator that splits the lines of a template into fields, in wildcard order; the last field takes the rest if there
 * are more wildcards than the operator allows. Returns undefined for a template without wildcards or with nothing else. `types` are the
 * types of the non-string fields, by name.
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

/** Returns the field names of {@link parseLine}. */
export function parseFields(template: string): readonly string[] {
  return parsePieces(template)
    .slice(1)
    .map((_, at) => `p${at + 1}`);
}

/** Returns the strings around the wildcards of a template; adjacent wildcards are one field, as nothing marks where the first ends. */
function parsePieces(template: string): readonly string[] {
  const all = template.split(/(?:<\*>)(?: ?<\*>)*/);
  return all.length <= MOST_FIELDS ? all : [...all.slice(0, MOST_FIELDS), ''];
}

/** Maximum number of template characters that a condition compares: longer templates with the same beginning count as equal. */
const LONGEST = 2_000;

/** Returns the condition for the lines of a template: the same number of words, with its literal words in the same positions. */
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
