/**
 * Returns whether all of `text` matches the glob `pattern`: `*` any text, `?` one character, `[a-z]` one of a set, `[!a-z]` or
 * `[^a-z]` one outside it. Takes time proportional to the product of the lengths, whatever the pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const matchers = parseGlob(pattern);
  const characters = Array.from(text);
  let token = 0;
  let at = 0;
  // Position of the latest star and the end of its match: only that star ever needs to match more.
  let star = -1;
  let starEnd = 0;
  while (at < characters.length) {
    const current = matchers[token];
    if (current === 'star') {
      star = token;
      starEnd = at;
      token += 1;
    } else if (current?.(characters[at] ?? '')) {
      token += 1;
      at += 1;
    } else if (star >= 0) {
      starEnd += 1;
      at = starEnd;
      token = star + 1;
    } else {
      return false;
    }
  }
  return matchers.slice(token).every(rest => rest === 'star');
}

type Matcher = 'star' | ((character: string) => boolean);

function parseGlob(pattern: string): Matcher[] {
  const characters = Array.from(pattern);
  const matchers: Matcher[] = [];
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i];
    const end = character === '[' ? setEnd(characters, i) : -1;
    if (character === '*') matchers.push('star');
    else if (character === '?') matchers.push(() => true);
    else if (end > 0) {
      matchers.push(parseSet(characters.slice(i + 1, end)));
      i = end;
    } else matchers.push(other => other === character);
  }
  return matchers;
}

/** A set has at least one character, so a bracket right after its start belongs to it. */
function setEnd(characters: readonly string[], start: number): number {
  const first = isNegation(characters[start + 1]) ? start + 2 : start + 1;
  return characters.indexOf(']', first + 1);
}

function isNegation(character: string | undefined): boolean {
  return character === '!' || character === '^';
}

function parseSet(members: readonly string[]): Matcher {
  const negated = isNegation(members[0]);
  const ranges: (readonly [string, string])[] = [];
  for (let i = negated ? 1 : 0; i < members.length; i += 1) {
    const from = members[i] ?? '';
    const to = members[i + 1] === '-' ? members[i + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) i += 2;
  }
  return character => ranges.some(([from, to]) => character >= from && character <= to) !== negated;
}
