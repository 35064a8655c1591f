import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Service, ServiceOptions } from '../../kernel/local/http/http-options.js';
import { startService } from '../../kernel/local/http/http-server.js';
import type {
  Compile,
  CompiledField,
  CompiledQuery,
  CompiledTable,
} from '../../kernel/local/sql/compiled-query.js';
import { spawnEngine } from './engine/spawned.js';

/** 2026-06-15T12:00:00Z. */
export const nowMs = Date.UTC(2026, 5, 15, 12);

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a service on a free port that accepts SQL instead of APL: the first line names the fields, the rest is the SELECT. */
export async function testService(options: Partial<ServiceOptions> = {}): Promise<TestService> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const service = await startService({ ...defaults, dataDir, ...options });
  onTestFinished(() => service.close());
  return new TestService(service, dataDir);
}

/** Shares one service between all tests of a file. */
export function sharedService(options: Partial<ServiceOptions> = {}): () => TestService {
  let shared: TestService | undefined;
  beforeAll(async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
    shared = new TestService(await startService({ ...defaults, dataDir, ...options }), dataDir);
  });
  afterAll(async () => {
    await shared?.service.close();
    await rm(shared?.dataDir ?? '', { recursive: true, force: true });
  });
  return () => {
    if (!shared) throw new Error('the service has not started');
    return shared;
  };
}

export class TestService {
  readonly service: Service;
  readonly dataDir: string;

  constructor(service: Service, dataDir: string) {
    this.service = service;
    this.dataDir = dataDir;
  }

  send(
    method: string,
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    return fetch(this.service.url + route, {
      method,
      headers: {
        authorization: `Bearer ${this.service.token}`,
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: encode(body) }),
      ...(signal && { signal }),
    });
  }

  /** Sends a request; returns the status and JSON of the response. */
  async json(
    method: string,
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await this.send(method, route, body, headers);
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  query(apl: string, more: object = {}): Promise<Answer> {
    return this.json('POST', '/v1/datasets/_apl?format=tabular', { apl, ...more });
  }
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what is read from it is compared with exact values
  readonly body: any;
}

/** Returns a compiled query of one table over `sql`; fields are written `name:type`. */
export function compiledOf(sql: string, fields: string, table: Partial<CompiledTable> = {}): CompiledQuery {
  const parsed = fields.split(' ').map(each => {
    const [name = '', type] = each.split(':');
    return { name, type } as CompiledField;
  });
  return {
    tables: [{ name: '0', sql, fields: parsed, order: [], groups: [], sources: [], whole: false, ...table }],
    datasets: table.sources ?? [],
    notices: [],
  };
}

const latest = 2n ** 63n - 1n;

/**
 * Compiles `dataset name: a:long b:string` to read these fields, and `a:long
 * SELECT 1` to run the SELECT; `?` is an error at its position.
 */
const sqlInsteadOfApl: Compile = (request, catalog) => {
  const wrong = request.apl.indexOf('?');
  if (wrong >= 0) {
    const diagnostic = {
      from: wrong,
      to: wrong + 1,
      severity: 'error',
      code: 'unknown-field',
      message: 'no such field',
      hint: 'write another',
    } as const;
    return { ok: false, diagnostics: [diagnostic] };
  }
  const dataset = /^dataset ([^:]+): (.*)$/.exec(request.apl);
  if (!dataset) {
    const [fields = '', ...sql] = request.apl.split('\n');
    return { ok: true, compiled: compiledOf(sql.join('\n'), fields) };
  }
  const [, name = '', fields = ''] = dataset;
  const names = fields.split(' ').map(each => each.split(':')[0] ?? '');
  return {
    ok: true,
    compiled: compiledOf(catalog.scan(name, names, -latest, latest), fields, { sources: [name] }),
  };
};

function encode(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

const defaults = {
  port: 0,
  spawnEngine,
  version: '1.2.3',
  compile: sqlInsteadOfApl,
  log: () => {},
  now: () => nowMs,
};
