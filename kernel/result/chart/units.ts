/** The unit in which a measure is drawn: 0.15 s reads `150` on an axis in ms, 2,500,000 bytes read `2.5` on one in MB. */

/** How values of a field are scaled for an axis: multiplied by `factor`, in `unit` (empty for a bare number). */
export interface Scale {
  readonly factor: number;
  readonly unit: string;
}

/** Returns the scale for values in a unit; `largest` is their greatest magnitude. Bare numbers stay unchanged. */
export function scaleFor(unit: string, largest: number): Scale {
  const step = STEPS.get(unit);
  return step === undefined ? { factor: 1, unit } : onLadder(step, largest);
}

/** Returns whether the unit has multiples, so that a measure can be written in the most suitable one. */
export function unitIsKnown(unit: string): boolean {
  return STEPS.has(unit);
}

interface Rung {
  readonly unit: string;
  /** In the base unit of the ladder. */
  readonly size: number;
  /** Minimum value in this unit: 90 s reads better than 1.5 min. */
  readonly from: number;
}

type Ladder = readonly Rung[];

interface Step {
  readonly ladder: Ladder;
  /** The field's unit in the base unit of the ladder. */
  readonly size: number;
}

const rung = (unit: string, size: number, from = 1): Rung => ({ unit, size, from });

const TIME: Ladder = [
  rung('ns', 1e-9),
  rung('\u00b5s', 1e-6),
  rung('ms', 1e-3),
  rung('s', 1),
  rung('min', 60, 3),
  rung('h', 3600, 3),
  rung('d', 86_400, 3),
];

const powers = (base: number, units: readonly string[]): Ladder =>
  units.map((unit, power) => rung(unit, base ** power));

const BINARY = powers(1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
const DECIMAL = powers(1000, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
const BITS = powers(1000, ['bit', 'kbit', 'Mbit', 'Gbit', 'Tbit']);
const perSecond = (ladder: Ladder): Ladder => ladder.map(each => ({ ...each, unit: `${each.unit}/s` }));
const PERCENT = powers(1, ['%']);

/** Spellings of units in field metadata, as dashboards use them: `bytes` counts in 1,024, `decbytes` in 1,000. */
const STEPS: ReadonlyMap<string, Step> = new Map([
  ...spelled(TIME, 1e-9, 'ns', 'nanoseconds'),
  ...spelled(TIME, 1e-6, 'us', '\u00b5s', '\u03bcs', 'microseconds'),
  ...spelled(TIME, 1e-3, 'ms', 'milliseconds'),
  ...spelled(TIME, 1, 's', 'sec', 'seconds'),
  ...spelled(TIME, 60, 'min', 'minutes'),
  ...spelled(TIME, 3600, 'h', 'hours'),
  ...spelled(TIME, 86_400, 'd', 'days'),
  ...spelled(BINARY, 1, 'bytes', 'byte', 'By', 'B'),
  ...spelled(BINARY, 1024, 'kbytes', 'KiB', 'KiBy'),
  ...spelled(BINARY, 1024 ** 2, 'mbytes', 'MiB', 'MiBy'),
  ...spelled(BINARY, 1024 ** 3, 'gbytes', 'GiB', 'GiBy'),
  ...spelled(DECIMAL, 1, 'decbytes'),
  ...spelled(DECIMAL, 1e3, 'deckbytes', 'kB', 'KB'),
  ...spelled(DECIMAL, 1e6, 'decmbytes', 'MB'),
  ...spelled(DECIMAL, 1e9, 'decgbytes', 'GB'),
  ...spelled(BITS, 1, 'bits', 'decbits', 'bit'),
  ...spelled(perSecond(DECIMAL), 1, 'Bps'),
  ...spelled(perSecond(BINARY), 1, 'binBps'),
  ...spelled(perSecond(BITS), 1, 'bps', 'binbps'),
  ...spelled(PERCENT, 1, 'percent', '%'),
  ...spelled(PERCENT, 100, 'percentunit'),
]);

function spelled(ladder: Ladder, size: number, ...names: readonly string[]): readonly [string, Step][] {
  return names.map(name => [name, { ladder, size }]);
}

/** Returns the scale of the highest rung that the greatest value reaches; a measure of zeros keeps its own unit. */
function onLadder({ ladder, size }: Step, largest: number): Scale {
  const most = largest === 0 ? size : largest * size;
  const reached = ladder.findLast(each => most >= each.size * each.from * (1 - 1e-9)) ?? ladder[0];
  return reached === undefined
    ? { factor: 1, unit: '' }
    : { factor: size / reached.size, unit: reached.unit };
}

/** Returns the greatest magnitude of any number of values; 0 if there are none. */
export function greatestSize(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}
