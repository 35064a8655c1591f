import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The project's directory. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Runs a program to its end and collects its output.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string }} options
 * @returns {Promise<{ code: number, text: string }>} exit code, and standard output and error combined
 */
export function run(program, args, { env = process.env, cwd = root } = {}) {
  return new Promise(settle => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const from of [child.stdout, child.stderr]) {
      from.setEncoding('utf8');
      from.on('data', part => {
        text += part;
      });
    }
    child.on('error', error => settle({ code: 127, text: `${program}: ${error.message}` }));
    child.on('close', code => settle({ code: code ?? 1, text }));
  });
}

/**
 * Runs a program to its end on this terminal, or passes each printed line to `say`.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, say?: (line: string) => void }} options
 * @returns {Promise<number>} exit code
 */
export function show(program, args, { env = process.env, say } = {}) {
  const plain = say || !process.stdout.isTTY ? { NO_COLOR: '1', FORCE_COLOR: '0' } : {};
  const out = say ? 'pipe' : 'inherit';
  return new Promise(settle => {
    const child = spawn(program, args, { cwd: root, env: { ...env, ...plain }, stdio: ['ignore', out, out] });
    for (const input of [child.stdout, child.stderr])
      if (input && say) createInterface({ input }).on('line', say);
    child.on('error', error => {
      console.error(`${program}: ${error.message}`);
      settle(127);
    });
    child.on('close', code => settle(code ?? 1));
  });
}

/** @param {string[]} args @returns {[string, string[]]} the npm that started this process, not another one on the PATH */
export function npm(args) {
  const script = process.env.npm_execpath;
  return script ? [process.execPath, [script, ...args]] : ['npm', args];
}
