import type { Spec } from 'vega';
import type { ChosenValue } from '../../../kernel/apl/editor/chosen.js';
import { present } from '../../../kernel/present.js';

/** Facts about a chart from the kernel, besides its drawing, for reading along the horizontal axis. */
export interface ChartFacts {
  readonly across: 'time' | 'numbers' | 'none';
  /** Ends of the axis; times are in milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** Width of a bin; 0 without bins. */
  readonly bin: number;
  /** Start of some bin. */
  readonly origin: number;
  /** The unit of each plot. */
  readonly units: readonly string[];
  /** The measure of each plot. */
  readonly titles: readonly string[];
  /** Names and colors by id; empty if there is one series. */
  readonly series: ReadonlyMap<string, { readonly label: string; readonly color: string }>;
  readonly rules: readonly RuleFacts[];
  /** Groups of the result behind bars, rows, columns and series, by their ids; undefined if no mark can be selected. */
  readonly parts: ReadonlyMap<string, readonly ChosenValue[]> | undefined;
  /** The column of histograms whose buckets the cells are, and the groups of the one drawn. */
  readonly buckets?: { readonly column: string; readonly of: readonly ChosenValue[] };
}

/** An annotation over the chart, at `t` or, if it has an end, until then. */
export interface RuleFacts {
  readonly t: number;
  readonly end: number;
  readonly label: string;
  readonly type: string;
  /** Text of the annotation; may be empty. */
  readonly text: string;
}

const NONE: ChartFacts = {
  ...{ across: 'none', start: 0, end: 1, bin: 0, origin: 0 },
  ...{ units: [], titles: [], series: new Map(), rules: [], parts: undefined },
};

/** Returns the facts in an untrusted specification; anything invalid is left out. */
export function factsOf({ usermeta }: Spec): ChartFacts {
  const apl = isObject(usermeta) ? usermeta.apl : undefined;
  if (!isObject(apl)) return NONE;
  const { across, start, end, bin, origin } = apl;
  const parts = partsOf(apl.parts);
  if (across !== 'time' && across !== 'numbers')
    return { ...NONE, parts, ...present({ buckets: bucketsOf(apl.buckets) }) };
  if (typeof start !== 'number' || typeof end !== 'number' || !(start < end)) return NONE;
  return {
    across,
    parts,
    start,
    end,
    bin: typeof bin === 'number' ? bin : 0,
    origin: typeof origin === 'number' ? origin : 0,
    units: textsOf(apl.units),
    titles: textsOf(apl.titles),
    series: seriesOf(apl.series),
    rules: rulesOf(apl.rules),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function rulesOf(value: unknown): readonly RuleFacts[] {
  const rules = Array.isArray(value) ? value.filter(isObject) : [];
  return rules.flatMap(({ t, end, label, type, text }) => {
    if (typeof t !== 'number') return [];
    const texts = { label: String(label), type: String(type), text: String(text ?? '') };
    return [{ t, end: typeof end === 'number' ? end : t, ...texts }];
  });
}

function partsOf(value: unknown): ChartFacts['parts'] {
  if (!isObject(value)) return undefined;
  return new Map(
    Object.entries(value).flatMap(([id, values]) =>
      Array.isArray(values) && values.every(isChosenValue) ? [[id, values] as const] : [],
    ),
  );
}

function bucketsOf(value: unknown): ChartFacts['buckets'] {
  if (!isObject(value)) return undefined;
  const { column, of } = value;
  return typeof column === 'string' && Array.isArray(of) && of.every(isChosenValue)
    ? { column, of }
    : undefined;
}

function isChosenValue(each: unknown): each is ChosenValue {
  if (!isObject(each)) return false;
  const { column, type, value } = each;
  return (
    typeof column === 'string' && typeof type === 'string' && (value === null || typeof value === 'string')
  );
}

function seriesOf(value: unknown): ChartFacts['series'] {
  const entries = Array.isArray(value) ? value.filter(isObject) : [];
  return new Map(
    entries.map(({ id, label, color }) => [
      String(id),
      { label: String(label), color: /^#[0-9a-f]{6}$/i.test(String(color)) ? String(color) : '#868c96' },
    ]),
  );
}
