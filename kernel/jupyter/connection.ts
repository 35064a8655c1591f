import { readFile } from 'node:fs/promises';
import { AplKernelError } from '../errors.js';
import { present } from '../present.js';

/**
 * Addresses of the five sockets and the key that signs every message, as in Jupyter's connection file:
 * https://jupyter-client.readthedocs.io/en/stable/kernels.html#connection-files
 */
export interface Connection {
  readonly transport: 'tcp' | 'ipc';
  readonly ip: string;
  /** Empty if messages are not signed. */
  readonly key: string;
  readonly shell_port: number;
  readonly control_port: number;
  readonly iopub_port: number;
  readonly stdin_port: number;
  readonly hb_port: number;
  /** Keys of CurveZMQ, which encrypts every socket; absent if the front end does not encrypt. */
  readonly curve?: CurveKeys;
}

/** The key pair of the kernel, in Z85. Clients know the public key from the same file. */
export interface CurveKeys {
  readonly publicKey: string;
  readonly secretKey: string;
}

/** The connection file cannot be read or lacks valid addresses (`invalid-connection-file`). */
export class ConnectionFileError extends AplKernelError {
  constructor(message: string, cause?: unknown) {
    super('invalid-connection-file', message, {
      hint: 'Jupyter writes this file when it starts a kernel; start the kernel from Jupyter.',
      cause,
    });
  }
}

/** Returns the connection described by the file at `path`; throws ConnectionFileError. */
export async function readConnectionFile(path: string): Promise<Connection> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConnectionFileError(`Cannot read the connection file ${path}`, cause);
  }
  return parseConnection(text);
}

/** Returns the connection described by the JSON in `text`; throws ConnectionFileError, never quoting the key. */
export function parseConnection(text: string): Connection {
  const fields = parseObject(text);
  const scheme = fields.signature_scheme ?? 'hmac-sha256';
  if (scheme !== 'hmac-sha256') {
    throw new ConnectionFileError(
      `Signature scheme ${JSON.stringify(scheme)} is not supported: hmac-sha256 is`,
    );
  }
  const transport = fields.transport ?? 'tcp';
  if (transport !== 'tcp' && transport !== 'ipc') {
    throw new ConnectionFileError(`Transport ${JSON.stringify(transport)} is not supported: tcp and ipc are`);
  }
  return {
    transport,
    ip: textField(fields, 'ip'),
    key: textField(fields, 'key'),
    shell_port: portField(fields, 'shell_port'),
    control_port: portField(fields, 'control_port'),
    iopub_port: portField(fields, 'iopub_port'),
    stdin_port: portField(fields, 'stdin_port'),
    hb_port: portField(fields, 'hb_port'),
    ...present({ curve: curveKeys(fields) }),
  };
}

function curveKeys(fields: Readonly<Record<string, unknown>>): CurveKeys | undefined {
  if (CURVE_FIELDS.every(name => (fields[name] ?? undefined) === undefined)) return undefined;
  const [publicKey = '', secretKey = ''] = CURVE_FIELDS.map(name => {
    const key = textField(fields, name);
    if (/^[!-~]{40}$/.test(key)) return key;
    throw new ConnectionFileError(`The connection file has no key of 40 characters in the field ${name}`);
  });
  return { publicKey, secretKey };
}

const CURVE_FIELDS = ['curve_publickey', 'curve_secretkey'] as const;

/** Returns the ZeroMQ address of one port; with TCP port 0, the system chooses. */
export function endpoint(connection: Connection, portNumber: number): string {
  const { transport, ip } = connection;
  if (transport === 'ipc') return `ipc://${ip}-${portNumber}`;
  return `tcp://${ip.includes(':') ? `[${ip}]` : ip}:${portNumber === 0 ? '*' : portNumber}`;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message may quote the text, which contains the key.
    throw new ConnectionFileError('The connection file is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConnectionFileError('The connection file is not a JSON object');
  }
  return value as Readonly<Record<string, unknown>>;
}

function textField(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new ConnectionFileError(`The connection file has no text in the field ${name}`);
}

function portField(fields: Readonly<Record<string, unknown>>, name: string): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new ConnectionFileError(`The connection file has no port number in the field ${name}`);
}
