import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { root } from '../../setup/sources.js';

/** An answer: its message, and its data lines. */
export interface Answer {
  readonly words: string;
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly text: string;
  readonly isError: boolean;
}

/** An agent that has started `apl-kernel mcp` in an environment. */
export interface Agent {
  readonly client: Client;
  readonly call: (name: string, given?: Record<string, unknown>) => Promise<Answer>;
}

/** Connects an agent that uses the protocol's own library. */
export async function connectAgent(
  env: Readonly<Record<string, string>> & { readonly HOME: string },
): Promise<Agent> {
  const args = [join(root, 'dist', 'main.js'), 'mcp'];
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: env.HOME, stderr: 'ignore' }),
  );
  const call: Agent['call'] = async (name, given = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const [{ text }] = content as [{ text: string }];
    const lines = text.split('\n');
    const mark = lines.find(line => /^data-[\w-]{12}$/.test(line)) ?? '';
    const [from, to] = [lines.indexOf(mark), lines.lastIndexOf(mark)];
    const data = mark === '' ? [] : lines.slice(from + 1, to).map(line => JSON.parse(line));
    return { words: lines.slice(0, Math.max(from, 0)).join('\n'), data, text, isError: isError === true };
  };
  return { client, call };
}
