/** Markdown about every element of the language that bears a name, or the list that `operators`, `functions` or `aggregates` asks for; undefined when there is none. */
export async function describeElement(name: string): Promise<string | undefined> {
  return (await import('../../apl/editor/help/describe.js')).describeName(name);
}

/** Every name and alias that `describeElement` knows. */
export async function elementNames(): Promise<readonly string[]> {
  return (await import('../../apl/editor/help/describe.js')).describedNames();
}
