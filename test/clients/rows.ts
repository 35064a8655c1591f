import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

/** A client in docs/clients.md: its pinned version, and how many of its checks pass. */
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

/** Expects the outcome of a client's checks to equal its row. */
export function expectRow(client: string, outcomes: Readonly<Record<string, boolean>>): void {
  const failed = Object.keys(outcomes).filter(name => outcomes[name] === false);
  const all = Object.keys(outcomes).length;
  console.log(
    `${client}: ${all - failed.length} of ${all}${failed.map(name => `\n  not: ${name}`).join('')}`,
  );
  const { passed, of } = rowOf(client);
  expect({ passed: all - failed.length, of: all }).toEqual({ passed, of });
}

/** Returns whether a program that a client needs runs here; prints the reason if not. */
export function hasProgram(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    console.log(`left out: \`${command} ${args.join(' ')}\` does not run here`);
    return false;
  }
}
