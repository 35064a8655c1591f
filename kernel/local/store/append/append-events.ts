/** A value of an event with its source in the body; `kind` is the engine's name for its type. */
export type RawValue = { readonly kind: Exclude<RawKind, 'OBJECT'>; readonly text: string } | RawObject;

/** An object with its members in source order. */
export interface RawObject {
  readonly kind: 'OBJECT';
  readonly text: string;
  readonly members: ReadonlyMap<string, RawValue>;
}

type RawKind = 'VARCHAR' | 'BOOLEAN' | 'BIGINT' | 'DOUBLE' | 'ARRAY' | 'OBJECT' | 'NULL';

/**
 * Returns the objects of a JSON body, one per line, in an array or alone, with the source of their values. Returns undefined for anything
 * else: broken JSON, values that are not objects, repeated keys, fractions and exponents out of range.
 */
export function readEvents(body: string): readonly RawObject[] | undefined {
  if (uncertain.test(body)) return undefined;
  try {
    const events = /^\s*\[/.test(body) ? itemsOf(body) : (linesOf(body) ?? [parsedValue(body)]);
    return events.every(event => event.kind === 'OBJECT') ? events : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns a value within an event, undefined if it has none. */
export function valueAt(event: RawObject, path: readonly string[]): RawValue | undefined {
  let value: RawValue | undefined = event;
  for (const key of path) value = value?.kind === 'OBJECT' ? value.members.get(key) : undefined;
  return value;
}

/** NUL characters, byte order marks and surrogates, which may be unpaired: the file readers handle such a body. */
const uncertain = /\\u(?:0000|d[89a-f])|\0|\ufeff/i;

function linesOf(body: string): RawValue[] | undefined {
  const lines = body.split('\n').filter(line => line.trim() !== '');
  try {
    return lines.map(parsedValue);
  } catch (error) {
    if (error instanceof SyntaxError && lines.length > 1) return undefined;
    throw error;
  }
}

function itemsOf(body: string): readonly RawValue[] {
  JSON.parse(body);
  return new Scanner(body).array();
}

/** Throws SyntaxError. */
function parsedValue(text: string): RawValue {
  // JSON.parse checks the grammar, so the scanner does not have to.
  JSON.parse(text);
  return new Scanner(text).value(0);
}

const deepest = 64;
const word = /[^,\]}\s]+/y;

/** Finds the values in valid JSON. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): RawValue {
    if (depth > deepest) throw new SyntaxError('nested too deeply');
    this.#skipSpace();
    const start = this.#at;
    switch (this.#text[start]) {
      case '{':
        return this.#object(start, depth);
      case '[':
        this.array(depth);
        return { kind: 'ARRAY', text: this.#text.slice(start, this.#at) };
      case '"':
        return { kind: 'VARCHAR', text: this.#string() };
      default:
        return plainValue(this.#word());
    }
  }

  array(depth = 0): RawValue[] {
    const items: RawValue[] = [];
    this.#open();
    while (!this.#closes(']')) items.push(this.value(depth + 1));
    return items;
  }

  #object(start: number, depth: number): RawObject {
    const members = new Map<string, RawValue>();
    this.#open();
    while (!this.#closes('}')) {
      const key = this.#key();
      if (members.has(key)) throw new SyntaxError('a repeated key');
      this.#skipSpace();
      this.#at++;
      members.set(key, this.value(depth + 1));
    }
    return { kind: 'OBJECT', text: this.#text.slice(start, this.#at), members };
  }

  #key(): string {
    const text = this.#string();
    return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
  }

  #open(): void {
    this.#skipSpace();
    this.#at++;
  }

  /** Skips a comma or the closing bracket; returns whether it was the bracket. */
  #closes(end: string): boolean {
    this.#skipSpace();
    const closed = this.#text[this.#at] === end;
    if (closed || this.#text[this.#at] === ',') this.#at++;
    this.#skipSpace();
    return closed;
  }

  /** Skips white space: the source is valid JSON, so any character up to a space between values is one of the four kinds. */
  #skipSpace(): void {
    while (this.#text.charCodeAt(this.#at) <= blank) this.#at++;
  }

  /** Skips a string and returns it with its quotes. */
  #string(): string {
    const start = this.#at;
    do this.#at = this.#text.indexOf('"', this.#at + 1);
    while (this.#isEscaped());
    this.#at++;
    return this.#text.slice(start, this.#at);
  }

  /** Whether an odd number of backslashes precedes the position. */
  #isEscaped(): boolean {
    let first = this.#at;
    while (this.#text.charCodeAt(first - 1) === backslash) first--;
    return (this.#at - first) % 2 === 1;
  }

  #word(): string {
    word.lastIndex = this.#at;
    const [found = ''] = word.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}

const blank = 0x20;
const backslash = 0x5c;

function plainValue(text: string): RawValue {
  if (text === 'null') return { kind: 'NULL', text };
  if (text === 'true' || text === 'false') return { kind: 'BOOLEAN', text };
  if (/^-?\d+$/.test(text)) {
    if (text === '-0') throw new SyntaxError('a zero with a sign');
    return { kind: 'BIGINT', text };
  }
  if (!Number.isFinite(Number(text))) throw new SyntaxError('a large number');
  return { kind: 'DOUBLE', text };
}
