/** A JSON path in the engine's syntax; `many` if it can select several values. */
export interface EnginePath {
  readonly path: string;
  readonly many: boolean;
}

/**
 * Translates a JSON path: `$`, `.name`, `..name`, `.*`, `['name']`, `[0]`, `[-1]`, `[*]`. Returns undefined for anything else, including
 * filters and slices.
 */
export function enginePath(text: string): EnginePath | undefined {
  if (!text.startsWith('$')) return undefined;
  const steps =
    /(?:\.\.?(?:\*|[\p{L}\p{N}_$-]+)|\[\s*(?:\*|-?\d{1,9}|'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")\s*\])/uy;
  steps.lastIndex = 1;
  const written: string[] = ['$'];
  while (steps.lastIndex < text.length) {
    const step = steps.exec(text);
    if (step === null) return undefined;
    written.push(step[0].startsWith('[') ? bracketStep(step[0].slice(1, -1).trim()) : dotStep(step[0]));
  }
  return { path: written.join(''), many: written.some(step => /^\.\.|\*\]?$/.test(step)) };
}

function dotStep(step: string): string {
  const name = step.replace(/^\.+/, '');
  return name === '*' || step.startsWith('..') ? step : quoted(name);
}

function bracketStep(inner: string): string {
  if (inner === '*') return '[*]';
  if (/^-\d+$/.test(inner)) return `[#${inner}]`;
  if (/^\d+$/.test(inner)) return `[${inner}]`;
  return quoted(inner.slice(1, -1).replace(/\\(.)/g, '$1'));
}

function quoted(name: string): string {
  return `."${name.replace(/["\\]/g, '\\$&')}"`;
}
