import type { Clause } from '../../operators/grammar.js';

/** What completion may offer where a text ends, besides words. */
export type Slot =
  | { readonly kind: 'none' }
  /** A table; with `statement`, also `let` and its kin. */
  | { readonly kind: 'source'; readonly statement: boolean }
  /** An operator; `piped` when the pipe is already there. */
  | { readonly kind: 'operator'; readonly piped: boolean }
  | OperandSlot
  /** The name of a field and nothing else. */
  | { readonly kind: 'field' }
  | { readonly kind: 'type' }
  /** The value of an option such as `kind=`. */
  | { readonly kind: 'option'; readonly values: readonly string[] }
  /** A property: after `path.`, or in the brackets of `path[…]`. */
  | { readonly kind: 'member'; readonly path: readonly string[]; readonly bracket: boolean };

/** A place for a value. */
export interface OperandSlot {
  readonly kind: 'operand';
  /** The clause that it stands in. */
  readonly clause?: Clause;
  /** The calls around it, the innermost first. */
  readonly call?: OpenCall;
  /** Tables may stand here too: in the list of `in (…)`, after `let x =`. */
  readonly tables?: boolean;
  /** The field that the value is compared with. */
  readonly compared?: readonly string[];
}

/** A call whose arguments are being read. */
export interface OpenCall {
  readonly callee: string;
  /** Which argument, from 0. */
  argument: number;
  readonly outer: OpenCall | undefined;
}

/**
 * What completion may offer at the end of a text, collected by the parser there: optional words and options, up to the first
 * required element.
 */
export class Offers {
  readonly words: string[] = [];
  readonly options: string[] = [];
  /** True if an operand ends, so that an operator of expressions may follow. */
  scalar = false;
  #found: Slot | undefined;
  #stopped = false;

  get slot(): Slot {
    return this.#found ?? { kind: 'none' };
  }

  addWords(...words: readonly string[]): void {
    if (!this.#stopped) this.words.push(...words.filter(word => !this.words.includes(word)));
  }

  addOptions(names: readonly string[]): void {
    if (!this.#stopped) this.options.push(...names);
  }

  addScalar(): void {
    if (!this.#stopped) this.scalar = true;
  }

  /** Adds a required element, unless there is one: nothing after it matters. */
  add(slot: Slot): void {
    if (this.#stopped) return;
    this.#found = slot;
    this.#stopped = true;
  }

  stop(): void {
    this.#stopped = true;
  }
}
