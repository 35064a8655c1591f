import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import { gunzipSync, constants as zlib } from 'node:zlib';
import { isHidden } from '../../../machine.js';
import { beginsAs } from '../readers/packing.js';

/** The resolved path of a file that may be imported, or why it never is, phrased to end a sentence about it. */
export type Importable = { readonly path: string } | { readonly refusal: string; readonly hint: string };

/**
 * Returns whether a file may be imported, whoever requests it: a stranger's notebook must not put keys and tokens into its outputs. Rejects
 * with the system's error if the file does not exist.
 */
export async function importable(file: string, dataDir: string): Promise<Importable> {
  const path = await realpath(file);
  if (isHidden(path)) return refused('is hidden, or in a hidden directory');
  if (await isOwn(path, dataDir)) return refused('is one of the kernel files');
  if (ofTheSystem.some(directory => path.startsWith(directory))) return refused('is a virtual system file');
  const secret = await secretIn(path);
  return secret === undefined ? { path } : refused(`contains ${secret}`);
}

function refused(reason: string): Importable {
  const hint =
    'Such files contain keys, tokens and settings that a shared notebook would expose. Copy the data you need to another file.';
  return { refusal: reason, hint };
}

/** Virtual directories: they show the environment of processes, and secrets passed to a container. */
const ofTheSystem = ['proc', 'sys', 'dev', 'run/secrets'].map(
  name => `${sep}${name.replaceAll('/', sep)}${sep}`,
);

/** Files in the data directory beside its folders: address and token of the service, logs, history. */
const ownFiles = /^(?:service|history|queries|imports|logins)\./;

/** Whether the kernel or the service keeps the file beside the datasets, even if reached by another name. */
async function isOwn(path: string, dataDir: string): Promise<boolean> {
  const data = await realpath(dataDir).catch(() => dataDir);
  if (dirname(path) === data && ownFiles.test(basename(path))) return true;
  const [found, token] = await Promise.all(
    [path, `${data}${sep}service.json`].map(each => stat(each).catch(() => undefined)),
  );
  // A hard link to the same file.
  return found !== undefined && found.ino === token?.ino && found.dev === token.dev;
}

/** Beginnings of lines, or of JSON strings, in files with secrets. */
const secrets: readonly (readonly [begin: RegExp, name: string])[] = [
  [/(?:^|")[\uFEFF \t]*-----BEGIN [A-Z0-9 ]*PRIVATE KEY/m, 'a private key'],
  [/^[\uFEFF \t]*PuTTY-User-Key-File-\d/m, 'a private key'],
  [/^[\uFEFF \t]*AGE-SECRET-KEY-1/m, 'a private key'],
  [/^\s*\[\s*\{\s*"profile":[^{}]*"server":\s*\{[^{}]*"token_endpoint":/, 'the token of a sign-in'],
  [/^\s*\{(?=[^{}]*"token":)(?=[^{}]*"secret":)(?=[^{}]*"pid":)/, 'the token of the local service'],
  [/^[ \t]*\[deployments\.[^\]]+\][^[]*^[ \t]*token[ \t]*=/m, 'an Axiom token'],
];

/** Number of bytes to check: keys are short files. */
const lookedAt = 64 * 1024;

async function secretIn(path: string): Promise<string | undefined> {
  const found = await stat(path);
  if (!found.isFile()) return undefined;
  const text = plain(await firstBytes(path)).toString('utf8');
  return secrets.find(([begin]) => begin.test(text))?.[1];
}

function plain(bytes: Buffer): Buffer {
  try {
    return beginsAs(bytes) === 'gzip'
      ? gunzipSync(bytes, { finishFlush: zlib.Z_SYNC_FLUSH, maxOutputLength: 64 * lookedAt })
      : bytes;
  } catch {
    return bytes;
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(lookedAt), 0, lookedAt, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
