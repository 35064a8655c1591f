import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from '../api/wire.js';
import type { Diagnostic } from '../apl/ast.js';
import type { Compile } from './compiled.js';
import type { DatasetStore } from './datasets.js';
import type { Engine } from './duckdb.js';
import { readQueryRequest } from './requests.js';
import { runQuery } from './run.js';
import { RecordingCatalog } from './scans.js';
import { ServiceError } from './service-error.js';

/** What a query needs of the service. */
export interface QueryParts {
  readonly engine: Engine;
  readonly datasets: DatasetStore;
  readonly compile: Compile;
  readonly nowNs: () => bigint;
}

/** APL that cannot be run: a 400 that points into the text. */
export class CompileFailure extends ServiceError {
  readonly detail: NonNullable<ErrorBody['detail']>;

  constructor(apl: string, diagnostic: Diagnostic) {
    super(
      400,
      diagnostic.code,
      diagnostic.message,
      diagnostic.hint === undefined ? {} : { hint: diagnostic.hint },
    );
    this.detail = {
      errorType: 'compile',
      compileErrorCode: diagnostic.code,
      ...positionOf(apl, diagnostic.from),
      message: diagnostic.message,
      ...(diagnostic.hint !== undefined && { hint: diagnostic.hint }),
    };
  }
}

/** Answers a query request with a tabular response; the query is interrupted when the client goes away. */
export async function answerQuery(
  parts: QueryParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  checkFormat((request.query as Record<string, string | undefined>).format ?? 'tabular');
  const query = readQueryRequest(request.body);
  const catalog = new RecordingCatalog(await parts.datasets.snapshot());
  const compiled = parts.compile(query, catalog, parts.nowNs());
  if (!compiled.ok) throw failureOf(query.apl, compiled.diagnostics);
  const body = await runQuery(parts.engine, compiled.compiled, catalog, disconnected(reply));
  return send(request, reply, body);
}

/** A signal that is aborted when the client of `reply` goes away before it is answered. */
export function disconnected(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}

function checkFormat(format: string): void {
  if (format === 'tabular') return;
  throw new ServiceError(
    400,
    'format',
    `The local service does not answer in the format ${JSON.stringify(format)}.`,
    {
      hint: 'Ask for `format=tabular`.',
    },
  );
}

function failureOf(apl: string, diagnostics: readonly Diagnostic[]): CompileFailure {
  const first = diagnostics.find(each => each.severity === 'error') ?? diagnostics[0];
  if (first) return new CompileFailure(apl, first);
  return new CompileFailure(apl, {
    from: 0,
    to: 0,
    severity: 'error',
    code: 'invalid',
    message: 'The query cannot be run.',
  });
}

/** One-based line and column of an offset. */
function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Smaller bodies travel in a few packets either way. */
const compressFromBytes = 64 * 1024;

function send(request: FastifyRequest, reply: FastifyReply, body: readonly Buffer[]): FastifyReply {
  const bytes = body.reduce((total, part) => total + part.length, 0);
  reply.header('content-type', 'application/json');
  if (bytes < compressFromBytes || !acceptsGzip(request.headers['accept-encoding'])) {
    return reply.header('content-length', bytes).send(Readable.from(body, { objectMode: false }));
  }
  reply.header('content-encoding', 'gzip').header('vary', 'accept-encoding');
  // On one machine the time to pack counts more than the size.
  return reply.send(Readable.from(body, { objectMode: false }).pipe(createGzip({ level: 1 })));
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[\d.]+\s*)?(,|$)/.test(String(header ?? ''));
}
