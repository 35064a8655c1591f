/** Folds the case of a constant as engines fold that of values: each letter becomes one, whatever it stands beside. */
export function foldCase(text: string): string {
  return Array.from(text, letter => {
    // A capital I with a dot becomes two characters in JavaScript, and a capital sigma another one at the end of a word.
    const [first = ''] = letter.toLowerCase();
    return first;
  }).join('');
}
