import path from 'node:path';
import type { TypeName } from '../../../apl/catalog/entry.js';
import { sqlName } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { LocalError } from '../../local-errors.js';

/** A field of a file being read. */
export interface ReadField {
  readonly name: string;
  readonly type: TypeName;
  /**
   * SQL of its value over the columns of the reading's relation; ends the pass at a value that does not fit, see {@link mismatch} and
   * {@link mismatchAt}.
   */
  readonly sql: string;
  /** Whether the file itself declares its type. */
  readonly declared?: boolean;
  /** Whether its value comes from directory names and is the same in all rows of a file. */
  readonly ofDirectory?: boolean;
}

/**
 * How to read a file in one pass. Types are chosen from a sample and checked while the rows are written: a value that does not fit ends the
 * pass, and `wider` examines all values before the next one.
 */
export interface Reading {
  /** A relation with the rows of the whole file. */
  readonly from: string;
  /** The same relation over the sample. */
  readonly sample: string;
  readonly fields: readonly ReadField[];
  readonly notes: readonly string[];
  /** Field for whole lines that do not fit into the other fields. */
  readonly whole?: string;
  /** Whether a row without a time gets that of the row before, like a continuation line in a log. */
  readonly carries?: true;
  /** Number of rows that cannot be read and are skipped. */
  readonly refused: number;
  /**
   * Returns notes on values of a relation, the whole file or the sample, that are null because of a missing-value word; `hasNull` tells
   * which fields may have nulls.
   */
  readonly emptied?: (relation: string, hasNull: (name: string) => boolean) => Promise<readonly string[]>;
  /** Converts the engine's progress to the share of the file that is read, both from 0 to 1. */
  readonly shareOfFile?: (share: number) => number;
  /** Returns the next reading; `failure` is the error that ended the pass. */
  readonly wider?: (failure?: string) => Promise<Reading>;
}

/** Maximum number of sampled rows for detecting types and time formats. */
export const sampleRows = 10_240;

/** SQL that ends the pass because the chosen types do not fit all rows. */
export const mismatch = `error('a value does not fit')`;

/**
 * Returns the SQL that ends the pass because a value does not fit the type of the field with this index; `text` is the SQL of the value.
 */
export function mismatchAt(place: number, text: string): string {
  return `error('a value does not fit field ${place}: ' || hex(left(${text}, 65536)))`;
}

/** Maximum number of passes that values may end, each with wider types: they cost less than examining all values. */
export const mostWidened = 8;

/** A value that ended a pass: the index of its field, and its text, possibly truncated. */
export interface Mismatch {
  readonly place: number;
  readonly text: string;
}

/** Returns the value that ended a pass, undefined if there was another cause. */
export function mismatchOf(failure: string | undefined): Mismatch | undefined {
  const [, place, hex] =
    /^Invalid Input Error: a value does not fit field (\d+): ([\dA-F]+)$/m.exec(failure ?? '') ?? [];
  if (place === undefined || hex === undefined) return undefined;
  return { place: Number(place), text: Buffer.from(hex, 'hex').toString() };
}

/** Returns the SQL that ends the pass at a text in the field with this index that may not have been a string. */
export function doubtAt(place: number): string {
  return `error('a text may be another value in field ${place}')`;
}

/** Returns the index of the field with a text that ended a pass because it may not have been a string. */
export function doubtOf(failure: string | undefined): number | undefined {
  const [, place] =
    /^Invalid Input Error: a text may be another value in field (\d+)$/m.exec(failure ?? '') ?? [];
  return place === undefined ? undefined : Number(place);
}

/** Returns the SELECT of a reading's fields as columns c0..cn of `relation`. */
export function cells(fields: readonly ReadField[], relation: string): string {
  return `SELECT ${fields.map(({ sql }, index) => `${sql} AS c${index}`).join(', ')} FROM ${relation}`;
}

/** Returns distinct names by numbering repeated ones. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map(name => {
    let distinct = name;
    for (let suffix = 2; taken.has(distinct); suffix++) distinct = `${name}_${suffix}`;
    taken.add(distinct);
    return distinct;
  });
}

/** Reports columns that were numbered because of a duplicate name; unnamed ones are omitted. */
export function renamedNotes(columns: readonly string[], names: readonly string[]): string[] {
  return columns.flatMap((name, index) =>
    name === '' || name === names[index] ? [] : [`Another column \`${name}\` becomes \`${names[index]}\`.`],
  );
}

/** Stores the rows of `select` as a temporary table of the connection. */
export async function keep(connection: Connection, name: string, select: string): Promise<void> {
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${sqlName(name)} AS ${select}`);
}

/** Returns the SQL of whether a double cannot represent an integer exactly; `text` is the SQL of the number as a string. */
export function exceedsReal(text: string): string {
  return `(regexp_full_match(${text}, '-?\\d+') AND coalesce(abs(TRY_CAST(${text} AS HUGEINT)) > 9007199254740992, true))`;
}

/** Reports a field with a wider type than in the sample; nothing if the sample had no value of it. */
export function widenedNotes(name: string, sampled: string | undefined, found: string | undefined): string[] {
  if (sampled === found || sampled === undefined || sampled === 'unseen' || found === undefined) return [];
  return [`\`${name}\` is ${found}, because not all values after the sampled rows are ${sampled}.`];
}

/** Returns the error for data without fields. */
export function noFields(): LocalError {
  return new LocalError('invalid', 'no-fields', 'The data has no fields.');
}

/** Returns the error for a file that differs from the files before it. */
export function unlike(file: string, why: string): LocalError {
  const message = `${path.basename(file)} differs from the files before it. ${why}`;
  return new LocalError('invalid', 'unlike-files', message, {
    hint: 'Import each kind of file separately into the same dataset.',
  });
}
