/**
 * Returns Markdown about each language element of that name, or the list of `operators`, `functions` or `aggregates`; undefined if
 * there is none.
 */
export async function describeElement(name: string): Promise<string | undefined> {
  return (await import('../../apl/editor/help/help-describe.js')).describeName(name);
}

/** Returns every name and alias that `describeElement` accepts. */
export async function elementNames(): Promise<readonly string[]> {
  return (await import('../../apl/editor/help/help-describe.js')).describedNames();
}
