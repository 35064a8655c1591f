import type { ProcessId } from '../../../local/lease/processes.js';
import { present } from '../../../present.js';

/**
 * The runtime file, mode 0600, of a kernel whose user lets agents add cells. It exists only while that is on, and is for `apl-kernel
 * mcp` of the same user.
 */
export interface AgentFile extends ProcessId {
  readonly format: typeof agentFormat;
  /** Identifies the notebook to agents. */
  readonly id: string;
  /** Port on the loopback address. */
  readonly port: number;
  readonly token: string;
}

/** Version of the runtime file and of the messages; files of another version are ignored. */
export const agentFormat = 1;

/** Requests of an agent to such a kernel. */
export type AgentRequest =
  | { readonly ask: 'state' }
  | {
      readonly ask: 'append';
      readonly query: string;
      /** In the syntax of `%%time`; absent for the notebook's range. */
      readonly range?: string;
      /** Maximum rows of a result to return. */
      readonly rows: number;
    };

/** The response: sentences of ours, and one line of JSON for each value that comes from the data or the user. */
export interface AgentReply {
  readonly sentences: readonly string[];
  readonly lines: readonly string[];
  /** True if the request was refused or the cell failed. */
  readonly isError?: boolean;
}

/** Returns a refusal: the problem and a hint, which may quote data. */
export function refused(message: string, hint?: string): AgentReply {
  const lines = [JSON.stringify({ message, hint })];
  return { sentences: ['The call failed.'], lines, isError: true };
}

/** Parses a client's request. */
export function readRequest(value: unknown): AgentRequest | undefined {
  const { ask, query, range, rows } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (ask === 'state') return { ask };
  const isRange = range === undefined || typeof range === 'string';
  if (ask !== 'append' || typeof query !== 'string' || typeof rows !== 'number' || !isRange) return undefined;
  return { ask, query, rows, ...present({ range }) };
}
