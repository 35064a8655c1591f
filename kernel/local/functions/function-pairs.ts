/** Returns the first `key:value` string of a JSON array whose key and value match two patterns, as JSON; null if none does. */
export function findPair(
  pairs: string,
  keyPattern: string,
  valuePattern: string,
  separator: string,
): string | null {
  const items = JSON.parse(pairs) as unknown;
  if (!Array.isArray(items)) return null;
  for (const item of items) {
    if (typeof item !== 'string') continue;
    const { key, value } = splitPair(item, separator);
    if (matches(key, keyPattern) && matches(value, valuePattern))
      return JSON.stringify({ key, separator, value });
  }
  return null;
}

function splitPair(text: string, separator: string): { readonly key: string; readonly value: string } {
  const at = separator === '' ? -1 : text.indexOf(separator);
  return at === -1
    ? { key: '', value: text }
    : { key: text.slice(0, at), value: text.slice(at + separator.length) };
}

/** Matches each piece between stars at its first occurrence: no backtracking, whatever the pattern. */
function matches(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > text.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}
