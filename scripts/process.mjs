import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's directory. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Runs a program to its end.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, show?: boolean }} options `show`: output goes to the terminal as it comes, besides being kept
 * @returns {Promise<{ code: number, text: string }>} exit code, and standard output and error as one text
 */
export function run(program, args, { env = process.env, show = false } = {}) {
  return new Promise(settle => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const from of [child.stdout, child.stderr]) {
      from.setEncoding('utf8');
      from.on('data', part => {
        text += part;
        if (show) process.stdout.write(part);
      });
    }
    child.on('error', error => settle({ code: 127, text: `${program}: ${error.message}` }));
    child.on('close', code => settle({ code: code ?? 1, text }));
  });
}
