import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sqlText } from '../../duckdb/literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { isObjectLine } from '../sources/repaired.js';
import { type JsonShape, profile } from './json-shape.js';
import { mismatchOf, mostWidened } from './reading.js';
import { type FileLine, lineAt } from './sample.js';
import { blank, copyOf } from './without-line.js';

/** One of the passes over a file of JSON objects. What ended one is known to those after it. */
export interface Pass {
  /** Counted from 1. */
  readonly number: number;
  /** The file, or a copy of it without the lines that are left out. */
  readonly file: string;
  /** The shape of the objects of the sample, and of those that have joined it. */
  readonly shape: JsonShape;
  /** Lines that are not objects. */
  readonly leftOut: number;
}

/** Returns the relation of the objects m of a file, null for what is none. */
export function objectReader(file: string, format: 'auto' | 'nd', limit: string): string {
  const type = "columns = {m: 'MAP(VARCHAR, JSON)'}, records = false, ignore_errors = true";
  return `read_json(${sqlText(file)}, format = '${format}', ${type}${limit})`;
}

/**
 * Returns the pass after one that has ended. What ended it joins the table `sample`: a line with other keys, or an object with
 * nothing but the value that did not fit its field. A line that is not an object is left out. Undefined if this does not help, and
 * where the line comes so early that the file must have more of its kind than passes are worth.
 */
export async function nextPass(
  connection: Connection,
  workDir: string,
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
  const [, what, where] = endedAt.exec(failure) ?? [];
  if (what === undefined) return undefined;
  const isBroken = what === broken;
  // The engine says the number of the next line if one is not JSON.
  const line = await lineAt(pass.file, Number(where) - (isBroken ? 1 : 0));
  if (line === undefined || line.end / line.size < pass.number / mostWidened) return undefined;
  const object = await alone(line.bytes, workDir);
  const [row] = await connection.run(`SELECT count(m) FROM ${object}`);
  if (Number(row?.[0]) === 0)
    return isObjectLine(Buffer.from(line.bytes).toString()) ? withoutLine(line, workDir, pass) : undefined;
  return isBroken ? undefined : withObject(connection, object, pass);
}

const broken = 'Malformed JSON';
const endedAt = new RegExp(
  `^Invalid Input Error: (${broken}|JSON transform error) in file .*?in line (\\d+): `,
);

/** Writes one object, or what should be one, to a file of its own; returns the relation that reads it. */
async function alone(object: string | Uint8Array, workDir: string): Promise<string> {
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

async function withoutLine(line: FileLine, workDir: string, pass: Pass): Promise<Pass | undefined> {
  const file = pass.leftOut > 0 ? pass.file : await copyOf(pass.file, workDir);
  if (file === undefined) return undefined;
  await blank(file, line);
  return { ...pass, number: pass.number + 1, file, leftOut: pass.leftOut + 1 };
}
