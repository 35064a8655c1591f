import { formatTime } from '../../../time.js';
import { LocalError } from '../../local-errors.js';

/** Events by dataset, as lines of JSON; the dataset is undefined if the envelope does not name one. */
export type EnvelopeLines = ReadonlyMap<string | undefined, readonly string[]>;

type Fault = 'badFormat' | 'noEvent' | 'blankEvent';

/** An envelope that cannot be read. */
export class EnvelopeError extends LocalError {
  readonly fault: Fault;
  /** Index of the envelope in the text, from 0. */
  readonly event: number;

  constructor(fault: Fault, event: number) {
    super('invalid', 'invalid-request', `Event ${event} is not an envelope with an \`event\` key.`);
    this.fault = fault;
    this.event = event;
  }
}

/** Members of an envelope that become fields of its event. */
const described = ['host', 'source', 'sourcetype'] as const;

/** Metadata that a request sends beside its body, for all of its events. */
type Described = Readonly<Partial<Record<(typeof described)[number], string>>>;

/**
 * Returns the events of concatenated HTTP Event Collector envelopes (https://axiom.co/docs/send-data/splunk-hec); numbers keep all digits.
 * Throws EnvelopeError.
 */
export function linesOfEnvelopes(text: string): EnvelopeLines {
  const lines = new Map<string | undefined, string[]>();
  for (const [place, envelope] of objectsIn(text).entries()) {
    const members = membersOf(envelope);
    const index = textOf(members.get('index'));
    const known = lines.get(index) ?? [];
    lines.set(index, known);
    known.push(lineOf(members, place));
  }
  return lines;
}

/** Returns an event for each line of a text. */
export function linesOfRaw(text: string, about: Described): readonly string[] {
  return text
    .split(/\r?\n/)
    .filter(line => line !== '')
    .map(line => JSON.stringify({ _raw: line, ...about }));
}

/** Returns an event: its own members first, then those of `fields` and of the envelope, which replace any of the same name. */
function lineOf(envelope: ReadonlyMap<string, string>, place: number): string {
  const event = envelope.get('event');
  if (event === undefined || event === 'null') throw new EnvelopeError('noEvent', place);
  if (event === '""') throw new EnvelopeError('blankEvent', place);
  const own: ReadonlyMap<string, string> = event.startsWith('{')
    ? membersOf(event)
    : new Map([['_raw', event.startsWith('"') ? event : JSON.stringify(event)]]);
  const fields = envelope.get('fields') ?? '{}';
  if (!fields.startsWith('{')) throw new EnvelopeError('badFormat', place);
  const about = described.flatMap(name => {
    const value = envelope.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const time = envelope.get('time');
  const timed = time === undefined || time === 'null' ? [] : [['_time', timeOf(time)] as const];
  const all = new Map([...own, ...membersOf(fields), ...about, ...timed]);
  return objectOf(all);
}

/** Converts seconds, or milliseconds if there are 12 or more digits, exactly; leaves anything else to the event reader. */
function timeOf(json: string): string {
  const [, whole, fraction = ''] = /^"?(\d+)(?:\.(\d+))?"?$/.exec(json) ?? [];
  if (whole === undefined) return json;
  const digits = whole.length >= 12 ? 6 : 9;
  return JSON.stringify(formatTime(BigInt(whole + fraction.padEnd(digits, '0').slice(0, digits))));
}

function textOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') && json !== '""' ? String(JSON.parse(json)) : undefined;
}

/** Strings, brackets and other values; separators are skipped. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]|[^"{}[\]:,\s]+/g;

function objectsIn(text: string): readonly string[] {
  const objects: string[] = [];
  let [depth, from, end] = [0, 0, 0];
  for (const { 0: found, index } of text.matchAll(token)) {
    if (depth === 0) from = index;
    if (found === '{' || found === '[') depth += 1;
    if (found === '}' || found === ']') depth -= 1;
    if (depth > 0) continue;
    if (text.slice(end, from).trim() !== '') throw new EnvelopeError('badFormat', objects.length);
    end = index + found.length;
    objects.push(checkedObject(text.slice(from, end), objects.length));
  }
  if (depth > 0 || text.slice(end).trim() !== '') throw new EnvelopeError('badFormat', objects.length);
  return objects;
}

function checkedObject(text: string, place: number): string {
  try {
    JSON.parse(text);
  } catch {
    throw new EnvelopeError('badFormat', place);
  }
  if (!text.startsWith('{')) throw new EnvelopeError('badFormat', place);
  return text;
}

/** Returns the source of an object with these members. */
export function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** Returns the members of a valid JSON object with the source of their values; of duplicate names, the last wins. */
export function membersOf(object: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let name: string | undefined;
  let [depth, from] = [0, 0];
  for (const { 0: found, index } of object.matchAll(token)) {
    if (found === ':') continue;
    if (depth === 1 && name === undefined && found !== '}') {
      name = String(JSON.parse(found));
      continue;
    }
    if (depth === 1) from = index;
    if (found === '{' || found === '[') depth += 1;
    if (found === '}' || found === ']') depth -= 1;
    if (depth !== 1 || name === undefined) continue;
    members.set(name, object.slice(from, index + found.length));
    name = undefined;
  }
  return members;
}
