declare const atomic: unique symbol;

/**
 * SQL of a value that no operator next to it can split: a name, a constant, a call, or text in parentheses. Only {@link atom} and {@link
 * grouped} create one, so SQL that ends in an operator never meets another.
 */
export type Atom = string & { readonly [atomic]: never };

/** Returns the SQL of a value as an atom, in parentheses if needed. */
export function atom(sql: string): Atom {
  return isAtom(sql) ? sql : grouped(sql);
}

/** Returns the SQL of a value in parentheses. */
export function grouped(sql: string): Atom {
  return `(${sql})` as Atom;
}

/** Returns whether SQL is an atom: a word, quoted text, a call or a group, followed by any number of `[…]`. */
function isAtom(sql: string): sql is Atom {
  return /^(?:w\(?|["({[])\[*$/.test(skeleton(sql));
}

/** Quoted text and names, words (`v.a0` is one), and single characters. Our SQL has no comments and no other quotes. */
const token = /(?:'[^']*')+|(?:"[^"]*")+|[\w.]+|./gs;
const opening = new Set('([{');
const closing = new Set(')]}');

/** Returns one character for each token outside brackets, including each outermost opening bracket: `w([` is `f(a - b)[1]`. */
function skeleton(sql: string): string {
  let found = '';
  let depth = 0;
  for (const [text] of sql.matchAll(token)) {
    if (closing.has(text)) depth -= 1;
    else if (depth === 0) found += kindOf(text);
    if (opening.has(text)) depth += 1;
    if (depth < 0 || text === "'" || text === '"') throw unmatched(sql);
  }
  if (depth !== 0) throw unmatched(sql);
  return found;
}

function unmatched(sql: string): RangeError {
  return new RangeError(`brackets or quotes do not match in the SQL ${sql}`);
}

/** Returns the kind of a token. A word before a bracket is a function call, except NOT: the only prefix operator that is a word. */
function kindOf(text: string): string {
  if (opening.has(text)) return text;
  if (/^['"]./.test(text)) return '"';
  return /^\w/.test(text) && text.toUpperCase() !== 'NOT' ? 'w' : '?';
}
