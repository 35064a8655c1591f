import { QueryError } from '../../api/api-errors.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { tokenize } from '../../apl/syntax/tokens/lexer.js';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';
import type { SessionOptions } from '../session.js';
import type { LoggedQuery } from './query-log.js';

/**
 * Returns an error of a query; if it is about a name that an earlier kernel knew, as a result or a parameter, its hint is to rerun
 * the cell that defines it.
 */
export async function explainForgotten(
  error: unknown,
  { text }: Pick<QueryText, 'text'>,
  { queryLog, log }: Pick<SessionOptions, 'queryLog' | 'log'>,
): Promise<unknown> {
  if (!(error instanceof QueryError) || queryLog === undefined) return error;
  const words = new Set(tokenize(text).flatMap(token => (token.kind === 'word' ? [token.text] : [])));
  const names = [...words].filter(word => error.message.includes(`\`${word}\``));
  if (names.length === 0) return error;
  const entries = await queryLog.entries().catch((failure: unknown) => {
    if (!(failure instanceof AplKernelError)) throw failure;
    log(failure.message);
    return [];
  });
  const hints = names.flatMap(name => hintFor(name, entries) ?? []);
  if (hints.length === 0) return error;
  const { code, cause, status, traceId, position, others } = error;
  const hint = [...hints, ...(error.hint === undefined ? [] : [error.hint])].join(' ');
  const options = { code, hint, others, ...present({ cause, status, traceId, position }) };
  return new QueryError(error.message, options);
}

function hintFor(name: string, entries: readonly LoggedQuery[]): string | undefined {
  const last = entries.findLast(each => each.name === name || Object.hasOwn(each.variables ?? {}, name));
  if (last === undefined) return undefined;
  const kind = last.name === name ? 'result' : 'parameter';
  return `\`${name}\` was a ${kind} of an earlier kernel: run the cells above again.`;
}
