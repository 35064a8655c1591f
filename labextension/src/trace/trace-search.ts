import type { TraceData } from './trace-data.js';

/** Returns what finds spans: by a text in any field, or by `field=text` in one. */
export function finderOf({ trace, fieldsOf }: TraceData): (text: string) => readonly number[] {
  let lines: readonly string[] | undefined;
  return text => {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') return [];
    // Each field is a line of its own, so that its name and its value are found together.
    lines ??= trace.nodes.map(({ span, issues }) =>
      [...fieldsOf(span).map(([{ name }, value]) => `${name}=${value}`), ...issues].join('\n').toLowerCase(),
    );
    return lines.flatMap((line, place) => (line.includes(wanted) ? [place] : []));
  };
}
