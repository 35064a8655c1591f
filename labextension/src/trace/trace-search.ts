import type { TraceData } from './trace-data.js';

/** Returns a function that searches for spans: by a string in any field, or by `field=string` in one. */
export function finderOf({ trace, fieldsOf }: TraceData): (text: string) => readonly number[] {
  let lines: readonly string[] | undefined;
  return text => {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') return [];
    // Each field is on its own line, so that its name and value can be matched together.
    lines ??= trace.nodes.map(({ span, issues }) =>
      [...fieldsOf(span).map(([{ name }, value]) => `${name}=${value}`), ...issues].join('\n').toLowerCase(),
    );
    return lines.flatMap((line, place) => (line.includes(wanted) ? [place] : []));
  };
}
