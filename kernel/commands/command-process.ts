import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Environment variables for a program. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a program succeeded, its standard output, and its last line of output, which says why it failed. */
export interface Outcome {
  readonly ok: boolean;
  readonly stdout: string;
  readonly lastLine: string;
}

/** Runs a program found on the PATH of `env` until it ends, or for `timeoutMs`. */
export async function runProgram(
  env: Environment,
  program: string,
  args: readonly string[],
  timeoutMs = 0,
): Promise<Outcome> {
  const options = { env, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout } = await promisify(execFile)(program, args, options);
    return { ok: true, stdout: stdout.trim(), lastLine: '' };
  } catch (error) {
    const { stderr, stdout, message } = error as { stderr?: string; stdout?: string; message: string };
    const text = [stderr, stdout, message].map(part => part?.trim()).find(part => part) ?? '';
    return { ok: false, stdout: '', lastLine: text.split('\n').at(-1) ?? '' };
  }
}

/** Returns the standard output of a program found on the PATH; undefined if it is missing, fails or takes longer than 20 seconds. */
export async function output(
  env: Environment,
  program: string,
  args: readonly string[],
): Promise<string | undefined> {
  const { ok, stdout } = await runProgram(env, program, args, 20_000);
  return ok ? stdout : undefined;
}
