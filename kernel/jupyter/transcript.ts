import { randomUUID } from 'node:crypto';
import type { JsonObject } from './jupyter-wire.js';

/** Sends a message of a cell to its front ends. */
export type SendOutput = (type: string, content: JsonObject) => void;

/**
 * The outputs of one cell as its front ends hold them, so that a passing one can be taken away: the protocol can only remove
 * all outputs of a cell, so those that stay are sent once more.
 */
export class Transcript {
  readonly #send: SendOutput;
  #kept: { readonly type: string; content: JsonObject }[] = [];
  /** The display id of the passing output. */
  #passing: string | undefined;

  constructor(send: SendOutput) {
    this.#send = send;
  }

  /** Sends an output that stays; it takes the place of a passing one. */
  output(type: string, content: JsonObject): void {
    this.#takeAway(true);
    this.#kept.push({ type, content });
    this.#send(type, content);
  }

  /** Sends the new content of a display that has this id, wherever it is. */
  update(displayId: string, content: JsonObject): void {
    for (const each of this.#kept) if (displayIdOf(each.content) === displayId) each.content = content;
    this.#send('update_display_data', content);
  }

  /** Shows this until there is another output or the cell ends; then nothing of it is left. */
  passing(content: JsonObject): void {
    const type = this.#passing === undefined ? 'display_data' : 'update_display_data';
    this.#passing ??= randomUUID();
    this.#send(type, { ...content, transient: { display_id: this.#passing } });
  }

  clear(wait: boolean): void {
    this.#kept = [];
    this.#passing = undefined;
    this.#send('clear_output', { wait });
  }

  /** Takes a passing output away that nothing has replaced. */
  end(): void {
    this.#takeAway(false);
  }

  /** `wait`: another output follows, and the front end keeps the old ones in view until it comes. */
  #takeAway(wait: boolean): void {
    if (this.#passing === undefined) return;
    this.#passing = undefined;
    this.#send('clear_output', { wait: wait || this.#kept.length > 0 });
    for (const { type, content } of this.#kept) this.#send(type, content);
  }
}

function displayIdOf({ transient }: JsonObject): unknown {
  return typeof transient === 'object' && transient !== null
    ? Reflect.get(transient, 'display_id')
    : undefined;
}
