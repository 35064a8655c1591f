/** Folds the case of a constant the way engines fold values: each letter becomes one letter, regardless of context. */
export function foldCase(text: string): string {
  return Array.from(text, letter => {
    // In JavaScript, a dotted capital I becomes two characters, and a capital sigma differs at the end of a word.
    const [first = ''] = letter.toLowerCase();
    return first;
  }).join('');
}
