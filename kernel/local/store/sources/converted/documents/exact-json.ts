/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Parses JSON; an integer of 16 or more digits becomes a string, as a number would round it. Returns undefined for any other text, and
 * passes each member through `revive`, as JSON.parse does.
 */
export function exactJson(text: string, revive?: (key: string, value: unknown) => unknown): unknown {
  const exact = text.replace(token, found => (longInteger.test(found) ? JSON.stringify(found) : found));
  try {
    return JSON.parse(exact, revive);
  } catch {
    return undefined;
  }
}

/** A string or a number. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/gs;
const longInteger = /^-?\d{16,}$/;

/** Returns an object, or an empty one for any other value. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** Returns a list, or an empty one for any other value. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
