import { createHash } from 'node:crypto';
import { AplKernelError, type ErrorCode } from '../../errors.js';
import {
  describeResources,
  refusalInWords,
  type Scarce,
  scarceResource,
  systemRefusal,
} from '../../machine.js';
import { present } from '../../present.js';
import { refusedCall } from '../duckdb/bounds/costs.js';
import { lengthenedBy, tooLongHint, tooLongMessage } from '../duckdb/bounds/lengths.js';
import { sequenceTooLong, sequenceTooLongMessage } from '../duckdb/duckdb-relations.js';

/**
 * A query that the engine refused, failed or canceled. Codes: `query-canceled`, `engine-busy`, `engine-memory`, `engine-disk`,
 * `engine-short`, `engine-unexplained`, `engine-ended`, `function-cost`, `query-too-large`, `answer-too-large`, `too-much-computed`,
 * `engine-failed`. `message` is ours; the engine's message may contain SQL, paths and data.
 */
export class EngineError extends AplKernelError {
  /** The engine's message, for the service's log and for file readers. */
  readonly detail: string;

  constructor(
    code: AplKernelError['code'],
    message: string,
    options: { hint?: string; cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.detail = options.cause instanceof Error ? options.cause.message : String(options.cause ?? '');
  }
}

/**
 * A query that was refused memory reserved on its behalf, of which it has used little: the engine reserves sixteen times the size of a long
 * string that becomes JSON. It may succeed if nothing else needs that memory.
 */
export class ReservedMemoryError extends EngineError {}

/** Share of an engine's memory: a query that has used less has reserved more than it uses. */
const usedShare = 3 / 4;

/** Returns the failure of a query that used at most `taken` bytes, out of the engine's `memoryBytes`. */
export function memoryFailure(error: unknown, taken: number, memoryBytes: number): unknown {
  if (!(error instanceof EngineError) || error.code !== 'engine-memory') return error;
  if (taken >= memoryBytes * usedShare) return error;
  const { code, message, hint, cause } = error;
  return new ReservedMemoryError(code, message, { ...present({ hint }), cause });
}

/** Returns the failure of a statement whose result fails while being read, for which the addon has no message. */
export function fetchFailed(): Error {
  return new Error('Failed to fetch');
}

/** Returns whether an error of the engine or the addon says only that something failed. */
export function isUnexplained(error: unknown): error is Error {
  return error instanceof Error && !(error instanceof AplKernelError) && saysNothing.test(error.message);
}

/** The addon's messages for exceptions that the engine did not turn into the error of a result. */
const saysNothing =
  /^(?:Failed to (?:query|prepare|execute|extract|fetch)[a-z ]*:?|(?:[A-Z]\w* Error:?)?)\s*$/;

/**
 * Returns the failure for an error thrown by the engine; failures of our own are returned unchanged. `directories` are those the engine
 * writes to.
 */
export function engineFailure(error: unknown, directories?: readonly string[]): AplKernelError {
  if (error instanceof AplKernelError) return error;
  if (isUnexplained(error)) return unexplainedFailure(error, directories);
  const text = error instanceof Error ? error.message : String(error);
  const own = quotesData.test(text) ? '' : text;
  const costly = refusedCall(own);
  if (costly !== undefined) {
    return new EngineError('function-cost', `\`${costly}\` would take too long for values of this size.`, {
      hint: 'Shorten its arguments first, for example with substring or array_slice.',
    });
  }
  const lengthened = lengthenedBy(own);
  if (lengthened !== undefined)
    return new EngineError('function-cost', `${tooLongMessage(lengthened)}.`, { hint: tooLongHint });
  // The following lines may quote files being read.
  const [said = ''] = own.split('\n');
  for (const { pattern, code, message, hint } of known) {
    if (pattern.test(said)) return new EngineError(code, message, { hint, cause: error });
  }
  const refusal = systemRefusal(error) ?? refusalInWords(said);
  if (refusal !== undefined) {
    const { code, reason, hint } = refusal;
    return new EngineError(code, `The operation failed: ${reason}.`, {
      hint,
      cause: error,
    });
  }
  // The same failure has the same number here and in the log.
  const number = createHash('sha256').update(withoutValues(text)).digest('hex').slice(0, 8);
  return new EngineError('engine-failed', `The local service could not run this query (failure ${number}).`, {
    hint: 'This is a bug in the local service. Report it with the query and the entry for that number in the service log.',
    cause: error,
  });
}

/** Returns the failure of a query that the engine gave up without a reason, based on the resources this machine lacks now. */
function unexplainedFailure(error: Error, directories: readonly string[] | undefined): EngineError {
  const scarce = scarceResource(directories);
  const cause = new Error(`${error.message}; ${describeResources(directories)}`, { cause: error });
  if (scarce !== undefined) return new EngineError(...shortOf[scarce], { hint: freeSome[scarce], cause });
  return new EngineError(
    'engine-unexplained',
    'The engine failed to run this query without giving a reason.',
    {
      hint: 'Run it again: the machine may have been short of memory or disk space. The log of the local service has details.',
      cause,
    },
  );
}

const shortOf: Readonly<Record<Scarce, readonly [code: ErrorCode, message: string]>> = {
  'disk space': ['engine-disk', 'The disk of the local service is full.'],
  memory: ['engine-short', 'The machine is out of memory.'],
  'open files': ['engine-short', 'The local service has too many open files.'],
};

const freeSome: Readonly<Record<Scarce, string>> = {
  'disk space': 'Free some space there, then run the query again.',
  memory: 'Close other programs, then run the query again.',
  'open files':
    'Run the query again when other queries have finished, or start the service with a higher `ulimit -n`.',
};

/** Returns the engine's message about a failed statement; undefined for a refusal, a cancellation or a failure of our own. */
export function engineWords(error: unknown): string | undefined {
  const failure = engineFailure(error);
  return failure instanceof EngineError && failure.code === 'engine-failed' ? failure.detail : undefined;
}

/** Returns whether a failure may be due to a damaged or unreadable file. */
export function mayBeOfFile(error: unknown): boolean {
  const failure = engineFailure(error);
  return failure instanceof EngineError && ofFiles.has(failure.code);
}

const ofFiles: ReadonlySet<string> = new Set(['engine-failed', 'not-writable', 'disk-failed', 'unreadable']);

/** Returns the failure of a query that was canceled. */
export function canceledError(cause?: unknown): EngineError {
  return new EngineError('query-canceled', 'The query was canceled.', { cause });
}

/** Returns the failure of a query whose answer would exceed this many bytes. */
export function answerTooLarge(mostBytes: number): EngineError {
  return new EngineError(
    'answer-too-large',
    `The result would be larger than ${mostBytes / 2 ** 20} MiB, the maximum size.`,
    { hint: 'Aggregate in the query, project fewer fields, or set a lower limit.' },
  );
}

/** Errors in which the engine quotes the data it reads, which may look like any other error. */
const quotesData =
  /^(?:Conversion Error|Invalid Input Error: (?:JSON transform error|Malformed JSON|CSV Error))/;

interface Known {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

const known: readonly Known[] = [
  {
    pattern: /^INTERRUPT/,
    code: 'query-canceled',
    message: 'The query was canceled.',
    hint: 'Run it again.',
  },
  {
    pattern: /No space left on device|ENOSPC|Disk quota exceeded/i,
    code: 'engine-disk',
    message: shortOf['disk space'][1],
    hint: freeSome['disk space'],
  },
  {
    pattern: /Too many open files|EMFILE|ENFILE/,
    code: 'engine-short',
    message: shortOf['open files'][1],
    hint: freeSome['open files'],
  },
  {
    pattern:
      /^Out of Memory|bad.alloc|(?:Cannot|Failed to) allocate memory|Array buffer allocation failed|ENOMEM/i,
    code: 'engine-memory',
    message: 'The query exceeds its memory limit.',
    hint: 'Narrow the time range or keep fewer fields.',
  },
  {
    pattern:
      /Cannot create a string of size|Cannot resize vector|maximum (?:allowed|supported) (?:vector|string) size/,
    code: 'function-cost',
    message: 'A function would return a value that is too large.',
    hint: tooLongHint,
  },
  {
    pattern: new RegExp(`^Invalid Input Error: ${sequenceTooLong}`),
    code: 'too-much-computed',
    message: sequenceTooLongMessage,
    hint: 'Use a larger step or a shorter range.',
  },
  {
    pattern: /Max expression depth limit|stack overflow|Maximum call stack/i,
    code: 'query-too-large',
    message: 'The query is nested too deeply.',
    hint: 'Split it: name parts with `extend`, or replace many terms with a list.',
  },
];

/** Returns a failure message without the parts that vary between runs. */
function withoutValues(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/["'`][^"'`]*["'`]|\d+/g, '');
}
