import { randomUUID } from 'node:crypto';
import type { JsonObject } from './jupyter-wire.js';

/** Sends a cell's message to its front ends. */
export type SendOutput = (type: string, content: JsonObject) => void;

/**
 * The outputs of one cell as its front ends show them, so that a temporary one can be removed: the protocol can only clear all
 * outputs of a cell, so the remaining ones are sent again.
 */
export class Transcript {
  readonly #send: SendOutput;
  #kept: { readonly type: string; content: JsonObject }[] = [];
  /** The display id of the temporary output. */
  #passing: string | undefined;

  constructor(send: SendOutput) {
    this.#send = send;
  }

  /** Sends a lasting output, which replaces a temporary one. */
  output(type: string, content: JsonObject): void {
    this.#takeAway(true);
    this.#kept.push({ type, content });
    this.#send(type, content);
  }

  /** Updates every display with this id. */
  update(displayId: string, content: JsonObject): void {
    for (const each of this.#kept) if (displayIdOf(each.content) === displayId) each.content = content;
    this.#send('update_display_data', content);
  }

  /** Shows a temporary output until there is another output or the cell ends. */
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

  /** Removes a temporary output that nothing has replaced. */
  end(): void {
    this.#takeAway(false);
  }

  /** With `wait`, another output follows, and the front end shows the old ones until then. */
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
