import { LocalError } from '../../local-errors.js';
import { membersOf, objectOf } from './envelopes.js';

/** An action of a bulk request, with its document. */
export interface BulkAction {
  readonly name: string;
  readonly index: string | undefined;
  readonly id: string | undefined;
  /** The document, if it can be stored; its time is its `@timestamp`, if present. */
  readonly document: string | undefined;
  /** Why the document cannot be stored; undefined if it can. */
  readonly refusal: string | undefined;
}

/** Actions by name. Changing or deleting a document needs its id, which events do not have; `alone` means that no document follows. */
const actionKinds: ReadonlyMap<string, { readonly adds: boolean; readonly alone: boolean }> = new Map([
  ['index', { adds: true, alone: false }],
  ['create', { adds: true, alone: false }],
  ['update', { adds: false, alone: false }],
  ['delete', { adds: false, alone: true }],
]);

/**
 * Returns the actions of a body of the Elastic Bulk API (https://axiom.co/docs/send-data/elasticsearch-bulk-api): lines of JSON,
 * alternating an action and its document. Throws LocalError with the number of a line that is not an action.
 */
export function actionsIn(body: string): readonly BulkAction[] {
  const lines = body.split('\n').map((text, at) => ({ text: text.trim(), number: at + 1 }));
  const filled = lines.filter(({ text }) => text !== '')[Symbol.iterator]();
  const actions: BulkAction[] = [];
  for (const { text, number } of filled) {
    const [name, about] = actionOf(text, number);
    const next = actionKinds.get(name)?.alone ? undefined : filled.next().value?.text;
    const refusal = refusalOf(name, next);
    actions.push({
      name,
      index: textOf(about._index),
      id: textOf(about._id),
      document: refusal === undefined && next !== undefined ? timed(next) : undefined,
      refusal,
    });
  }
  return actions;
}

/** Reads only the first member, like Elasticsearch: a client for Node.js adds its retry count after it. */
function actionOf(
  text: string,
  number: number,
): readonly [name: string, about: Readonly<Record<string, unknown>>] {
  const action = parsed(text);
  const [entry] = isObject(action) ? Object.entries(action) : [];
  if (entry === undefined || !actionKinds.has(entry[0]) || !isObject(entry[1]))
    throw new LocalError('invalid', 'invalid-request', `Line ${number} is not a bulk action.`, {
      hint: 'Put {"index":{}} or {"create":{}} above each document.',
    });
  return [entry[0], entry[1]];
}

/** Copies `@timestamp` to `_time` per document, so one unreadable time does not affect the others. */
function timed(document: string): string {
  const members = membersOf(document);
  const time = members.get('@timestamp');
  return time === undefined ? document : objectOf(new Map([...members, ['_time', time]]));
}

function refusalOf(name: string, document: string | undefined): string | undefined {
  if (!actionKinds.get(name)?.adds)
    return `The local service does not support ${JSON.stringify(name)}: use index or create.`;
  return document !== undefined && isObject(parsed(document))
    ? undefined
    : 'The document is not a JSON object.';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
