import { SaxesParser } from 'saxes';

type Value = string | number | readonly Value[] | { readonly [name: string]: Value };

/** An element, with what stands in it so far. */
interface Element {
  readonly name: string;
  /** Its attributes, then the elements in it. */
  readonly members: Map<string, Value[]>;
  text: string;
}

/**
 * Yields the events of Windows in XML, below one element or not (https://learn.microsoft.com/windows/win32/wes/eventschema-schema):
 * what is in `System` are fields of the event, and what else there is keeps its name. Throws an Error if it is not XML.
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
    // A declaration is not part of a fragment.
    parser.write(isFirst ? text.replace(/^\s*<\?xml[^>]*\?>/, '') : text);
    isFirst = false;
    yield* events;
    events = [];
  }
  parser.close();
  yield* events;
}

/** Such as `<Correlation/>`; data without text has its name. */
function isEmpty({ members, text }: Element): boolean {
  return members.size === 0 && text.trim() === '';
}

function addMember(members: Map<string, Value[]>, name: string, value: Value): void {
  const values = members.get(name);
  if (values === undefined) members.set(name, [value]);
  else values.push(value);
}

/** Elements of `System` that are numbers. */
const numbers =
  /^(?:EventID|Qualifiers|Version|Level|Task|Opcode|EventRecordID|ProcessID|ThreadID|ProcessorID|SessionID|KernelTime|UserTime|ProcessorTime)$/;

/** The name and the value of an element; data of an event has its name in an attribute. */
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

/** What is in `System` stands first; an identifier with qualifiers is two fields. */
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
