import { lstat, readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { UsageError } from '../../errors.js';
import { removeFile, textOf } from '../../files.js';
import { stateOf } from '../../local/lease/processes.js';
import {
  type AgentFile,
  type AgentReply,
  type AgentRequest,
  agentFormat,
} from '../../notebook/magics/agents/agent-link.js';
import type { Session } from '../../notebook/session.js';
import { present } from '../../present.js';
import { answerOf, type ToolAnswer } from './mcp-answer.js';

/** Maximum length of a kernel's reply, in characters. */
const longestReply = 2 ** 20;

/** Lists the notebooks whose users let agents add cells. */
export async function listNotebooks({ options }: Session, signal: AbortSignal): Promise<ToolAnswer> {
  const kernels = await openKernels(options.agentsDir);
  const states = await Promise.all(
    kernels.map(each => send(each, { ask: 'state' }, signal).catch(() => undefined)),
  );
  const lines = states.flatMap(state => state?.lines ?? []);
  const none = 'No notebook accepts cells from agents: its user turns that on with %agents on.';
  return answerOf({
    sentences: [lines.length === 0 ? none : 'Notebooks that accept cells from agents.'],
    lines,
  });
}

/** A cell to add, and the id of its notebook. */
interface CellOrder {
  readonly notebook: string;
  readonly query: string;
  readonly rows: number;
  readonly range: string | undefined;
}

/** Adds a cell to a notebook and runs it. */
export async function appendCell(
  { options }: Session,
  { notebook, query, rows, range }: CellOrder,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const kernel = (await openKernels(options.agentsDir)).find(({ id }) => id === notebook);
  const asked = { ask: 'append' as const, query, rows, ...present({ range }) };
  const reply = kernel && (await send(kernel, asked, signal).catch(() => signal.throwIfAborted()));
  if (reply !== undefined) return answerOf(reply);
  throw new UsageError('option-invalid', `no notebook ${notebook} accepts cells from agents`, {
    hint: 'list_notebooks lists those that do; the user of a notebook turns that on',
  });
}

/** Returns this user's listening kernels; files left behind by killed kernels are removed. */
async function openKernels(directory: string | undefined): Promise<readonly AgentFile[]> {
  const names = directory === undefined ? [] : await readdir(directory).catch((): string[] => []);
  const files = names
    .filter(name => /^[0-9a-f]{8}\.json$/.test(name))
    .map(name => join(directory ?? '', name));
  return (await Promise.all(files.map(readKernel))).flatMap(kernel => kernel ?? []);
}

async function readKernel(file: string): Promise<AgentFile | undefined> {
  try {
    const { uid, mode } = await lstat(file);
    if (process.platform !== 'win32' && (uid !== process.getuid?.() || (mode & 0o077) !== 0))
      return undefined;
    const kernel = JSON.parse(await textOf(file)) as AgentFile;
    if (kernel.format !== agentFormat || !Number.isSafeInteger(kernel.port)) return undefined;
    if ((await stateOf(kernel)) !== 'gone') return kernel;
    await removeFile(file);
  } catch {
    // It is being written, or its kernel has just ended.
  }
  return undefined;
}

/** Sends a request to a kernel. Rejects if it has ended, or its user has turned this off. */
async function send(
  { port, token }: AgentFile,
  asked: AgentRequest,
  signal: AbortSignal,
): Promise<AgentReply> {
  const body = JSON.stringify(asked);
  const headers = { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(body) };
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false, signal });
    sent.on('error', reject).on('response', response => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('error', reject)
        .on('end', () => resolve(text));
      response.on('data', part => {
        text += String(part);
        if (text.length > longestReply) sent.destroy(new Error('the response is too long'));
      });
    });
    sent.end(body);
  });
  return JSON.parse(text) as AgentReply;
}
