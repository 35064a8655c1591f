import { oneLine, plural } from '../../../../text.js';

/** Lines of a text without an event: their number, and the first few. */
export class Left {
  readonly #first: string[] = [];
  #lines = 0;

  add(line: string): void {
    this.#lines += 1;
    if (this.#first.length < mostShown) this.#first.push(JSON.stringify(oneLine(line, longestShown)));
  }

  /** Returns the notes of an import about these lines. */
  notes(): readonly string[] {
    if (this.#lines === 0) return [];
    const more = this.#lines > mostShown ? ', …' : '';
    return [`Not rows: ${plural(this.#lines, 'line')}, ${this.#first.join(', ')}${more}.`];
  }
}

/** Maximum number of lines in a message, and of characters of each. */
const mostShown = 3;
const longestShown = 80;
