/** Parsers of option values; each throws a UsageError that says what to give. */
import { UsageError } from '../errors.js';
import { type AskedEffect, askedEffects, readEffects } from '../notebook/magics/effects/effects.js';
import type { CodeView } from './notebook-commands.js';

/** Exit code of a command that did not run because of invalid arguments. */
export const USAGE = 2;

/** Parses a port; 0 means any free one. */
export function portNumber(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError('port-invalid', `${text} is not a port`, { hint: 'give a number from 0 to 65535' });
}

/** Parses a positive number of seconds. */
export function seconds(text: string): number {
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new UsageError('option-invalid', `${text} is not a number of seconds`);
}

/** Parses seconds of at most a day, as timers overflow after some weeks. */
export function daySeconds(text: string): number {
  const number = seconds(text);
  if (number <= 86_400) return number;
  throw new UsageError('option-invalid', `${text} seconds are more than a day`);
}

/** Parses a ratio from 0 to less than 1. */
export function part(text: string): number {
  const number = Number(text);
  if (number >= 0 && number < 1) return number;
  throw new UsageError(
    'option-invalid',
    `${text} is not a relative difference: give a number from 0 to less than 1`,
  );
}

/** Parses how a page shows the code of cells. */
export function codeView(text: string): CodeView {
  if (text === 'show' || text === 'fold' || text === 'hide') return text;
  throw new UsageError('option-invalid', `--code is show, fold or hide, not ${text}`);
}

/** Parses a list of effects such as `overwrite,drop`. */
export function allowed(text: string): readonly AskedEffect[] {
  const { named, unknown } = readEffects(text);
  if (unknown === undefined) return named;
  throw new UsageError('option-invalid', `${unknown} is not an effect that can be allowed`, {
    hint: `the effects are ${askedEffects.join(', ')}`,
  });
}

/** Collects the values of an option that may be repeated. */
export function gathered(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Adds an exact web origin to the list; a pattern would admit unintended pages. */
export function pageOrigins(text: string, before: readonly string[] = []): readonly string[] {
  const isOrigin = /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
  if (isOrigin) return [...before, text];
  throw new UsageError('option-invalid', `${text} is not an origin of web pages`, {
    hint: 'give only a scheme, a host and a port, such as http://localhost:3000',
  });
}

/** Parses a line number of a file, from 1. */
export function lineNumber(text: string): number {
  const line = Number(text);
  if (Number.isInteger(line) && line >= 1) return line;
  throw new UsageError('option-invalid', `${text} is not a line: lines count from 1`);
}
