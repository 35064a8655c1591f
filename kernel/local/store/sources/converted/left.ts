import { oneLine, plural } from '../../../../text.js';

/** The lines of a text without an event: how many there are, and the first of them. */
export class Left {
  readonly #first: string[] = [];
  #lines = 0;

  add(line: string): void {
    this.#lines += 1;
    if (this.#first.length < mostShown) this.#first.push(JSON.stringify(oneLine(line, longestShown)));
  }

  /** Returns what an import says of them. */
  notes(): readonly string[] {
    if (this.#lines === 0) return [];
    const more = this.#lines > mostShown ? ', …' : '';
    return [`Not rows: ${plural(this.#lines, 'line')}, ${this.#first.join(', ')}${more}.`];
  }
}

/** Lines that a message shows, and characters of each. */
const mostShown = 3;
const longestShown = 80;
