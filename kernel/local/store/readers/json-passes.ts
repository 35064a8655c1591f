import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { type JsonShape, profile } from './json-shape.js';
import { mismatchOf, mostWidened } from './reading.js';
import { lineAt } from './sample.js';

/** One of the passes over a file of JSON objects. What ended one is known to those after it. */
export interface Pass {
  /** Counted from 1. */
  readonly number: number;
  /** The shape of the objects of the sample, and of those that have joined it. */
  readonly shape: JsonShape;
}

/** Returns the relation of the objects m of a file, null for what is none. */
export function objectReader(file: string, format: 'auto' | 'nd', limit: string): string {
  const type = "columns = {m: 'MAP(VARCHAR, JSON)'}, records = false, ignore_errors = true";
  return `read_json(${sqlText(file)}, format = '${format}', ${type}${limit})`;
}

/**
 * Returns the pass after one that has ended. What ended it joins the table `sample`: a line with other keys, or an object with
 * nothing but the value that did not fit its field. Undefined if this does not help, as for a line that is not an object, and where
 * the line comes so early that the file must have more of its kind than passes are worth.
 */
export async function nextPass(
  connection: Connection,
  { file, workDir }: { readonly file: string; readonly workDir: string },
  pass: Pass,
  failure = '',
): Promise<Pass | undefined> {
  if (pass.number > mostWidened) return undefined;
  const odd = mismatchOf(failure);
  const leaf = odd && pass.shape.leaves[odd.place];
  if (odd !== undefined && leaf !== undefined) {
    const object = leaf.path.reduceRight((below, key) => `{${JSON.stringify(key)}:${below}}`, odd.text);
    return withObject(connection, await alone(object, workDir), pass);
  }
  const [, where] = endedAt.exec(failure) ?? [];
  if (where === undefined) return undefined;
  const line = await lineAt(file, Number(where));
  if (line === undefined || line.end / line.size < pass.number / mostWidened) return undefined;
  return withObject(connection, await alone(line.bytes, workDir), pass);
}

const endedAt = /^Invalid Input Error: JSON transform error in file .*?in line (\d+): /;

/** Whether a pass ended at what is not JSON. */
export function isBroken(failure: string | undefined): boolean {
  return failure?.startsWith('Invalid Input Error: Malformed JSON') === true;
}

/** Writes one object, or what should be one, to a file of its own; returns the relation that reads it. */
export async function alone(object: string | Uint8Array, workDir: string): Promise<string> {
  const file = path.join(workDir, `${crypto.randomUUID()}.odd.ndjson`);
  await writeFile(file, object, { mode: 0o600 });
  return objectReader(file, 'nd', '');
}

async function withObject(connection: Connection, object: string, pass: Pass): Promise<Pass | undefined> {
  await connection.run(`INSERT INTO sample SELECT m FROM ${object} WHERE m IS NOT NULL`);
  const shape = await profile(connection, 'sample');
  const isNew = JSON.stringify(shape.leaves) !== JSON.stringify(pass.shape.leaves);
  return isNew && shape.repeats === 0 ? { ...pass, number: pass.number + 1, shape } : undefined;
}
