import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { QueryStatus, ResultField, TabularResult } from '../../kernel/api/wire.js';

/** A request as received by the service. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A response: status, headers and body (JSON unless it is text or bytes), or a function that writes it. */
export type Reply =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  | ((response: ServerResponse) => void);

export interface Service {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Requests whose connection closed before the response was complete. */
  readonly aborted: readonly string[];
  /** Sets the response to all further requests. */
  answer(reply: (seen: Seen) => Reply): void;
  close(): Promise<void>;
}

/** Starts an HTTP server on a free port that answers with `reply` and records its requests. */
export async function startService(reply: (seen: Seen) => Reply): Promise<Service> {
  const seen: Seen[] = [];
  const aborted: string[] = [];
  let answer = reply;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    let body = '';
    response.on('close', () => response.writableFinished || aborted.push(url.pathname));
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const entry: Seen = {
      method: request.method ?? '',
      path: url.pathname,
      parameters: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body,
    };
    seen.push(entry);
    send(response, answer(entry));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    aborted,
    answer: next => {
      answer = next;
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns a tabular result with one table, given by column. */
export function tabular(
  fields: readonly ResultField[],
  columns: readonly (readonly unknown[])[],
  status: Partial<QueryStatus> = {},
): TabularResult {
  const rows = columns[0]?.length ?? 0;
  return {
    format: 'tabular',
    status: {
      elapsedTime: 1500,
      blocksExamined: 1,
      blocksCached: 0,
      blocksMatched: 1,
      rowsExamined: rows,
      rowsMatched: rows,
      numGroups: 0,
      isPartial: false,
      cacheStatus: 0,
      minBlockTime: '2026-03-04T04:00:00Z',
      maxBlockTime: '2026-03-04T05:00:00Z',
      ...status,
    },
    tables: [{ name: '0', sources: [{ name: 'web' }], fields, order: [], groups: [], columns }],
    datasetNames: ['web'],
    fieldsMetaMap: {},
  };
}

function send(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') {
    reply(response);
    return;
  }
  const { status = 200, headers = {}, body = '' } = reply;
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(raw ? body : JSON.stringify(body));
}
