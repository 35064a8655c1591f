declare const atomic: unique symbol;

/**
 * The SQL of a value that no operator can take apart, whatever is written beside it: a name, a constant, a call, or a text in
 * parentheses. Only {@link atom} and {@link grouped} make one, so that SQL with an operator at its end never meets another.
 */
export type Atom = string & { readonly [atomic]: never };

/** Returns the SQL of a value as an atom: as it stands if it is one, else in parentheses. */
export function atom(sql: string): Atom {
  return isAtom(sql) ? sql : grouped(sql);
}

/** Returns the SQL of a value in parentheses. */
export function grouped(sql: string): Atom {
  return `(${sql})` as Atom;
}

/** Whether a text is an atom: a word, quoted text, a call or a group, with any number of `[…]` behind it. */
function isAtom(sql: string): sql is Atom {
  return /^(?:w\(?|["({[])\[*$/.test(skeleton(sql));
}

/** Quoted text and names, words (`v.a0` is one), and single characters. SQL of ours has no comments and no other quotes. */
const token = /(?:'[^']*')+|(?:"[^"]*")+|[\w.]+|./gs;
const opening = new Set('([{');
const closing = new Set(')]}');

/** Returns one character for each token outside of brackets, and for each opening bracket there: `w([` is `f(a - b)[1]`. */
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

/** A word before a bracket calls a function, but for NOT: it is the one operator that is a word in front of a value. */
function kindOf(text: string): string {
  if (opening.has(text)) return text;
  if (/^['"]./.test(text)) return '"';
  return /^\w/.test(text) && text.toUpperCase() !== 'NOT' ? 'w' : '?';
}
