/**
 * The colors of lines: errors red, warnings amber, and success blue or green; other names get colors that color-blind people can
 * tell apart. All stand out against white and near-black.
 */

import { present } from '../../present.js';
import { distinctLabels } from './labels.js';

/** Appearance of a line; `dash` is a pattern of strokes and gaps, `[1, 0]` for a solid one. */
export interface Look {
  readonly color: string;
  readonly dash: readonly number[];
}

/** The value of a column by which a result is grouped, as an exact string; null for a null. */
export interface KeyValue {
  readonly column: string;
  /** The type of the column as the service declares it. */
  readonly type: string;
  readonly value: string | null;
}

/** Name and look of a series in the legend. */
export interface Entry {
  readonly label: string;
  readonly look: Look;
  /** Its groups of the result; absent for several names, or for a measure. */
  readonly of?: readonly KeyValue[];
}

/** The look of a single line. */
export const FIRST_LOOK: Look = { color: '#2a85c7', dash: [1, 0] };

/**
 * Returns a legend entry for each name, no two with the same label; the parts of a name are its displayed keys, and `groups` are its
 * groups of the result.
 */
export function entriesFor(
  names: readonly (readonly string[])[],
  {
    areSurfaces = false,
    groups = [],
  }: { readonly areSurfaces?: boolean; readonly groups?: readonly Entry['of'][] } = {},
): readonly Entry[] {
  const looks = looksFor(names, { areSurfaces });
  const labels = distinctLabels(names.map(parts => parts.join(' \u00b7 ')));
  return labels.map((label, index) => ({
    ...{ label, look: looks[index] ?? FIRST_LOOK },
    ...present({ of: groups[index] }),
  }));
}

/** Returns a look for each name, no two the same up to 24 names of a kind. Surfaces have no strokes, so only their colors differ. */
export function looksFor(
  names: readonly (readonly string[])[],
  { areSurfaces = false } = {},
): readonly Look[] {
  const hues = huesOf(names);
  const isGraded = hues.some(hue => hue !== undefined);
  const used = new Map<Hue | undefined, number>();
  const lookOf = areSurfaces ? shaded : dashed;
  return hues.map(hue => {
    const colors = hue === undefined ? (isGraded ? BESIDE_GRADES : PALETTE) : [COLOR_OF[hue]];
    const before = used.get(hue) ?? 0;
    used.set(hue, before + 1);
    const color = colors[before % colors.length] ?? FIRST_LOOK.color;
    return lookOf(color, Math.floor(before / colors.length));
  });
}

type Hue = 'bad' | 'warn' | 'info' | 'good' | 'dim';

const COLOR_OF: Readonly<Record<Hue, string>> = {
  bad: '#d5443a',
  warn: '#bf7f00',
  info: '#2a85c7',
  good: '#119a76',
  dim: '#868c96',
};

const PALETTE = ['#2a85c7', '#c98200', '#119a76', '#c5679b', '#7f79c6', '#8a7344'];
/** Colors for names without a grade beside names that have one: none suggests good or bad. */
const BESIDE_GRADES = ['#7f79c6', '#c5679b', '#8a7344'];
const DASHES = [
  [1, 0],
  [6, 3],
  [2, 2],
  [8, 2, 2, 2],
] as const;

const GRADES: readonly (readonly [RegExp, Hue])[] = [
  [/^(?:emerg(?:ency)?|alert|crit(?:ical)?|fatal|panic|severe|err(?:or)?s?|fail(?:ed|ures?)?)$/, 'bad'],
  [/^warn(?:ing)?s?$/, 'warn'],
  [/^(?:info(?:rmation(?:al)?)?|notice)$/, 'info'],
  [/^(?:ok|success(?:ful)?|passed)$/, 'good'],
  [/^(?:debug|trace|verbose|fine|finer|finest)$/, 'dim'],
];

const STATUS = /^[1-5](?:\d\d|xx)$/;
const STATUS_HUES: Readonly<Record<string, Hue>> = { 1: 'dim', 2: 'good', 3: 'info', 4: 'warn', 5: 'bad' };

/** Returns the hue of each name by its first part that holds grades: levels, or statuses if all values are. */
function huesOf(names: readonly (readonly string[])[]): readonly (Hue | undefined)[] {
  for (let part = 0; part < (names[0]?.length ?? 0); part++) {
    const values = names.map(name => (name[part] ?? '').toLowerCase());
    const known = values.filter(value => value !== 'null');
    if (known.length > 0 && known.every(value => STATUS.test(value)))
      return values.map(value => STATUS_HUES[value.charAt(0)]);
    const levels = values.map(value => GRADES.find(([words]) => words.test(value))?.[1]);
    if (levels.some(hue => hue !== undefined)) return levels;
  }
  return names.map(() => undefined);
}

/** Returns a look in a color that `before` other lines have. */
function dashed(color: string, before: number): Look {
  return { color, dash: DASHES[before % DASHES.length] ?? DASHES[0] };
}

/** How much white, or black if negative, is mixed into a reused color. */
const SHADES = [0, 0.45, -0.35, 0.7, -0.6] as const;

function shaded(color: string, before: number): Look {
  return { color: mixed(color, SHADES[before % SHADES.length] ?? 0), dash: [1, 0] };
}

function mixed(color: string, share: number): string {
  const parts = [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16));
  const end = share > 0 ? 255 : 0;
  const whole = parts.map(part => Math.round(part + (end - part) * Math.abs(share)));
  return `#${whole.map(part => part.toString(16).padStart(2, '0')).join('')}`;
}
