import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Fault, http, inTurns, json, raw, said, secret, text, whole } from './fault-server.js';

/** Faults caused by intermediaries: proxies, gateways, CDNs, and other services that answer instead. */

const counted =
  '{"format":"tabular","status":{},"tables":[{"name":"0","fields":[{"name":"n","type":"integer"}],"columns":[[7]]}],"datasetNames":[],"fieldsMetaMap":{}}';

const withColumns = (fields: string, columns: string) =>
  http(200, json, whole.replace('[]', `[{"name":"0","fields":${fields},"columns":${columns}}]`));

const good = (head = ''): string =>
  `HTTP/1.1 200 OK\r\n${head}content-type: application/json\r\ncontent-length: ${whole.length}\r\nconnection: close\r\n\r\n${whole}`;

const chunked = (body: string, end: string, head = '') =>
  raw(
    `HTTP/1.1 200 OK\r\n${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}${end === '' ? '' : ';name=value'}\r\n${body}\r\n${end}`,
  );

/** Sends bytes a few at a time. */
function trickled(bytes: string, size: number): Fault {
  return async (socket: Socket) => {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
      socket.write(bytes.slice(at, at + size));
      await new Promise(setImmediate);
    }
    socket.end();
  };
}

const html = (status: number, body: string, headers = {}) =>
  http(
    status,
    { 'content-type': 'text/html; charset=utf-8', ...headers },
    `<!DOCTYPE html><html>${body}</html>`,
  );
const problem = (status: number, body: unknown, headers = {}) =>
  http(status, { ...json, ...headers }, JSON.stringify(body));
const packed = (encoding: string, body: Uint8Array) =>
  http(200, { ...json, 'content-encoding': encoding }, body);

function deep(levels: number): unknown {
  let error: unknown = { message: 'the disk is full' };
  for (let level = 0; level < levels; level++) error = { error };
  return error;
}

/** Unusual framing and encoding of a response. */
const bytes: Readonly<Record<string, Fault>> = {
  'the head in pieces of one byte': trickled(good(), 1),
  'the body in pieces of three bytes': trickled(good(), 3),
  'fewer bytes announced than there are': http(200, { ...json, 'content-length': '40' }, whole),
  'two equal lengths': raw(good(`content-length: ${whole.length}\r\n`)),
  'two different lengths': raw(good('content-length: 12\r\n')),
  'a length and chunks': raw(good('transfer-encoding: chunked\r\n')),
  'a length in hexadecimal': http(200, { ...json, 'content-length': '0x10' }, whole),
  'a negative length': http(200, { ...json, 'content-length': '-1' }, whole),
  'chunks with extensions and a trailer': chunked(whole, '0\r\nx-late: 1\r\n\r\n'),
  'chunks without an end': chunked(whole, ''),
  'HTTP/1.0, without a length': raw(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${whole}`),
  'HTTP/0.9: a body alone': raw(whole),
  'HTTP/2': raw(Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100])),
  '103 Early Hints, then an answer': raw(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${good()}`),
  '100 Continue twice': raw(`HTTP/1.1 100 Continue\r\n\r\n`.repeat(2) + good()),
  '101, another protocol': raw(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n',
  ),
  '102 Processing, then closed': raw('HTTP/1.1 102 Processing\r\n\r\n'),
  'an answer with another behind it': raw(
    good().replace('close', 'keep-alive') + good().replace('"tables":[]', '"tables":1 '),
  ),
  'a header over two lines': raw(good('x-folded: a\r\n b\r\n')),
  'a header with an escape sequence': raw(good('x-axiom-trace-id: \u001b[31mred\r\n')),
  'a status line without words': raw(good().replace(' OK', '')),
  'a status that is none: 999': raw(good().replace('200 OK', '999 Denied')),
  'a status that is none: 20': raw(good().replace('200 OK', '20 OK')),
};

/** Statuses that carry no result, or come from an intermediary. */
const statuses: Readonly<Record<string, Fault>> = {
  '202, no body': http(202, {}, ''),
  '203, an answer': http(203, json, whole),
  '204, no body': raw('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'),
  '205, no body': http(205, {}, ''),
  '206, a part': http(206, { ...json, 'content-range': 'bytes 0-59/84' }, whole.slice(0, 60)),
  '206, a part that looks whole': http(206, { ...json, 'content-range': 'bytes 0-83/900' }, whole),
  '304, no body': raw('HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n'),
  '300 in JSON': said(300, 'choose one'),
  '302, to nowhere': http(302, {}, ''),
  '302, with the token in the address': http(302, { location: `https://${secret}.example/?t=${secret}` }, ''),
  '302, to a file': http(302, { location: 'file:///etc/hosts' }, ''),
  '308, to https of the same host': http(308, { location: 'https://127.0.0.1/v1' }, ''),
  '400, JSON without a reason': http(400, json, whole),
  '401, a web page of basic authentication': html(401, '<h1>401 Authorization Required</h1>', {
    'www-authenticate': 'Basic realm="staging"',
  }),
  '403, a captcha of a CDN': html(403, '<title>Checking your browser</title>', {
    'cf-mitigated': 'challenge',
    server: 'cloudflare',
  }),
  '403, plain text': text(403, 'Host not in allowlist'),
  '407 of a host': html(407, '<h1>Proxy Authentication Required</h1>', {
    'proxy-authenticate': 'Basic realm="corp"',
  }),
  '408, a web page': html(408, '<h1>Request Time-out</h1>'),
  '413, a web page': html(413, '<h1>413 Request Entity Too Large</h1>'),
  '421, a web page': html(421, '<h1>Misdirected Request</h1>'),
  '425, then an answer': inTurns(text(425, 'Too Early'), http(200, json, whole)),
  '451, a web page': html(451, '<h1>Blocked in your country</h1>'),
  '494, a web page': html(494, '<h1>400 Request Header Or Cookie Too Large</h1>'),
  ...Object.fromEntries(
    [520, 521, 523, 525, 526, 527, 529, 530].map(status => [
      `${status}, a web page of a CDN`,
      html(status, `<h1>Error ${status}</h1>`, { server: 'cloudflare', 'cf-ray': '8f1' }),
    ]),
  ),
  '530, plain text of a CDN': text(530, 'error code: 1016'),
  '598, no body': http(598, {}, ''),
};

const waits: Readonly<Record<string, Fault>> = {
  '429, a wait of two milliseconds, then an answer': inTurns(
    said(429, 'slow', { 'retry-after': '0.002' }),
    http(200, json, whole),
  ),
  '429, retry-after of less than nothing': said(429, 'slow', { 'retry-after': '-5' }),
  '429, retry-after of 30 hours': said(429, 'slow', { 'retry-after': '108000' }),
  '429, retry-after of three thousand years': said(429, 'slow', { 'retry-after': '99999999999' }),
  '429, two retry-after': raw(
    'HTTP/1.1 429 No\r\nretry-after: 754\r\nretry-after: 800\r\ncontent-length: 0\r\n\r\n',
  ),
  '429, retry-after-ms': said(429, 'slow', { 'retry-after-ms': '754000' }),
  '429, x-ratelimit-reset-after': said(429, 'slow', { 'x-ratelimit-reset-after': '754' }),
  '429, x-rate-limit-reset': said(429, 'slow', { 'x-rate-limit-reset': '754' }),
  '429, RateLimit of the IETF in one header': said(429, 'slow', {
    ratelimit: 'limit=10, remaining=0, reset=754',
  }),
  '429, RateLimit of the IETF as it is now': said(429, 'slow', { ratelimit: '"default";r=0;t=754' }),
  '429, x-ratelimit-reset as a duration': said(429, 'slow', { 'x-ratelimit-reset': '12m34s' }),
  '429, x-ratelimit-reset as a time': said(429, 'slow', { 'x-ratelimit-reset': '2100-01-01T00:00:00Z' }),
  '429, until the past, then an answer': inTurns(
    said(429, 'slow', { 'x-ratelimit-reset': '1451610000' }),
    http(200, json, whole),
  ),
};

/** Errors of other services, in JSON. */
const shapes: Readonly<Record<string, Fault>> = {
  '500, {"error":{"message"}}': problem(500, { error: { code: 'E7', message: 'the disk is full' } }),
  '500, {"errors":[{"message"}]}': problem(500, { errors: [{ message: 'the disk is full' }] }),
  '500, {"errors":["…"]}': problem(500, { errors: ['the disk is full'] }),
  '500, {"Message"}': problem(500, { Message: 'the disk is full' }),
  '500, {"msg"}': problem(500, { msg: 'the disk is full' }),
  '500, {"reason"}': problem(500, { reason: 'the disk is full' }),
  '500, {"detail"}': problem(500, { detail: 'the disk is full' }),
  '500, a problem of RFC 9457': http(
    500,
    { 'content-type': 'application/problem+json' },
    '{"type":"about:blank","title":"Internal","status":500,"detail":"the disk is full"}',
  ),
  '500, {"error","error_description"}': problem(500, {
    error: 'server_error',
    error_description: 'the disk is full',
  }),
  '500, {"fault":{"faultstring"}}': problem(500, { fault: { faultstring: 'the disk is full' } }),
  '500, a text in JSON': problem(500, 'the disk is full'),
  '500, ten levels deep': problem(500, deep(10)),
  '500, an object without a text': problem(500, { code: 13 }),
  '500, XML': http(
    500,
    { 'content-type': 'application/xml' },
    '<?xml version="1.0"?><Error><Message>the disk is full</Message></Error>',
  ),
  '500, an escape sequence in a message': said(500, 'it \u001b[31mbroke\u202e'),
};

/** Bodies with status 200 that are almost, or not at all, a valid response. */
const bodies: Readonly<Record<string, Fault>> = {
  '200, packed with gzip twice': packed('gzip, gzip', gzipSync(gzipSync(whole))),
  '200, packed twice and declared once': packed('gzip', gzipSync(gzipSync(whole))),
  '200, GZIP in capitals': packed('GZIP', gzipSync(whole)),
  '200, gzip that is not declared': http(200, json, gzipSync(whole)),
  '200, gzip with bytes behind it': packed('gzip', Buffer.concat([gzipSync(whole), Buffer.from('tail')])),
  '200, gzip of two members': packed(
    'gzip',
    Buffer.concat([gzipSync(whole.slice(0, 30)), gzipSync(whole.slice(30))]),
  ),
  '200, gzip with a wrong sum': packed(
    'gzip',
    Buffer.concat([gzipSync(whole).subarray(0, -8), Buffer.alloc(8)]),
  ),
  '200, a byte order mark': http(200, json, `\ufeff${whole}`),
  '200, white space around, longer than what is looked at': http(
    200,
    json,
    `${' \n'.repeat(40_000)}${whole}${' \n'.repeat(40_000)}`,
  ),
  '200, text behind it': http(200, json, `${whole} done`),
  '200, UTF-16': http(200, json, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(whole, 'utf16le')])),
  '200, Latin-1 in a value': withBytes('["caf\u00e9"]'),
  '200, NaN': withColumns('[{"name":"n","type":"float"}]', '[[NaN]]'),
  '200, Infinity': withColumns('[{"name":"n","type":"float"}]', '[[-Infinity]]'),
  '200, a comma at the end': http(200, json, whole.replace('[]', '[],')),
  '200, two answers': http(200, json, whole + counted),
  '200, tables twice': http(200, json, counted.replace('"status"', '"tables":[],"status"')),
  '200, columns of different lengths': withColumns(
    '[{"name":"a","type":"integer"},{"name":"b","type":"integer"}]',
    '[[1,2,3],[4]]',
  ),
  '200, fewer columns than fields': withColumns(
    '[{"name":"a","type":"integer"},{"name":"b","type":"integer"}]',
    '[[1]]',
  ),
  '200, rows in place of columns': withColumns('[{"name":"a","type":"integer"}]', '[{"a":1}]'),
  '200, tables that are null': http(200, json, whole.replace('[]', 'null')),
  '200, a guard against scripts in front': http(200, json, `)]}',\n${whole}`),
  '200, zeros at the end': http(200, json, `${whole}\0\0`),
  '200, a page that is declared as JSON': http(200, json, '<html>Accept the terms of the hotel</html>'),
  '200, XML': http(200, { 'content-type': 'application/xml' }, '<?xml version="1.0"?><ok/>'),
  '200, plain text': text(200, 'It works!'),
  '200, the health of another service': http(200, json, '{"status":"ok"}'),
  '200, the error of another service': http(200, json, '{"error":{"reason":"the disk is full"}}'),
  '200, errors of GraphQL': http(200, json, '{"data":null,"errors":[{"message":"no such field"}]}'),
  '200, events': http(200, { 'content-type': 'text/event-stream' }, `data: ${whole}\n\n`),
};

function withBytes(column: string): Fault {
  const body = whole.replace(
    '[]',
    `[{"name":"0","fields":[{"name":"s","type":"string"}],"columns":[${column}]}]`,
  );
  return http(200, json, Buffer.from(body, 'latin1'));
}

/** Faults accepted as a valid response, besides those whose name says so. */
export const taken: ReadonlySet<string> = new Set([
  'the head in pieces of one byte',
  'the body in pieces of three bytes',
  'chunks with extensions and a trailer',
  'HTTP/1.0, without a length',
  'an answer with another behind it',
  'a status line without words',
  '203, an answer',
  '200, GZIP in capitals',
  '200, gzip of two members',
  '200, a byte order mark',
  '200, white space around, longer than what is looked at',
  '200, Latin-1 in a value',
  '200, tables twice',
  '200, tables that are null',
]);

/** Faults of intermediaries, by description. */
export const oddFaults: Readonly<Record<string, Fault>> = {
  ...bytes,
  ...statuses,
  ...waits,
  ...shapes,
  ...bodies,
};
