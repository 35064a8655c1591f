import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

/** The clients of docs/clients.md: what is pinned there, and how many of their checks pass at least. */
interface Row {
  readonly version: string;
  readonly passed: number;
  readonly of: number;
}

export const root = path.join(import.meta.dirname, '../..');

const page = readFileSync(path.join(root, 'docs/clients.md'), 'utf8');

/** Returns the row of a client. */
export function rowOf(client: string): Row {
  const found = page.split('\n').find(line => line.startsWith(`| ${client} |`));
  const [, , version = '', passed, of] = (found ?? '').split('|').map(cell => cell.trim());
  expect(found).toBeDefined();
  return { version, passed: Number(passed), of: Number(of) };
}

/** Compares what a client's checks came to with its row: a number that changed is written there, and may not fall. */
export function expectRow(client: string, outcomes: Readonly<Record<string, boolean>>): void {
  const failed = Object.keys(outcomes).filter(name => outcomes[name] === false);
  const all = Object.keys(outcomes).length;
  console.log(
    `${client}: ${all - failed.length} of ${all}${failed.map(name => `\n  not: ${name}`).join('')}`,
  );
  const { passed, of } = rowOf(client);
  expect({ passed: all - failed.length, of: all }).toEqual({ passed, of });
}

/** Whether a program is here that a client needs; if not, the reason is printed. */
export function hasProgram(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    console.log(`left out: \`${command} ${args.join(' ')}\` does not run here`);
    return false;
  }
}
