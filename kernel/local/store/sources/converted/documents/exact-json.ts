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

/** Parses JSON for {@link eventText}, which writes its long integers as they were; undefined for any other text. */
export function markedJson(text: string): unknown {
  return exactJson(text.replace(token, found => (longInteger.test(found) ? `"\\u0000${found}"` : found)));
}

/** Returns an event made of values from {@link markedJson} as a line of JSON. */
export function eventText(event: object): string {
  return JSON.stringify(event).replace(/"\\u0000(-?\d{16,})"/g, '$1');
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
