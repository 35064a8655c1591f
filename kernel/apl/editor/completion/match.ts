/**
 * Returns how well `name` matches the typed text: 0 starts with it, 1 starts with it in another case, 2 has a word that does, 3 has its
 * letters in order, 4 starts with it but for one typo. Returns undefined if it does not match.
 */
export function matchQuality(typed: string, name: string): number | undefined {
  if (name.startsWith(typed)) return 0;
  const wanted = typed.toLowerCase();
  const lower = name.toLowerCase();
  if (lower.startsWith(wanted)) return 1;
  if (startsWord(wanted, name, lower)) return 2;
  if (wanted.length < 3) return undefined;
  if (lower[0] === wanted[0] && isSubsequence(wanted, lower)) return 3;
  return wanted.length > 3 && startsButForOne(wanted, lower) ? 4 : undefined;
}

/** True if `wanted` occurs after `_`, `-`, `.`, `/` or a space, or at a capital. */
function startsWord(wanted: string, name: string, lower: string): boolean {
  for (let at = lower.indexOf(wanted, 1); at > 0; at = lower.indexOf(wanted, at + 1)) {
    if ('_-. /'.includes(name[at - 1] ?? '') || (name[at] !== lower[at] && name[at - 1] === lower[at - 1]))
      return true;
  }
  return false;
}

function isSubsequence(wanted: string, lower: string): boolean {
  let at = 0;
  for (const letter of lower) if (letter === wanted[at]) at += 1;
  return at === wanted.length;
}

/** True if one letter is wrong, missing, extra, or swapped with its neighbor. */
function startsButForOne(wanted: string, lower: string): boolean {
  let at = 0;
  while (at < wanted.length && wanted[at] === lower[at]) at += 1;
  const rest = (skipped: number, start: number): boolean =>
    lower.startsWith(wanted.slice(at + skipped), start);
  const swapped = wanted[at] === lower[at + 1] && wanted[at + 1] === lower[at];
  return rest(1, at + 1) || rest(0, at + 1) || rest(1, at) || (swapped && rest(2, at + 2));
}
