import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  ConnectionFileError,
  endpoint,
  parseConnection,
  readConnectionFile,
} from '../../kernel/jupyter/connection.js';
import { startKernel } from '../../kernel/jupyter/jupyter-server.js';
import { LOCAL } from './client.js';
import { EchoHandler } from './echo-handler.js';

const FILE = { ...LOCAL, signature_scheme: 'hmac-sha256', kernel_name: 'apl', shell_port: 5001 };

const problems: readonly (readonly [string, string, string])[] = [
  ['text', 'key: secret', 'The connection file is not JSON'],
  ['an array', '[]', 'The connection file is not a JSON object'],
  ['no key', JSON.stringify({ ...FILE, key: undefined }), 'The connection file has no text in the field key'],
  [
    'a port as text',
    JSON.stringify({ ...FILE, hb_port: '1' }),
    'The connection file has no port number in the field hb_port',
  ],
  ...[-1, 0.5, 65_536].map(
    port =>
      [
        `the port ${port}`,
        JSON.stringify({ ...FILE, hb_port: port }),
        'The connection file has no port number in the field hb_port',
      ] as const,
  ),
  [
    'another scheme',
    JSON.stringify({ ...FILE, signature_scheme: 'hmac-md5' }),
    'Signature scheme "hmac-md5" is not supported: hmac-sha256 is',
  ],
  [
    'one of two keys of CurveZMQ',
    JSON.stringify({ ...FILE, curve_publickey: 'x'.repeat(40) }),
    'The connection file has no text in the field curve_secretkey',
  ],
  [
    'a short key of CurveZMQ',
    JSON.stringify({ ...FILE, curve_publickey: 'secret', curve_secretkey: 'x'.repeat(40) }),
    'The connection file has no key of 40 characters in the field curve_publickey',
  ],
  [
    'another transport',
    JSON.stringify({ ...FILE, transport: 'udp' }),
    'Transport "udp" is not supported: tcp and ipc are',
  ],
];
test.each(problems)('a connection file with %s is rejected', (_, text, reason) => {
  expect(() => parseConnection(text)).toThrow(new ConnectionFileError(reason));
});

test('reads a connection file, and names a missing one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'apl-kernel-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'kernel.json');
  await expect(readConnectionFile(file)).rejects.toThrow(`Cannot read the connection file ${file}`);
  await writeFile(file, JSON.stringify(FILE));
  expect(await readConnectionFile(file)).toEqual({ ...LOCAL, shell_port: 5001 });
});

test('reads the keys of CurveZMQ, which may be null', () => {
  const keys = { curve_publickey: 'p'.repeat(40), curve_secretkey: 's'.repeat(40) };
  const curve = { publicKey: 'p'.repeat(40), secretKey: 's'.repeat(40) };
  expect(parseConnection(JSON.stringify({ ...FILE, ...keys }))).toEqual({
    ...{ ...LOCAL, shell_port: 5001 },
    curve,
  });
  const none = { curve_publickey: null, curve_secretkey: null };
  expect(parseConnection(JSON.stringify({ ...FILE, ...none }))).toEqual({ ...LOCAL, shell_port: 5001 });
});

test('accepts the highest port, and 0 for a port not chosen yet', () => {
  expect(parseConnection(JSON.stringify({ ...FILE, hb_port: 65_535, stdin_port: 0 }))).toEqual({
    ...LOCAL,
    shell_port: 5001,
    hb_port: 65_535,
    stdin_port: 0,
  });
});

test('a connection file without transport and scheme means tcp and hmac-sha256', () => {
  const { transport: _, signature_scheme: __, ...rest } = FILE;
  expect(parseConnection(JSON.stringify(rest))).toEqual({ ...LOCAL, shell_port: 5001 });
});

const addresses: readonly (readonly [object, number, string])[] = [
  [{}, 5, 'tcp://127.0.0.1:5'],
  [{}, 0, 'tcp://127.0.0.1:*'],
  [{ ip: '::1' }, 5, 'tcp://[::1]:5'],
  [{ transport: 'ipc', ip: '/run/k' }, 5, 'ipc:///run/k-5'],
];
test.each(addresses)('%j and port %i bind to %s', (over, port, address) => {
  expect(endpoint({ ...LOCAL, ...over }, port)).toBe(address);
});

test('a port in use is reported with its address', async () => {
  const kernel = await startKernel(LOCAL, () => new EchoHandler(), { log: () => undefined });
  onTestFinished(() => kernel.shutdown(false));
  const { shell_port } = kernel.connection;
  await expect(startKernel({ ...LOCAL, shell_port }, () => new EchoHandler())).rejects.toThrow(
    `Cannot listen on tcp://127.0.0.1:${shell_port}: `,
  );
});
