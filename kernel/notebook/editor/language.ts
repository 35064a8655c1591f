/**
 * Markdown about each element of the language with that name, or the list for `operators`, `functions` or `aggregates`; undefined
 * when there is none.
 */
export async function describeElement(name: string): Promise<string | undefined> {
  return (await import('../../apl/editor/help/help-describe.js')).describeName(name);
}

/** Every name and alias that `describeElement` knows. */
export async function elementNames(): Promise<readonly string[]> {
  return (await import('../../apl/editor/help/help-describe.js')).describedNames();
}
