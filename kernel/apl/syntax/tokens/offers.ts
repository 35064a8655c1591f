import type { Clause } from '../../operators/grammar.js';

/** Completions at the end of a text, besides words. */
export type Slot =
  | { readonly kind: 'none' }
  /** A table; with `statement`, also `let` and the like. */
  | { readonly kind: 'source'; readonly statement: boolean }
  /** An operator; `piped` if the pipe is already there. */
  | { readonly kind: 'operator'; readonly piped: boolean }
  | OperandSlot
  /** A field name and nothing else. */
  | { readonly kind: 'field' }
  | { readonly kind: 'type' }
  /** Value of an option such as `kind=`. */
  | { readonly kind: 'option'; readonly values: readonly string[] }
  /** A property: after `path.`, or in the brackets of `path[…]`. */
  | { readonly kind: 'member'; readonly path: readonly string[]; readonly bracket: boolean };

/** A position for a value. */
export interface OperandSlot {
  readonly kind: 'operand';
  /** Clause that contains it. */
  readonly clause?: Clause;
  /** Calls around it, innermost first. */
  readonly call?: OpenCall;
  /** Whether tables are also allowed: in the list of `in (…)`, after `let x =`. */
  readonly tables?: boolean;
  /** Field that the value is compared with. */
  readonly compared?: readonly string[];
}

/** A call whose arguments are being read. */
export interface OpenCall {
  readonly callee: string;
  /** Index of the argument, from 0. */
  argument: number;
  readonly outer: OpenCall | undefined;
}

/** Completions at the end of a text, collected by the parser: optional words and options, up to the first required element. */
export class Offers {
  readonly words: string[] = [];
  readonly options: string[] = [];
  /** True after an operand, when an expression operator may follow. */
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

  /** Adds a required element, unless there is one already: nothing after it matters. */
  add(slot: Slot): void {
    if (this.#stopped) return;
    this.#found = slot;
    this.#stopped = true;
  }

  stop(): void {
    this.#stopped = true;
  }
}
