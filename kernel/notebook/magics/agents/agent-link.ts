import type { ProcessId } from '../../../local/lease/processes.js';
import { present } from '../../../present.js';

/**
 * The runtime file, mode 0600, of a kernel whose user lets agents add cells. It is there only while that is on, for those who can read it:
 * `apl-kernel mcp` of the same user.
 */
export interface AgentFile extends ProcessId {
  readonly format: typeof agentFormat;
  /** By which agents name the notebook. */
  readonly id: string;
  /** On the loopback address. */
  readonly port: number;
  readonly token: string;
}

/** The format of the runtime file and of what both ends say; files of another format are left alone. */
export const agentFormat = 1;

/** What an agent may ask of such a kernel. */
export type AgentRequest =
  | { readonly ask: 'state' }
  | {
      readonly ask: 'append';
      readonly query: string;
      /** As `%%time` takes it; absent for that of the notebook. */
      readonly range?: string;
      /** How many rows of a result it is given at most. */
      readonly rows: number;
    };

/** The answer: sentences of ours, and JSON, a value a line, with whatever comes from data or the user. */
export interface AgentReply {
  readonly sentences: readonly string[];
  readonly lines: readonly string[];
  /** True for a refusal or a cell that has failed. */
  readonly isError?: boolean;
}

/** Returns a refusal: what is wrong and what to do, which may quote data. */
export function refused(message: string, hint?: string): AgentReply {
  const lines = [JSON.stringify({ message, hint })];
  return { sentences: ['The call has failed.'], lines, isError: true };
}

/** Narrows what a client has sent. */
export function readRequest(value: unknown): AgentRequest | undefined {
  const { ask, query, range, rows } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (ask === 'state') return { ask };
  const isRange = range === undefined || typeof range === 'string';
  if (ask !== 'append' || typeof query !== 'string' || typeof rows !== 'number' || !isRange) return undefined;
  return { ask, query, rows, ...present({ range }) };
}
