import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import S3rver from 's3rver';
import { afterAll, beforeAll } from 'vitest';

/** An S3 server with the bucket `logs`, configured by environment variables; it records requests, and can simulate failures. */
export class Bucket {
  readonly requests: string[] = [];
  /** Paths of written objects, including those of tests. */
  readonly written: string[] = [];
  /** Handles a request itself, or returns false. */
  fault: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  #server: Server | undefined;
  #directory = '';
  #client: S3Client | undefined;

  async start(): Promise<Readonly<Record<string, string>>> {
    this.#directory = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
    const store = new S3rver({
      directory: this.#directory,
      silent: true,
      // There is only this bucket, whatever the host name.
      vhostBuckets: false,
      configureBuckets: [{ name: 'logs' }],
    });
    await store.configureBuckets();
    const answer = store.getMiddleware();
    const server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      if (method === 'GET') this.requests.push(`${decodeURIComponent(url)} ${headers.range ?? ''}`.trim());
      if (method === 'PUT') this.written.push(url);
      if (this.fault(request, response)) return;
      void inOnePiece(request).then(whole => answer(whole, response));
    });
    this.#server = server;
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
    this.#client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials });
    return {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_CONFIG_FILE: path.join(this.#directory, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: path.join(this.#directory, 'none'),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    };
  }

  async put(key: string, body: Uint8Array | string): Promise<void> {
    await this.#client?.send(new PutObjectCommand({ Bucket: 'logs', Key: key, Body: body }));
  }

  /** Returns an object as text. */
  async text(key: string): Promise<string> {
    const object = await this.#client?.send(new GetObjectCommand({ Bucket: 'logs', Key: key }));
    return (await object?.Body?.transformToString()) ?? '';
  }

  /** Returns the requests since the last call. */
  taken(): readonly string[] {
    return this.requests.splice(0);
  }

  async close(): Promise<void> {
    this.#client?.destroy();
    this.#server?.closeAllConnections();
    await new Promise(resolve => this.#server?.close(resolve));
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Converts a request body in signed chunks, as a cluster sends it, to a plain body. */
export async function inOnePiece(request: IncomingMessage): Promise<IncomingMessage> {
  if (request.headers['content-encoding'] !== 'aws-chunked') return request;
  const body = Buffer.concat(await request.toArray());
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const from = body.indexOf('\r\n', at) + 2;
    const length = Number.parseInt(body.toString('latin1', at, from), 16);
    chunks.push(body.subarray(from, from + length));
    at = from + length + 2;
  }
  const { method, url, headers, socket } = request;
  return Object.assign(Readable.from(chunks), { method, url, headers, socket }) as unknown as IncomingMessage;
}

/** Returns a Parquet file with an event at each of these times, in milliseconds since 1970, and an optional extra column. */
export function eventsFile(timesMs: readonly number[], more?: ColumnSource): Uint8Array {
  const time = timesMs.map(each => new Date(each));
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: '_time', data: time, type: 'TIMESTAMP' },
        { name: 'n', data: timesMs.map(each => BigInt(each)), type: 'INT64' },
        ...(more === undefined ? [] : [more]),
      ],
    }),
  );
}

/** Shares one bucket between all tests of a file, and sets its environment variables meanwhile. */
export function sharedBucket(): Bucket {
  const bucket = new Bucket();
  const before: Record<string, string | undefined> = {};
  beforeAll(async () => {
    for (const [name, value] of Object.entries(await bucket.start())) {
      before[name] = process.env[name];
      process.env[name] = value;
    }
  });
  afterAll(async () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await bucket.close();
  });
  return bucket;
}
