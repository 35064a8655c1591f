import path from 'node:path';
import type { TypeName } from '../../../apl/catalog/entry.js';
import { sqlName } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { LocalError } from '../../local-errors.js';

/** A field of a file that is being read. */
export interface ReadField {
  readonly name: string;
  readonly type: TypeName;
  /**
   * SQL of its value over the columns of the reading's relation; it ends the pass at a value that does not fit, see {@link
   * mismatch} and {@link mismatchAt}.
   */
  readonly sql: string;
  /** The file itself says which type it has. */
  readonly declared?: boolean;
  /** Its values are the same in all rows of a file: the names of directories give them. */
  readonly ofDirectory?: boolean;
}

/**
 * How a file is read in one pass. Types are decided on a sample and checked while the rows are written: a value that does
 * not fit ends the pass, and `wider` looks at every value before the next one.
 */
export interface Reading {
  /** A relation with the rows of the whole file. */
  readonly from: string;
  /** The same relation over the sample. */
  readonly sample: string;
  readonly fields: readonly ReadField[];
  readonly notes: readonly string[];
  /** The field that holds the whole of a line which is not in other fields. */
  readonly whole?: string;
  /** A row without a time has that of the row before, as a line within a log does. */
  readonly carries?: true;
  /** Rows of the file that cannot be read and are left out. */
  readonly refused: number;
  /**
   * Returns notes on the values of a relation, the whole file or the sample, that are null because they are words for it; `hasNull` tells
   * which fields may have some.
   */
  readonly emptied?: (relation: string, hasNull: (name: string) => boolean) => Promise<readonly string[]>;
  /** Returns how much of the file is read from what the engine says of all that it reads, both from 0 to 1. */
  readonly shareOfFile?: (share: number) => number;
  /** `failure` says how the engine ended the pass. */
  readonly wider?: (failure?: string) => Promise<Reading>;
}

/** Rows in the sample that decides types and the format of times, at most. */
export const sampleRows = 10_240;

/** SQL that ends the pass because the chosen types do not fit all rows. */
export const mismatch = `error('a value does not fit')`;

/** SQL that ends the pass because a value, of which `text` is SQL, does not fit the type of the field at this place. */
export function mismatchAt(place: number, text: string): string {
  return `error('a value does not fit field ${place}: ' || hex(left(${text}, 65536)))`;
}

/** Passes that a value may end, each for other types of fields: they cost less than a look at every value. */
export const mostWidened = 8;

/** A value that ended a pass: the place of its field, and its text or the beginning of that. */
export interface Mismatch {
  readonly place: number;
  readonly text: string;
}

/** Returns the value that ended a pass; undefined if something else did. */
export function mismatchOf(failure: string | undefined): Mismatch | undefined {
  const [, place, hex] =
    /^Invalid Input Error: a value does not fit field (\d+): ([\dA-F]+)$/m.exec(failure ?? '') ?? [];
  if (place === undefined || hex === undefined) return undefined;
  return { place: Number(place), text: Buffer.from(hex, 'hex').toString() };
}

/** Returns the SELECT that gives the fields of a reading as columns c0..cn of `relation`. */
export function cells(fields: readonly ReadField[], relation: string): string {
  return `SELECT ${fields.map(({ sql }, index) => `${sql} AS c${index}`).join(', ')} FROM ${relation}`;
}

/** Returns distinct names: a repeated one gets a number. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map(name => {
    let distinct = name;
    for (let suffix = 2; taken.has(distinct); suffix++) distinct = `${name}_${suffix}`;
    taken.add(distinct);
    return distinct;
  });
}

/** Says which columns have a number behind their name, as another one is called the same; those without a name are left out. */
export function renamedNotes(columns: readonly string[], names: readonly string[]): string[] {
  return columns.flatMap((name, index) =>
    name === '' || name === names[index] ? [] : [`A further column \`${name}\` is \`${names[index]}\`.`],
  );
}

/** Stores the rows of `select` as a temporary table of the connection. */
export async function keep(connection: Connection, name: string, select: string): Promise<void> {
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${sqlName(name)} AS ${select}`);
}

/** SQL for an integer that a real cannot hold exactly; `text` is SQL of the number as text. */
export function exceedsReal(text: string): string {
  return `(regexp_full_match(${text}, '-?\\d+') AND coalesce(abs(TRY_CAST(${text} AS HUGEINT)) > 9007199254740992, true))`;
}

/** Says that a field has a wider type than the sample showed; nothing if the sample had no value of it. */
export function widenedNotes(name: string, sampled: string | undefined, found: string | undefined): string[] {
  if (sampled === found || sampled === undefined || sampled === 'unseen' || found === undefined) return [];
  return [`\`${name}\` is ${found}: after the sampled rows it holds values other than ${sampled}.`];
}

/** The refusal of data that has no fields at all. */
export function noFields(): LocalError {
  return new LocalError('invalid', 'no-fields', 'The data has no fields.');
}

/** Returns the refusal of a file of a set that is not written as those before it. */
export function unlike(file: string, why: string): LocalError {
  const message = `${path.basename(file)} is not written as the files before it. ${why}`;
  return new LocalError('invalid', 'unlike-files', message, {
    hint: 'Import files of each kind by themselves, into the same dataset.',
  });
}
