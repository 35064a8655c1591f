import type { CellIo } from '../../../jupyter/message.js';
import { oneLine } from '../../../text.js';
import { MagicError } from '../magic-arguments.js';
import type { AskedEffect } from './effects.js';

/** What a session may do without a question: effects that the user allowed, and changes of what its own cells made. */
export class Consents {
  readonly #given: Set<AskedEffect>;
  readonly #made = new Set<string>();

  constructor(given: Iterable<AskedEffect> = []) {
    this.#given = new Set(given);
  }

  has(effect: AskedEffect): boolean {
    return this.#given.has(effect);
  }

  give(effect: AskedEffect): void {
    this.#given.add(effect);
  }

  withdraw(effect: AskedEffect): void {
    this.#given.delete(effect);
  }

  /** Remembers what a cell of this session made. */
  made(what: Thing): void {
    this.#made.add(keyOf(what));
  }

  hasMade(what: Thing): boolean {
    return this.#made.has(keyOf(what));
  }
}

/** What a cell can make, and later change; ids are those of a profile. */
type Thing = readonly [
  kind: 'file' | 'recording' | 'dataset' | 'starred query' | 'annotation' | 'sign-in',
  name: string,
  profile?: string,
];

function keyOf(what: Thing): string {
  return JSON.stringify(what);
}

/** Throws MagicError if texts that a service is to keep, for others to read, hold an access token. */
export async function refuseSecrets(
  session: { withoutSecrets(text: string): Promise<string> },
  magic: { readonly name: string },
  content: unknown,
): Promise<void> {
  const text = JSON.stringify(content);
  if ((await session.withoutSecrets(text)) === text) return;
  throw new MagicError(
    `%${magic.name}: there is an access token in it, and others will read what is kept`,
    'Remove the token. If others have seen it already, revoke it.',
  );
}

/**
 * Asks whether a magic may do what it is about to do, unless that was allowed before in this session; throws MagicError when it may not.
 * A line that a front end runs by itself, which leaves no history, is an act of its user: no notebook can write one.
 */
export async function askConsent(
  consents: Consents,
  io: CellIo,
  magic: { readonly name: string },
  effect: AskedEffect,
  what: string,
): Promise<void> {
  if (consents.has(effect) || !io.storeHistory) return;
  const would = `%${magic.name} would ${oneLine(what, 300)}`;
  if (!io.allowStdin)
    throw new MagicError(
      `${would}, and nobody can be asked here`,
      `If it is intended, allow it: \`apl-kernel run --allow ${effect}\`, or APL_KERNEL_ALLOW=${effect} in the environment of the kernel.`,
    );
  const answer = await io.input(`${would}. Type yes to allow this for the rest of the session: `, false);
  if (answer.trim().toLowerCase() !== 'yes')
    throw new MagicError(`${would}: not done, as the answer was not yes`);
  consents.give(effect);
}
