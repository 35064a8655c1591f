/** Members in which services and gateways report errors, most specific first. */
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

/** Maximum nesting of an error within errors. */
const DEEPEST = 12;

/** Returns the error message in a JSON value, however it is nested; empty if there is none. */
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

/** Returns the error message in XML. */
export function reasonInXml(body: string): string {
  return /<(?:\w+:)?(?:message|faultstring)>([^<]*)</i.exec(body)?.[1] ?? '';
}
