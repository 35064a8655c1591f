import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Root directory of the project. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const main = join(root, 'dist', 'main.js');

/** Exit code and output of a finished command. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `apl-kernel` with these arguments, an environment of only `env`, and optional standard input. */
export function aplKernel(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
): Promise<Finished> {
  return runNode([main, ...args], env, input);
}

/** Runs Node in the same way. */
export async function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
): Promise<Finished> {
  const child = startNode(args, env, input === undefined ? 'ignore' : 'pipe');
  child.stdin?.end(input);
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number>(settle => child.on('close', status => settle(status ?? 1))),
  ]);
  return { code, stdout, stderr };
}

/** Starts `apl-kernel` without waiting for its end. */
export function startAplKernel(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  return startNode([main, ...args], env, stdin);
}

function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: 'ignore' | 'pipe',
): ChildProcess {
  return spawn(process.execPath, args, { env, cwd: env.HOME, stdio: [stdin, 'pipe', 'pipe'] });
}

/** Creates a directory that is removed after the test. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apl-kernel-cli-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Returns each file below a directory with its content, and each empty directory with the content `directory`. */
export function treeOf(directory: string): Readonly<Record<string, string>> {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  return Object.fromEntries(
    entries
      .map(entry => [join(entry.parentPath, entry.name), entry.isDirectory()] as const)
      .filter(([path, isDirectory]) => !isDirectory || readdirSync(path).length === 0)
      .map(([path, isDirectory]) => [
        relative(directory, path),
        isDirectory ? 'directory' : readFileSync(path, 'latin1'),
      ]),
  );
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const part of stream ?? []) text += String(part);
  return text;
}
