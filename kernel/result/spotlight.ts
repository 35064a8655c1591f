/**
 * Parses the value of `spotlight`: fields with their scores, and the frequency of each value among the selected and the remaining
 * rows. Free of Node.js.
 */
import { present } from '../present.js';
import { cut, formatCount, shownName } from '../text.js';

/** A condition on one field: a value, or a range from `from` (inclusive) to `to` (exclusive); a null bound is open. */
export type SpotlightPart =
  | { readonly field: string; readonly value: string | null }
  /** Numbers between two bounds, both inclusive, as strings. */
  | { readonly field: string; readonly least: string; readonly most: string }
  /** A word of its string, or an element of its array, that it has or lacks. */
  | { readonly field: string; readonly has: string | number | boolean }
  | { readonly field: string; readonly lacks: string | number | boolean }
  /** A prefix of its string. */
  | { readonly field: string; readonly starts: string }
  /** A member of its object, and the member's value as a string. */
  | { readonly field: string; readonly member: string; readonly is: string }
  | { readonly field: string; readonly from: unknown; readonly to: unknown };

/** A value, a range, or values of several fields, with its shares of the selected and of the remaining rows, from 0 to 1. */
export interface SpotlightValue {
  /** Null for a missing value. */
  readonly text: string | null;
  readonly selected: number;
  readonly others: number;
  readonly parts: readonly SpotlightPart[];
  /** It is one of the ranges of a field, which are in order. */
  readonly isRange: boolean;
}

/** One field, or a combination of several. */
export interface SpotlightEntry {
  readonly field: string;
  readonly score: number;
  readonly values: readonly SpotlightValue[];
  /** Why it has no score. */
  readonly note?: string;
  /** Number of rows that the shares refer to (default: all). */
  readonly rows?: number;
}

/** Returns the entries of a value of `spotlight`, ignoring anything else. */
export function spotlightEntries(list: readonly unknown[]): readonly SpotlightEntry[] {
  return list.flatMap(each => {
    const { field, score, values, fields, note, rows } = membersOf(each);
    if (typeof field !== 'string' || typeof score !== 'number' || !Array.isArray(values)) return [];
    const names = Array.isArray(fields) ? fields.map(String) : [field];
    const read = values.flatMap(value => entryValue(value, names));
    return [
      {
        ...{ field, score, values: read },
        ...present({
          note: typeof note === 'string' ? note : undefined,
          rows: typeof rows === 'number' ? rows : undefined,
        }),
      },
    ];
  });
}

/** Returns notes on entries whose shares are of a sample of the rows; empty if there are none. */
export function sampledNotes(entries: readonly SpotlightEntry[]): readonly string[] {
  const sampled = entries.filter(({ rows }) => rows !== undefined);
  const [rows] = sampled.flatMap(each => each.rows ?? []);
  if (rows === undefined) return [];
  const names = sampled.map(({ field }) => cut(shownName(field), LONGEST)).join(', ');
  return [`the shares of ${names} are based on ${formatCount(rows)} rows, sampled evenly from both sides`];
}

/** Returns the value whose share grows most among the selected rows; neighboring ranges count as one. */
export function strongest({ values }: SpotlightEntry): SpotlightValue | undefined {
  const more: SpotlightValue[] = [];
  let isOpen = false;
  for (const value of values) {
    const before = more.at(-1);
    const isMore = value.selected > value.others;
    if (isMore) {
      const joined = isOpen && before !== undefined ? together(before, value) : undefined;
      if (joined === undefined) more.push(value);
      else more[more.length - 1] = joined;
    }
    isOpen = isMore;
  }
  return more.reduce<SpotlightValue | undefined>(
    (most, each) => (most === undefined || gain(each) > gain(most) ? each : most),
    undefined,
  );
}

/**
 * Returns a sentence without its period: `92% of the selected events have region = GRU, 4% of the others`, or with other words
 * for both.
 */
export function spotlightSentence(
  { selected, others, parts }: SpotlightValue,
  [these, those]: readonly [string, string] = ['of the selected events', 'of the others'],
): string {
  const what = parts.map(partWords).join(' and ');
  return `${percent(selected)} ${these} have ${what}, ${percent(others)} ${those}`;
}

/** Returns a share as a whole percentage, with one more digit near both ends. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.05) return '<0.1%';
  if (value < 100 && value >= 99.95) return '>99.9%';
  return `${Number(value.toFixed(value < 1 || value > 99 ? 1 : 0))}%`;
}

/** Returns a condition in words. */
function partWords(part: SpotlightPart): string {
  const name = cut(shownName(part.field), LONGEST);
  const short = (text: unknown) => cut(shownName(String(text)), LONGEST);
  if ('has' in part) return `${name} has ${short(part.has)}`;
  if ('lacks' in part) return `${name} without ${short(part.lacks)}`;
  if ('starts' in part) return `${name} that starts with ${short(part.starts)}`;
  if ('member' in part) return `${name}.${short(part.member)} = ${short(part.is) || '""'}`;
  if ('value' in part)
    return part.value === null ? `no ${name}` : `${name} = ${cut(shownName(part.value), LONGEST) || '""'}`;
  if ('least' in part) return `${name} from ${short(part.least)} to ${short(part.most)}`;
  const [from, to] = [part.from, part.to].map(end => (end === null ? null : shownName(String(end))));
  if (from === null) return `${name} < ${to}`;
  return to === null ? `${name} \u2265 ${from}` : `${name} from ${from} to ${to}`;
}

/** Maximum length of a name and of a value in a sentence. */
const LONGEST = 60;

function gain({ selected, others }: SpotlightValue): number {
  return selected - others;
}

/** Joins two ranges if one begins where the other ends; returns undefined for any other values. */
function together(low: SpotlightValue, high: SpotlightValue): SpotlightValue | undefined {
  const [a, b] = [low.parts[0], high.parts[0]];
  if (a === undefined || b === undefined || !('from' in a && 'from' in b) || a.to !== b.from)
    return undefined;
  const part = { field: a.field, from: a.from, to: b.to };
  return {
    text: partWords(part),
    selected: low.selected + high.selected,
    others: low.others + high.others,
    parts: [part],
    isRange: true,
  };
}

function entryValue(value: unknown, fields: readonly string[]): readonly SpotlightValue[] {
  const members = membersOf(value);
  const { value: text, selected, baseline, parts } = members;
  if (typeof selected !== 'number' || typeof baseline !== 'number') return [];
  const each = Array.isArray(parts) ? parts : [members];
  return [
    {
      text: text === null || text === undefined ? null : String(text),
      selected,
      others: baseline,
      isRange: 'from' in members,
      parts: fields.map((field, index) => partOf(field, membersOf(each[index]))),
    },
  ];
}

function partOf(field: string, { value, ...ends }: Readonly<Record<string, unknown>>): SpotlightPart {
  if ('from' in ends) return { field, from: ends.from, to: ends.to ?? null };
  const { has, lacks, starts, member, is, least, most } = ends;
  if (isScalar(has)) return { field, has };
  if (isScalar(lacks)) return { field, lacks };
  if (typeof starts === 'string') return { field, starts };
  if (typeof least === 'string' && typeof most === 'string') return { field, least, most };
  if (typeof member === 'string') return { field, member, is: String(is) };
  return { field, value: value === null || value === undefined ? null : String(value) };
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
