import type { FieldPattern } from '../syntax/ast.js';

/** True if `name` has the parts of the pattern in order, with anything between them. */
export function matchesPattern(pattern: Pick<FieldPattern, 'parts' | 'exact'>, name: string): boolean {
  const [first = '', ...rest] = pattern.parts;
  if (pattern.exact) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    const last = index === rest.length - 1;
    const found = last ? name.length - part.length : name.indexOf(part, at);
    if (found < at || !name.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return true;
}
