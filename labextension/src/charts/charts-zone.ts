import type { Spec } from 'vega';
import { clockName, timeIn, type Zone } from '../link/link-zone.js';
import type { ChartFacts } from './charts-facts.js';

/** Replacements of the UTC times in a chart in local time. */
interface Words {
  readonly clock: string;
  /** Title of a time axis. */
  readonly days: string;
}

/** Returns a specification with the axis and tooltips in a zone; the kernel writes their times in UTC. */
export function inZone(spec: Spec, { start, end }: Pick<ChartFacts, 'start' | 'end'>, zone: Zone): Spec {
  if (zone === 'utc') return spec;
  const exact = (t: number) => new Date(t).toISOString();
  const clock = clockName(exact(end), zone);
  const [from, to] = [start, Math.max(start, end - 1)].map(t => timeIn(exact(t), zone).slice(0, 10));
  const days = `${from === to ? from : `${from} to ${to}`}, ${clock}`;
  return changed(spec, { clock, days }) as Spec;
}

/** Members to leave unchanged: data, facts and the description. */
const LEFT_ALONE: ReadonlySet<string> = new Set(['data', 'usermeta', 'description']);
const DAYS = /^\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?, UTC$/;

function changed(part: unknown, words: Words): unknown {
  if (Array.isArray(part)) return part.map(each => changed(each, words));
  if (typeof part !== 'object' || part === null) return part;
  const members = Object.entries(part).map(([name, each]) => [name, memberIn(name, each, words)]);
  return Object.fromEntries(members);
}

function memberIn(name: string, value: unknown, words: Words): unknown {
  if (LEFT_ALONE.has(name)) return value;
  if (name === 'type' && value === 'utc') return 'time';
  if (name === 'title' && typeof value === 'string' && DAYS.test(value)) return words.days;
  if (name !== 'signal' || typeof value !== 'string') return changed(value, words);
  return value.replaceAll('utcFormat(', 'timeFormat(').replace(/(?<=["']time \()UTC(?=\)["'])/g, words.clock);
}
