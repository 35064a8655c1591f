import { oneLine, plural } from '../../../../text.js';

/**
 * What a conversion leaves: lines without an event, with the first few, lines that stay text, and documents that stay as they are, with the
 * first reason.
 */
export class Left {
  readonly #first: string[] = [];
  #lines = 0;
  #texts = 0;
  #kept = 0;
  #reason: string | undefined;

  add(line: string): void {
    this.#lines += 1;
    if (this.#first.length < mostShown) this.#first.push(JSON.stringify(oneLine(line, longestShown)));
  }

  /** Counts a line that becomes an event with its text. */
  addText(): void {
    this.#texts += 1;
  }

  /** Counts a document that stays as it is; the reason completes a sentence. */
  keep(reason: string): void {
    this.#kept += 1;
    this.#reason ??= reason.replace(/\.$/, '');
  }

  /** Returns the notes of an import about these lines and documents. */
  notes(): readonly string[] {
    const more = this.#lines > mostShown ? ', …' : '';
    return [
      ...(this.#lines === 0
        ? []
        : [`Skipped ${plural(this.#lines, 'line')} that are not rows: ${this.#first.join(', ')}${more}.`]),
      ...(this.#texts === 0
        ? []
        : [
            `Not records: ${plural(this.#texts, 'line')}, each imported as an event with the line in \`message\` and the timestamp of the preceding record.`,
          ]),
      ...(this.#kept === 0
        ? []
        : [
            `Not split into events: ${plural(this.#kept, 'document')}, each kept as one row: ${this.#reason}.`,
          ]),
    ];
  }
}

/** Maximum number of lines in a message, and of characters of each. */
const mostShown = 3;
const longestShown = 80;
