import {
  readAnnotations,
  readDatasets,
  readErrorBody,
  readFields,
  readStarredQueries,
  readUser,
} from '../../kernel/api/wire.js';
import { decodeTabular } from '../../kernel/result/decode/decode-arrow.js';

/** Reads the response bodies in the unit tests of other clients with the kernel's own readers. */

type Json = Readonly<Record<string, unknown>>;

/** How to recognize each kind of response, and the reader that throws or reports notices if it cannot read one. */
const readers: readonly (readonly [
  is: (entry: Json) => boolean,
  read: (value: unknown, body: string) => unknown,
])[] = [
  [
    ({ tables, matches, buckets }) => [tables, matches, buckets].some(each => each !== undefined),
    (_, body) => decodeTabular(Buffer.from(body)),
  ],
  [
    ({ datasets, type }) => Array.isArray(datasets) && typeof type === 'string',
    value => whole(readAnnotations(listOf(value))),
  ],
  [
    ({ kind, query }) => kind === 'apl' && query !== undefined,
    value => whole(readStarredQueries(listOf(value))),
  ],
  [
    ({ name, type, hidden }) => name !== undefined && type !== undefined && hidden !== undefined,
    value => whole(readFields(listOf(value))),
  ],
  [
    ({ name, created, who }) => [name, created, who].every(each => typeof each === 'string'),
    value => whole(readDatasets(listOf(value))),
  ],
  [({ id, email }) => typeof id === 'string' && typeof email === 'string', readUser],
  [
    ({ message, id }) => typeof message === 'string' && id === undefined,
    value => readErrorBody(value) ?? fail('no error'),
  ],
];

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Fails on any notice but one: annotations in axiom-go's tests have no time, so they are left out by name. */
function whole({ notices }: { readonly notices: readonly string[] }): void {
  const others = notices.filter(
    notice => !/^Left out: annotations\[\d\]\.time should be a string, not missing\.$/.test(notice),
  );
  if (others.length > 0) fail(others.join(' '));
}

function fail(message: string): never {
  throw new TypeError(message);
}

/** Reads each body that has a reader; returns whether it could be read, by number and first characters. */
export function readBodies(bodies: readonly string[]): Record<string, boolean> {
  const outcomes: Record<string, boolean> = {};
  for (const body of new Set(bodies)) {
    const value = parsed(body);
    const [entry] = listOf(value);
    if (typeof entry !== 'object' || entry === null) continue;
    const reader = readers.find(([is]) => is(entry as Json));
    if (reader === undefined) continue;
    const name = `${Object.keys(outcomes).length + 1} ${body.replace(/\s+/g, ' ').slice(0, 80)}`;
    try {
      reader[1](value, body);
      outcomes[name] = true;
    } catch (error) {
      console.log(`${name}: ${error}`);
      outcomes[name] = false;
    }
  }
  return outcomes;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
