/** Names under which services and gateways say what went wrong, the most telling first. */
const reasonNames = [
  'message',
  'error_description',
  'errormessage',
  'faultstring',
  'detail',
  'reason',
  'msg',
  'title',
  'error',
];

/** An error within errors; deeper ones are not looked for. */
const DEEPEST = 12;

/** Returns what a JSON value says of an error, however it is wrapped; the empty string if it says nothing. */
export function reasonIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return '';
  if (Array.isArray(value)) return reasonIn(value[0], depth + 1);
  const members = new Map(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]));
  for (const name of reasonNames) {
    const text = members.get(name);
    if (typeof text === 'string' && text !== '') return text;
  }
  const wrapped = ['error', 'errors', 'fault', 'detail', 'message'].map(name => members.get(name));
  return (
    wrapped
      .map(each => (typeof each === 'object' ? reasonIn(each, depth + 1) : ''))
      .find(text => text !== '') ?? ''
  );
}

/** Returns what an error in XML says. */
export function reasonInXml(body: string): string {
  return /<(?:\w+:)?(?:message|faultstring)>([^<]*)</i.exec(body)?.[1] ?? '';
}
