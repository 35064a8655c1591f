import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import S3rver from 's3rver';
import { inOnePiece } from '../../test/local/store/dataset/bucket/server.js';

/** Requests to a server. */
export interface Traffic {
  readonly requests: number;
  readonly bytes: number;
}

/** An S3 server on this machine with the bucket `logs`. */
export interface ObjectStore {
  /** Environment through which AWS programs find it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns the requests since the last call. */
  readonly taken: () => Traffic;
  readonly close: () => void;
}

/** Starts an S3 server over a directory, which may already contain objects. */
export async function startStore(directory: string): Promise<ObjectStore> {
  const store = new S3rver({
    ...{ directory, silent: true, vhostBuckets: false },
    configureBuckets: [{ name: 'logs' }],
  });
  await store.configureBuckets();
  const answer = store.getMiddleware();
  let [requests, bytes] = [0, 0];
  const server = createServer((request, response) => {
    requests += 1;
    response.on('close', () => {
      bytes += Number(response.getHeader('content-length') ?? 0);
    });
    void inOnePiece(request).then(whole => answer(whole, response));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  const taken = () => {
    const traffic = { requests, bytes };
    [requests, bytes] = [0, 0];
    return traffic;
  };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { environment, taken, close };
}

/** Returns the file of an object in the directory of a server, which computes its ETag if it has none. */
export function objectFile(directory: string, key: string): string {
  return join(directory, 'logs', `${key}._S3rver_object`);
}
