import { formatTime } from '../../../time.js';
import { LocalError } from '../../local-errors.js';

/** Events for one dataset, as lines of JSON; the dataset is undefined if no envelope names one. */
export type EnvelopeLines = ReadonlyMap<string | undefined, readonly string[]>;

/** What is wrong with an envelope. */
type Fault = 'badFormat' | 'noEvent' | 'blankEvent';

/** An envelope that cannot be read. */
export class EnvelopeError extends LocalError {
  readonly fault: Fault;
  /** Its place in the text, counted from 0. */
  readonly event: number;

  constructor(fault: Fault, event: number) {
    super('invalid', 'invalid-request', `Event ${event} is not an envelope with an \`event\`.`);
    this.fault = fault;
    this.event = event;
  }
}

/** Members of an envelope that become fields of its event. */
const described = ['host', 'source', 'sourcetype'] as const;

/** What is said of all events of a request beside its body. */
type Described = Readonly<Partial<Record<(typeof described)[number], string>>>;

/**
 * Returns the events of envelopes of the HTTP Event Collector (https://axiom.co/docs/send-data/splunk-hec), one after the other in a
 * text; no number loses digits. Throws EnvelopeError.
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

/** Members of the event come first; those of `fields` and of the envelope itself are added, in the place of any of the same name. */
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

/** Seconds, or milliseconds from 1973 on as seconds would be the year 5138, exactly; other texts are left to the reader of events. */
function timeOf(json: string): string {
  const [, whole, fraction = ''] = /^"?(\d+)(?:\.(\d+))?"?$/.exec(json) ?? [];
  if (whole === undefined) return json;
  const digits = whole.length >= 12 ? 6 : 9;
  return JSON.stringify(formatTime(BigInt(whole + fraction.padEnd(digits, '0').slice(0, digits))));
}

function textOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') && json !== '""' ? String(JSON.parse(json)) : undefined;
}

/** Strings, brackets and other values; what stands between them is left out. */
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

/** The text of an object with these members. */
export function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** The members of an object that is known to be JSON, with the texts of their values; of a name that is there twice, the last counts. */
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
