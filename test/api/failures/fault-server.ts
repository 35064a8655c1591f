import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** Writes raw bytes to a socket in place of the service. */
export type Fault = (socket: Socket) => void;

export const secret = 'xaat-12345678-secret';

/** An HTTP/1.1 response with a content length, after which the connection closes. */
export function http(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): Fault {
  const bytes = Buffer.from(body as Uint8Array);
  const lines = Object.entries({ 'content-length': String(bytes.length), ...headers }).map(each =>
    each.join(': '),
  );
  const head = `HTTP/1.1 ${status} Said\r\n${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`;
  return socket => socket.end(Buffer.concat([Buffer.from(head), bytes]));
}

/** Alternates between two faults, one per connection. */
export function inTurns(first: Fault, second: Fault): Fault {
  let isSecond = true;
  return socket => {
    isSecond = !isSecond;
    (isSecond ? second : first)(socket);
  };
}

export const raw =
  (bytes: string | Uint8Array): Fault =>
  socket =>
    socket.end(bytes);
export const json = { 'content-type': 'application/json' };
export const said = (status: number, message: string, headers = {}) =>
  http(status, { ...json, ...headers }, JSON.stringify({ code: status, message }));
const page = (status: number) =>
  http(status, { 'content-type': 'text/html' }, '<html><body>Bad Gateway</body></html>');
export const text = (status: number, body: string) => http(status, { 'content-type': 'text/plain' }, body);

const statuses = [
  301, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 413, 414, 415, 418, 421, 422, 423, 424,
  426, 428, 429, 430, 431, 451, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 522, 524, 530,
];
export const whole = '{"format":"tabular","status":{},"tables":[],"datasetNames":[],"fieldsMetaMap":{}}';

/** Faults in place of the service, by description. */
export const faults: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries(statuses.map(status => [`${status} in JSON`, said(status, 'no luck')])),
  ...Object.fromEntries(
    [200, 400, 403, 429, 500, 502, 503, 504].map(status => [`${status}, a web page`, page(status)]),
  ),
  ...Object.fromEntries(
    [400, 429, 500, 503].map(status => [`${status}, plain text`, text(status, 'line 1: parse error\n')]),
  ),
  '200, an error': http(200, json, '{"code":500,"message":"shard 7 is gone"}'),
  '200, an error without a code': http(200, json, '{"message":"shard 7 is gone"}'),
  '200, the error of a wrong query': http(200, json, '{"code":400,"message":"no such field"}'),
  '200, a wrong type in a column': http(
    200,
    json,
    whole.replace(
      '"tables":[]',
      '"tables":[{"name":"0","fields":[{"name":"n","type":"integer"}],"columns":[[1,"two",{"a":3},null]]}]',
    ),
  ),
  '200, no body': http(200, json, ''),
  '200, a list': http(200, json, '[1,2]'),
  '200, a text': http(200, json, '"done"'),
  '200, JSON that is cut off': http(200, json, whole.slice(0, 40)),
  '200, fewer bytes than announced': http(200, { ...json, 'content-length': '999' }, whole),
  '200, packed with br': http(200, { ...json, 'content-encoding': 'br' }, whole),
  '200, packed with zstd': http(200, { ...json, 'content-encoding': 'zstd' }, whole),
  '200, packed with deflate': http(200, { ...json, 'content-encoding': 'deflate' }, whole),
  '200, gzip that is none': http(200, { ...json, 'content-encoding': 'gzip' }, whole),
  '200, gzip that is cut off': http(
    200,
    { ...json, 'content-encoding': 'gzip' },
    gzipSync(whole.repeat(9)).subarray(0, 30),
  ),
  '200, a chunk of a wrong size': raw(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${whole}`),
  '500, 3 MB': said(500, `it broke: ${'x'.repeat(3_000_000)}`),
  '429, over a budget': said(429, 'spend budget exceeded', { 'retry-after': '754' }),
  '429, over a rate': said(429, 'rate limit exceeded', {
    'x-ratelimit-scope': 'user',
    'x-ratelimit-limit': '10',
    'x-ratelimit-reset': '4102444800',
  }),
  '429, over the limit of queries': said(429, 'limit exceeded', {
    'x-querylimit-limit': '5000',
    'x-querylimit-remaining': '0',
    'x-querylimit-reset': '4102444800',
  }),
  '429, a gateway that names a time': said(429, 'slow down', { 'retry-after': '754' }),
  '429, a date': said(429, 'slow down', { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' }),
  '429, a wait that is none': said(429, 'slow down', { 'retry-after': 'soon' }),
  '429, seconds from now': said(429, 'slow down', { 'x-ratelimit-reset': '754' }),
  '429, by the header of the IETF': said(429, 'slow down', { 'ratelimit-reset': '754' }),
  '429, milliseconds since 1970': said(429, 'slow down', { 'x-ratelimit-reset': '4102444800000' }),
  '429, by a clock that is far behind': said(429, 'slow down', {
    date: 'Fri, 01 Jan 2016 00:00:00 GMT',
    'x-ratelimit-reset': '1451610000',
  }),
  '429, then an answer': inTurns(said(429, 'slow down', { 'retry-after': '0' }), http(200, json, whole)),
  '503, then an answer': inTurns(said(503, 'busy'), http(200, json, whole)),
  'reset, then an answer': inTurns(socket => socket.resetAndDestroy(), http(200, json, whole)),
  '401, an expired token': said(401, 'token expired'),
  '511, a captive portal': http(511, { 'content-type': 'text/html' }, '<html>Sign in to the Wi-Fi</html>'),
  'a redirect to a captive portal': http(302, { location: 'http://wifi.example/?from=api' }, ''),
  'the token in a message': said(400, `bad token ${secret}`),
  'a redirect to another host': said(302, '', { location: 'https://elsewhere.example/login' }),
  'not HTTP: SSH': raw('SSH-2.0-OpenSSH_9.6\r\n'),
  'not HTTP: TLS, which refuses': raw(Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46])),
  'not HTTP: zeros': raw(Buffer.alloc(64)),
  'closed at once': socket => socket.end(),
  'reset at once': socket => socket.resetAndDestroy(),
  'half a header, then closed': raw('HTTP/1.1 200 OK\r\ncontent-le'),
  'half a body, then reset': socket => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n${whole}`, () =>
      setTimeout(() => socket.resetAndDestroy(), 20),
    );
  },
  'headers of 200 KB': http(200, { 'x-long': 'y'.repeat(200_000) }, whole),
};

/** A server on a free port that answers each connection with a fault. */
export interface FaultServer {
  readonly url: string;
  readonly requests: number;
  close(): void;
}

/** Starts a fault server; it answers as soon as a request begins, without reading the rest. */
export async function serveFault(answer: Fault): Promise<FaultServer> {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      requests++;
      answer(socket);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
