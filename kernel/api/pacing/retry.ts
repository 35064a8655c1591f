import { setTimeout as delay } from 'node:timers/promises';
import { AplKernelError } from '../../errors.js';
import { ConnectionError } from '../api-errors.js';
import { headerText, type Refusal } from '../failures/api-failure.js';
import { passingStatuses } from '../failures/statuses.js';
import { cutOffCodes, errorCodes, isNotHttp } from '../failures/transport.js';
import { limitReset, readRetryAfter, untilReset } from './reset.js';

/** The facts about a request that a retry depends on. */
export interface RetryRule {
  /** Whether the request only reads, so that it is safe to send twice. */
  readonly safe: boolean;
  /** Approximate first wait, in milliseconds; it doubles each time. */
  readonly firstMs: number;
  /** Deadline on the clock of `performance.now()`; no wait goes beyond it. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
  /** Called with each wait, and with undefined at its end. */
  readonly tell: (pause: Pause | undefined) => void;
}

/** A wait between two attempts. */
export interface Pause {
  readonly state: 'pausing';
  /** Reason, such as "status 503" or "ECONNRESET". */
  readonly reason: string;
  /** Number of the next attempt, out of {@link MOST_TRIES}. */
  readonly next: number;
  readonly ms: number;
}

type Answered = Pick<Refusal, 'status' | 'headers'>;

type Outcome<T> = { readonly reply: T } | { readonly error: unknown };

export const MOST_TRIES = 4;

/** If the service requests a longer wait, its error is shown at once, with the time that it names. */
const LONGEST_PAUSE_MS = 30_000;

/** Errors of requests that were never sent: even a write is safe to retry. */
const UNSENT = [
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'proxy-unavailable',
];

/** Sends a request up to {@link MOST_TRIES} times, while its failure is transient and a retry is safe. */
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
 * Sends a request that only reads, and again at once if the connection breaks before the response: a reused connection may just have
 * been closed. If the second attempt is refused, throws the first error.
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

/** Returns how long to wait before the next attempt; undefined if the outcome is final. */
function pauseAfter(outcome: Outcome<Answered>, tried: number, rule: RetryRule): Pause | undefined {
  const reason = passingReason(outcome, rule.safe);
  if (reason === undefined || tried === MOST_TRIES) return undefined;
  const asked = 'reply' in outcome ? askedMs(outcome.reply) : 0;
  // Jitter: many clients that fail at once should not all retry at once.
  const ms = Math.max(asked, rule.firstMs * 2 ** (tried - 1)) * (1 + Math.random() / 4);
  const isTooLong = asked > LONGEST_PAUSE_MS || performance.now() + ms >= rule.endsAt;
  return isTooLong ? undefined : { state: 'pausing', reason, next: tried + 1, ms };
}

function passingReason(outcome: Outcome<Answered>, safe: boolean): string | undefined {
  if ('error' in outcome) {
    // A damaged response that has begun: it is not requested again silently, as queries cost money.
    if (outcome.error instanceof AplKernelError && !(outcome.error instanceof ConnectionError))
      return undefined;
    if (isNotHttp(outcome.error)) return undefined;
    const passing = safe ? [...UNSENT, ...cutOffCodes] : UNSENT;
    return errorCodes(outcome.error).find(code => passing.includes(code));
  }
  const { status } = outcome.reply;
  // A request over a limit was not carried out; one that a gateway gave up on may have been.
  const passes = status === 429 || (safe && passingStatuses.has(status));
  return passes ? `status ${status}` : undefined;
}

/** Returns the wait that the service requests, in milliseconds; 0 if none. */
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
