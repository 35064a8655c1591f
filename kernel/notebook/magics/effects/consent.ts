import type { CellIo } from '../../../jupyter/message.js';
import { oneLine } from '../../../text.js';
import { MagicError } from '../magic-arguments.js';
import type { AskedEffect } from './effects.js';

/** What a session may do without asking: effects that the user allowed, and changes to what its own cells created. */
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

  /** Records something created by a cell of this session. */
  made(what: Thing): void {
    this.#made.add(keyOf(what));
  }

  hasMade(what: Thing): boolean {
    return this.#made.has(keyOf(what));
  }
}

/** Something that a cell can create and later change; ids belong to a profile. */
type Thing = readonly [
  kind: 'file' | 'recording' | 'dataset' | 'starred query' | 'annotation' | 'sign-in',
  name: string,
  profile?: string,
];

function keyOf(what: Thing): string {
  return JSON.stringify(what);
}

/** Throws MagicError if content that a service would store for others to read contains an access token. */
export async function refuseSecrets(
  session: { withoutSecrets(text: string): Promise<string> },
  magic: { readonly name: string },
  content: unknown,
): Promise<void> {
  const text = JSON.stringify(content);
  if ((await session.withoutSecrets(text)) === text) return;
  throw new MagicError(
    `%${magic.name}: it contains an access token, and others can read what is stored`,
    'Remove the token. If others have seen it already, revoke it.',
  );
}

/**
 * Requests consent for an effect of a magic, unless it was given before in this session; throws MagicError if refused. A line that a
 * front end runs without history is the user's own action, which no notebook can write.
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
      `${would}, but this session cannot ask for consent`,
      `If this is intended, allow it with \`apl-kernel run --allow ${effect}\`, or APL_KERNEL_ALLOW=${effect} in the environment of the kernel.`,
    );
  const answer = await io.input(`${would}. Type yes to allow this for the rest of the session: `, false);
  if (answer.trim().toLowerCase() !== 'yes')
    throw new MagicError(`${would}: not done because the answer was not yes`);
  consents.give(effect);
}
