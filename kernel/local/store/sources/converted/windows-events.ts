import { SaxesParser } from 'saxes';

type Value = string | number | readonly Value[] | { readonly [name: string]: Value };

/** An open element with its content so far. */
interface Element {
  readonly name: string;
  /** Attributes, then child elements. */
  readonly members: Map<string, Value[]>;
  text: string;
}

/**
 * Yields the Windows events in XML, with or without a root element (https://learn.microsoft.com/windows/win32/wes/eventschema-schema):
 * members of `System` become fields of the event, everything else keeps its name. Throws an Error if it is not XML.
 */
export async function* windowsEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<object> {
  const parser = new SaxesParser({ fragment: true });
  const open: Element[] = [];
  let events: object[] = [];
  parser.on('opentag', ({ name, attributes }) => {
    const given = Object.entries(attributes).filter(([key]) => !/^xmlns(:|$)/.test(key));
    open.push({ name, members: new Map(given.map(([key, value]) => [key, [value]])), text: '' });
  });
  const add = (text: string) => {
    const last = open.at(-1);
    if (last !== undefined) last.text += text;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', () => {
    const element = open.pop();
    if (element === undefined) return;
    const into = open.at(-1);
    if (element.name === 'Event') events.push(eventOf(element));
    else if (into !== undefined && !isEmpty(element))
      addMember(into.members, ...memberOf(element, into.name));
  });
  const decoder = new TextDecoder();
  let isFirst = true;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    // A fragment has no XML declaration.
    parser.write(isFirst ? text.replace(/^\s*<\?xml[^>]*\?>/, '') : text);
    isFirst = false;
    yield* events;
    events = [];
  }
  parser.close();
  yield* events;
}

/** Whether an element is empty, such as `<Correlation/>`; data without text has its name as a member. */
function isEmpty({ members, text }: Element): boolean {
  return members.size === 0 && text.trim() === '';
}

function addMember(members: Map<string, Value[]>, name: string, value: Value): void {
  const values = members.get(name);
  if (values === undefined) members.set(name, [value]);
  else values.push(value);
}

/** Numeric elements of `System`. */
const numbers =
  /^(?:EventID|Qualifiers|Version|Level|Task|Opcode|EventRecordID|ProcessID|ThreadID|ProcessorID|SessionID|KernelTime|UserTime|ProcessorTime)$/;

/** Returns the name and value of an element; event data has its name in an attribute. */
function memberOf({ name, members, text }: Element, within: string): [string, Value] {
  const [named] = members.get('Name') ?? [];
  if (within === 'EventData' && (name === 'Data' || name === 'ComplexData'))
    return [typeof named === 'string' && named !== '' ? named : 'Data', text];
  if (name === 'TimeCreated') return [name, members.get('SystemTime')?.[0] ?? text];
  if (members.size === 0) return [name, typed(name, text, within)];
  const inner = objectOf(members, name);
  const own = text.trim();
  return [name, own === '' ? inner : { ...inner, value: typed(name, own, within) }];
}

function objectOf(members: ReadonlyMap<string, readonly Value[]>, name: string): { [name: string]: Value } {
  return Object.fromEntries(
    [...members].map(([key, [first = '', ...more]]) => [
      key,
      more.length > 0 ? [first, ...more] : typed(key, first, name),
    ]),
  );
}

function typed(name: string, value: Value, within: string): Value {
  const isSystem = within === 'System' || within === 'Execution' || within === 'EventID';
  return isSystem && typeof value === 'string' && numbers.test(name) && /^\d{1,15}$/.test(value)
    ? Number(value)
    : value;
}

/** Returns an event with the members of `System` first; an id with qualifiers becomes two fields. */
function eventOf({ members }: Element): object {
  const { System: system, ...rest } = objectOf(members, 'Event');
  if (typeof system !== 'object' || Array.isArray(system)) return objectOf(members, 'Event');
  const { EventID: id, ...others } = system as { readonly [name: string]: Value };
  const split =
    typeof id === 'object' && 'value' in id
      ? { Qualifiers: id.Qualifiers, EventID: id.value }
      : { EventID: id };
  return { ...split, ...others, ...rest };
}
