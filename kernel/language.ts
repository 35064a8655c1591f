import type { FunctionEntry, Param } from './apl/catalog.js';

/** The functions and aggregates of the catalogue; loaded when first asked for. */
export async function languageElements(): Promise<readonly FunctionEntry[]> {
  const [{ aggregates }, { functions }] = await Promise.all([
    import('./apl/catalog/aggregates.js'),
    import('./apl/catalog/all.js'),
  ]);
  return [...aggregates, ...functions];
}

/** The words that may follow a pipe. */
export async function operatorWords(): Promise<readonly string[]> {
  return (await import('./apl/catalog/all.js')).operatorNames;
}

/** Every name and alias that `describeElement` knows. */
export async function elementNames(): Promise<readonly string[]> {
  return (await languageElements()).flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]);
}

/** Markdown about a function or aggregate: signature, what it does, an example; undefined when there is none by that name. */
export async function describeElement(name: string): Promise<string | undefined> {
  const entry = (await languageElements()).find(each => each.name === name || each.aliases?.includes(name));
  if (entry === undefined) return undefined;
  const parameters = entry.params
    .filter(each => each.doc !== undefined)
    .map(each => `- \`${each.name}\`: ${each.doc}`);
  return [
    `\`${signatureOf(entry)}\``,
    entry.doc,
    ...(parameters.length === 0 ? [] : [parameters.join('\n')]),
    ...(entry.unavailable === undefined ? [] : [`Not available in the local service: ${entry.unavailable}`]),
    `    ${entry.example.apl}\n\ngives \`${entry.example.result}\``,
  ].join('\n\n');
}

/** `percentile(field: number, percentile: number) -> real`. */
export function signatureOf({ name, params, returns }: FunctionEntry): string {
  return `${name}(${params.map(parameterText).join(', ')}) -> ${returns}`;
}

function parameterText({ name, type, optional, rest }: Param): string {
  const text = `${rest ? '...' : ''}${name}: ${type}`;
  return optional ? `[${text}]` : text;
}
