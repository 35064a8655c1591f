import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { type JsonShape, profile } from './json-shape.js';
import { mismatchOf, mostWidened } from './reading.js';
import { lineAt } from './sample.js';

/** A pass over a file of JSON objects. Later passes know what ended earlier ones. */
export interface Pass {
  /** Counted from 1. */
  readonly number: number;
  /** Shape of the sampled objects and of those added later. */
  readonly shape: JsonShape;
}

/** Returns the relation of the objects m of a file, null for a value that is not an object. */
export function objectReader(file: string, format: 'auto' | 'nd', limit: string): string {
  const type = "columns = {m: 'MAP(VARCHAR, JSON)'}, records = false, ignore_errors = true";
  return `read_json(${sqlText(file)}, format = '${format}', ${type}${limit})`;
}

/**
 * Returns the pass that follows one that ended. The cause joins the table `sample`: a line with other keys, or an object with only the
 * value that did not fit its field. Undefined if that does not help, as for a line that is not an object, or if the line comes so early
 * that more of its kind are likely than passes are worth.
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

/** Whether a pass ended at invalid JSON. */
export function isBroken(failure: string | undefined): boolean {
  return failure?.startsWith('Invalid Input Error: Malformed JSON') === true;
}

/** Writes one object, or something expected to be one, to a file; returns the relation that reads it. */
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
