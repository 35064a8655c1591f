import { setTimeout as delay } from 'node:timers/promises';
import { AplKernelError } from '../../errors.js';
import { ConnectionError } from '../api-errors.js';
import { headerText, type Refusal } from '../failures/api-failure.js';
import { passingStatuses } from '../failures/statuses.js';
import { cutOffCodes, errorCodes, isNotHttp } from '../failures/transport.js';
import { limitReset, readRetryAfter, untilReset } from './reset.js';

/** What a retry needs to know of a request. */
export interface RetryRule {
  /** True when the service may do the request twice, as it only reads. */
  readonly safe: boolean;
  /** About the first wait, in milliseconds; each later one is twice as long. */
  readonly firstMs: number;
  /** When the time limit passes, on the clock of `performance.now()`; no wait goes beyond it. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
  /** Is told of each wait, and by undefined of its end. */
  readonly tell: (pause: Pause | undefined) => void;
}

/** A wait between two tries. */
export interface Pause {
  readonly state: 'pausing';
  /** Why, such as "status 503" or "ECONNRESET". */
  readonly reason: string;
  /** Which try comes next, of {@link MOST_TRIES}. */
  readonly next: number;
  readonly ms: number;
}

type Answered = Pick<Refusal, 'status' | 'headers'>;

type Outcome<T> = { readonly reply: T } | { readonly error: unknown };

export const MOST_TRIES = 4;

/** A service that asks for a longer wait has its error shown at once, with the time that it names. */
const LONGEST_PAUSE_MS = 30_000;

/** The request never left: even a write may be sent again. */
const UNSENT = [
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'proxy-unavailable',
];

/** Sends a request up to {@link MOST_TRIES} times, as long as it fails in a way that passes and sending it again is safe. */
export async function withRetries<T extends Answered>(send: () => Promise<T>, rule: RetryRule): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    const outcome = await outcomeOf(send);
    const pause = pauseAfter(outcome, tried, rule);
    if (pause === undefined) return resultOf(outcome);
    rule.tell(pause);
    try {
      await delay(pause.ms, undefined, { signal: rule.signal });
    } finally {
      rule.tell(undefined);
    }
  }
}

/**
 * Sends a request that only reads, and at once a second time where its connection is cut off before the answer: one that is used again
 * may just have been closed. If nothing answers any more, the first failure stands.
 */
export async function withoutStaleConnection<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof AplKernelError || !isCutOff(error)) throw error;
    return send().catch(second => {
      throw errorCodes(second).includes('ECONNREFUSED') ? error : second;
    });
  }
}

function isCutOff(error: unknown): boolean {
  return errorCodes(error).some(code => cutOffCodes.includes(code));
}

/** Returns how long to wait before the next try; undefined when the outcome stands. */
function pauseAfter(outcome: Outcome<Answered>, tried: number, rule: RetryRule): Pause | undefined {
  const reason = passingReason(outcome, rule.safe);
  if (reason === undefined || tried === MOST_TRIES) return undefined;
  const asked = 'reply' in outcome ? askedMs(outcome.reply) : 0;
  // Many clients that fail at the same moment should not come back at the same moment.
  const ms = Math.max(asked, rule.firstMs * 2 ** (tried - 1)) * (1 + Math.random() / 4);
  const isTooLong = asked > LONGEST_PAUSE_MS || performance.now() + ms >= rule.endsAt;
  return isTooLong ? undefined : { state: 'pausing', reason, next: tried + 1, ms };
}

function passingReason(outcome: Outcome<Answered>, safe: boolean): string | undefined {
  if ('error' in outcome) {
    // An answer that has begun and is damaged: it is not asked for again behind the user's back, as queries cost.
    if (outcome.error instanceof AplKernelError && !(outcome.error instanceof ConnectionError))
      return undefined;
    if (isNotHttp(outcome.error)) return undefined;
    const passing = safe ? [...UNSENT, ...cutOffCodes] : UNSENT;
    return errorCodes(outcome.error).find(code => passing.includes(code));
  }
  const { status } = outcome.reply;
  // A request over a limit was not done; one that a gateway gave up on may have been.
  const passes = status === 429 || (safe && passingStatuses.has(status));
  return passes ? `status ${status}` : undefined;
}

/** How long the service wants to be left alone, in milliseconds; 0 when it does not say. */
function askedMs({ headers }: Answered): number {
  const after = headerText(headers, 'retry-after');
  const reset = after === undefined ? limitReset(name => headerText(headers, name)) : readRetryAfter(after);
  return reset === undefined ? 0 : untilReset(reset, headerText(headers, 'date'));
}

async function outcomeOf<T>(send: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { reply: await send() };
  } catch (error) {
    return { error };
  }
}

function resultOf<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.reply;
}
