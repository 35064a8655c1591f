import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { overwrite, removeFile } from '../../../files.js';
import { ownProcess } from '../../../local/lease/processes.js';
import { makeDirectory } from '../../../machine.js';
import {
  type AgentFile,
  type AgentReply,
  type AgentRequest,
  agentFormat,
  readRequest,
} from './agent-link.js';

/** Listener for this user's agents, on this machine only. */
export interface Listener {
  readonly id: string;
  /** Ends all calls at once, and removes the runtime file. */
  close(): Promise<void>;
}

/** Maximum size of a request, in bytes. */
const longestRequest = 65_536;
const mostConnections = 16;

/** Listens on the loopback address and writes the runtime file to a directory, creating it if necessary. Throws system errors. */
export async function listen(
  directory: string,
  answer: (request: AgentRequest, signal: AbortSignal) => Promise<AgentReply>,
): Promise<Listener> {
  const [id, token] = [randomBytes(4).toString('hex'), randomBytes(32).toString('base64url')];
  const server = createServer((request, response) => void respond(request, response, token, answer));
  server.maxConnections = mostConnections;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const file = join(directory, `${id}.json`);
  const content: AgentFile = { format: agentFormat, id, port, token, ...(await ownProcess()) };
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await removeFile(file);
  };
  try {
    makeDirectory(directory);
    await overwrite(file, JSON.stringify(content));
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return { id, close };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  answer: (request: AgentRequest, signal: AbortSignal) => Promise<AgentReply>,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  if (!isToken(request.headers.authorization, token)) return void response.writeHead(401).end();
  const asked = await bodyOf(request).then(readRequest, () => undefined);
  if (asked === undefined) return void response.writeHead(400, { connection: 'close' }).end();
  const reply = await answer(asked, gone.signal);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
}

function isToken(header: string | undefined, token: string): boolean {
  const [given, own] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === own.length && timingSafeEqual(given, own);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) {
    text += String(part);
    if (text.length > longestRequest) return undefined;
  }
  return JSON.parse(text);
}
