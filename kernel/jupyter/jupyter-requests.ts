import { AplKernelError } from '../errors.js';
import { isObject, type JsonObject } from './jupyter-wire.js';

/**
 * Client requests, checked and with defaults filled in; offsets are UTF-16 indices into `code`.
 * https://jupyter-client.readthedocs.io/en/stable/messaging.html
 */
export type Request =
  | ({ readonly kind: 'execute' } & ExecuteFields)
  | { readonly kind: 'complete'; readonly code: string; readonly cursor: number }
  | { readonly kind: 'inspect'; readonly code: string; readonly cursor: number; readonly detail: 0 | 1 }
  | { readonly kind: 'is_complete'; readonly code: string }
  | { readonly kind: 'history'; readonly query: HistoryQuery; readonly output: boolean }
  | { readonly kind: 'kernel_info' }
  | { readonly kind: 'usage' }
  | { readonly kind: 'connect' }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'shutdown'; readonly restart: boolean }
  | { readonly kind: 'comm_info'; readonly target: string | undefined }
  | { readonly kind: 'comm_open'; readonly id: string; readonly target: string; readonly data: unknown }
  | { readonly kind: 'comm_msg' | 'comm_close'; readonly id: string; readonly data: unknown };

/** A cell to run and how to run it. */
export interface ExecuteFields {
  readonly code: string;
  readonly silent: boolean;
  /** False whenever `silent` is true. */
  readonly storeHistory: boolean;
  readonly userExpressions: Readonly<Record<string, string>>;
  readonly allowStdin: boolean;
  readonly stopOnError: boolean;
}

/** History lines to list. */
export type HistoryQuery =
  | { readonly access: 'tail'; readonly n: number }
  | {
      readonly access: 'range';
      /** 0 for the current session, -1 for the previous one. */
      readonly session: number;
      readonly start: number;
      /** First line not to list; undefined for all remaining lines. */
      readonly stop: number | undefined;
    }
  | {
      readonly access: 'search';
      /** A glob that matches the whole source: `*`, `?`, `[a-z]`, `[!a-z]`. */
      readonly pattern: string;
      readonly n: number | undefined;
      readonly unique: boolean;
    };

/** A known request whose content lacks a field or has a field of the wrong type (`invalid-request`). */
export class InvalidRequestError extends AplKernelError {
  constructor(message: string) {
    super('invalid-request', message, { hint: 'The front end sent a request that this kernel cannot read.' });
  }
}

/** Parses the content of a request; returns undefined if `type` is unknown; throws InvalidRequestError. */
export function parseRequest(type: string, content: JsonObject): Request | undefined {
  switch (type) {
    case 'execute_request':
      return parseExecute(content);
    case 'complete_request':
      return { kind: 'complete', ...parseCursor(content) };
    case 'inspect_request':
      return {
        kind: 'inspect',
        ...parseCursor(content),
        detail: number(content, 'detail_level', 0) > 0 ? 1 : 0,
      };
    case 'is_complete_request':
      return { kind: 'is_complete', code: text(content, 'code') };
    case 'history_request':
      return { kind: 'history', query: parseHistory(content), output: flag(content, 'output', false) };
    case 'kernel_info_request':
      return { kind: 'kernel_info' };
    case 'usage_request':
      return { kind: 'usage' };
    case 'connect_request':
      return { kind: 'connect' };
    case 'interrupt_request':
      return { kind: 'interrupt' };
    case 'shutdown_request':
      return { kind: 'shutdown', restart: flag(content, 'restart', false) };
    case 'comm_info_request':
      return { kind: 'comm_info', target: optionalText(content, 'target_name') };
    case 'comm_open': {
      const target = text(content, 'target_name');
      return { kind: 'comm_open', id: text(content, 'comm_id'), target, data: content.data ?? {} };
    }
    case 'comm_msg':
    case 'comm_close':
      return { kind: type, id: text(content, 'comm_id'), data: content.data ?? {} };
    default:
      return undefined;
  }
}

/** Returns the UTF-16 index of the code point at `offset`, at most the length of `text`. */
export function toUtf16(text: string, offset: number): number {
  let index = 0;
  for (let i = 0; i < offset && index < text.length; i += 1) index += isPair(text, index) ? 2 : 1;
  return index;
}

/** Returns the number of code points before the UTF-16 index; an index inside a pair counts the pair. */
export function toCodePoints(text: string, index: number): number {
  let count = 0;
  for (let at = 0; at < index && at < text.length; at += isPair(text, at) ? 2 : 1) count += 1;
  return count;
}

function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}

function parseExecute(content: JsonObject): Request {
  const silent = flag(content, 'silent', false);
  return {
    kind: 'execute',
    code: text(content, 'code'),
    silent,
    storeHistory: !silent && flag(content, 'store_history', true),
    userExpressions: texts(content, 'user_expressions'),
    allowStdin: flag(content, 'allow_stdin', false),
    stopOnError: flag(content, 'stop_on_error', true),
  };
}

function parseCursor(content: JsonObject): { readonly code: string; readonly cursor: number } {
  const code = text(content, 'code');
  return { code, cursor: toUtf16(code, number(content, 'cursor_pos', code.length)) };
}

function parseHistory(content: JsonObject): HistoryQuery {
  const access = text(content, 'hist_access_type');
  switch (access) {
    case 'tail':
      return { access, n: number(content, 'n', 10) };
    case 'range':
      return {
        access,
        session: number(content, 'session', 0),
        start: number(content, 'start', 1),
        stop: optionalNumber(content, 'stop'),
      };
    case 'search':
      return {
        access,
        pattern: optionalText(content, 'pattern') ?? '*',
        n: optionalNumber(content, 'n'),
        unique: flag(content, 'unique', false),
      };
    default:
      throw new InvalidRequestError('hist_access_type must be "range", "tail" or "search"');
  }
}

/** A null field counts as absent: front ends send both. */
function optional(content: JsonObject, name: string): unknown {
  return content[name] ?? undefined;
}

function text(content: JsonObject, name: string): string {
  const value = content[name];
  if (typeof value === 'string') return value;
  throw new InvalidRequestError(`${name} must be a string`);
}

function optionalText(content: JsonObject, name: string): string | undefined {
  return optional(content, name) === undefined ? undefined : text(content, name);
}

function flag(content: JsonObject, name: string, absent: boolean): boolean {
  const value = optional(content, name) ?? absent;
  if (typeof value === 'boolean') return value;
  throw new InvalidRequestError(`${name} must be true or false`);
}

function number(content: JsonObject, name: string, absent: number): number {
  return optionalNumber(content, name) ?? absent;
}

function optionalNumber(content: JsonObject, name: string): number | undefined {
  const value = optional(content, name);
  if (value === undefined || Number.isSafeInteger(value)) return value as number | undefined;
  throw new InvalidRequestError(`${name} must be a whole number`);
}

function texts(content: JsonObject, name: string): Readonly<Record<string, string>> {
  const value = optional(content, name) ?? {};
  if (isObject(value) && Object.values(value).every(entry => typeof entry === 'string')) {
    return value as Readonly<Record<string, string>>;
  }
  throw new InvalidRequestError(`${name} must be an object of strings`);
}
