import type { TypeName } from '../../../apl/catalog/entry.js';
import { formatCount, plural } from '../../../text.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { LocalError } from '../../local-errors.js';
import { fewerFields, mostFields } from '../bounds/bounded-text.js';
import { distinctNames, exceedsReal, keep } from './reading.js';

/** A value of an object that becomes a field. */
export interface JsonLeaf {
  readonly path: readonly string[];
  /** `unseen` if all values are missing or null. */
  readonly type: TypeName | 'unseen';
  /** Whether a sampled string reads like another value, such as `"12"` or `"{}"`. */
  readonly ambiguous: boolean;
}

/** An object whose keys become fields or nested objects. */
export interface JsonObject {
  readonly path: readonly string[];
  /** Counted from 0, which is the whole event. */
  readonly index: number;
  /** All possible keys. */
  readonly keys: readonly string[];
  /** Keys of most rows, in order. */
  readonly usual: readonly string[];
}

/** Fields of the objects in a file. */
export interface JsonShape {
  /** Level by level, so that an object follows its parent. */
  readonly levels: readonly (readonly JsonObject[])[];
  readonly leaves: readonly JsonLeaf[];
  /** Number of objects with a repeated key. */
  readonly repeats: number;
}

/** Returns the shape of the objects `m` of a relation, MAP(VARCHAR, JSON); keys are in the order of the table `sample`. */
export async function profile(connection: Connection, source: string): Promise<JsonShape> {
  const root: Node = { path: [], kinds: new Map([['OBJECT', calm]]), children: new Map(), usual: [] };
  let repeats = 0;
  const levels: Node[][] = [];
  for (let level = [root]; level.length > 0; level = level.flatMap(nested)) {
    levels.push(level);
    const sampled = await sampledObjects(connection, levels);
    const all = source === 'sample' ? sampled : objects(source, levels);
    await addKeys(connection, sampled, levels, true);
    if (all !== sampled) await addKeys(connection, all, levels, false);
    repeats += await addUsualKeys(connection, sampled, all, levels);
  }
  if (root.children.size > mostFields) throw tooManyFields(root.children.size);
  return { ...shapeOf(root), repeats };
}

/** An object parsed in JavaScript, as for a small body. Kinds are those of the engine's `json_type`. */
export interface SeenObject {
  readonly kind: 'OBJECT';
  readonly members: ReadonlyMap<string, SeenValue>;
}

type SeenValue = { readonly kind: string; readonly text: string } & Partial<Pick<SeenObject, 'members'>>;

/** Returns the shape of objects, like {@link profile}; throws LocalError if they have too many keys. */
export function shapeOfEvents(events: readonly SeenObject[]): Pick<JsonShape, 'leaves'> {
  const root: Node = { path: [], kinds: new Map([['OBJECT', calm]]), children: new Map(), usual: [] };
  for (const event of events) addMembers(root, event.members);
  if (root.children.size > mostFields) throw tooManyFields(root.children.size);
  return shapeOf(root);
}

/** Returns the shape of sampled objects, like {@link profile}; they have no repeated keys. */
export function shapeOfSample(events: readonly SeenObject[]): JsonShape {
  const root: Node = { path: [], kinds: new Map([['OBJECT', calm]]), children: new Map(), usual: [] };
  const counts = new Map<Node, Map<string, number>>();
  const visit = (node: Node, members: SeenObject['members']) => {
    const keys = JSON.stringify([...members.keys()]);
    const ofNode = counts.get(node) ?? new Map<string, number>();
    counts.set(node, ofNode.set(keys, (ofNode.get(keys) ?? 0) + 1));
  };
  for (const event of events) addMembers(root, event.members, visit);
  for (const [node, ofNode] of counts) {
    const [[most = '[]'] = []] = [...ofNode].sort((a, b) => b[1] - a[1]);
    node.usual = JSON.parse(most) as string[];
  }
  if (root.children.size > mostFields) throw tooManyFields(root.children.size);
  return { ...shapeOf(root), repeats: 0 };
}

function addMembers(
  node: Node,
  members: SeenObject['members'],
  visit?: (node: Node, members: SeenObject['members']) => void,
): void {
  visit?.(node, members);
  for (const [key, { kind, text, members: below }] of members) {
    const isWide = kind === 'BIGINT' && !Number.isSafeInteger(Number(text));
    const inexact = isWide && !/^-?9007199254740992$/.test(text);
    const big = isWide && isBeyondInt64(text);
    // Only a sample determines how strings are read.
    const ambiguous = visit !== undefined && kind === 'VARCHAR' && mayBeOther(text);
    const child = addKey(node, key, kind === 'NULL' ? undefined : kind, { inexact, big, ambiguous });
    if (below !== undefined) addMembers(child, below, visit);
  }
}

/** Whether {@link maybeNoString} may hold for a string, given with its quotes; false positives are possible. */
function mayBeOther(text: string): boolean {
  return /^"(?:-|\d[\d+.eE\s-]*"|[[{tfnNiI])|\\/.test(text);
}

function isBeyondInt64(text: string): boolean {
  return text.length > '-9223372036854775808'.length || BigInt.asIntN(64, BigInt(text)) !== BigInt(text);
}

/** Returns a name for each leaf, and notes about changed names. A key with a dot takes precedence over a path with the same name. */
export function namesOf(leaves: readonly JsonLeaf[]): {
  readonly names: readonly string[];
  readonly notes: readonly string[];
} {
  const ranked = leaves
    .map((leaf, place) => ({ leaf, place }))
    .sort((a, b) => a.leaf.path.length - b.leaf.path.length);
  const wanted = ranked.map(({ leaf }) => plainName(leaf.path));
  const distinct = distinctNames(wanted);
  const names = new Array<string>(leaves.length);
  const notes: string[] = [];
  for (const [index, { leaf, place }] of ranked.entries()) {
    names[place] = distinct[index] ?? '';
    if (distinct[index] !== wanted[index]) {
      notes.push(
        `\`${wanted[index]}\` occurs both as a name and as a path: ${leaf.path.map(key => `\`${key}\``).join(' > ')} became \`${distinct[index]}\`.`,
      );
    }
    if (leaf.path.some(key => key.includes('\0')))
      notes.push(`A key contains NUL characters: its field is \`${distinct[index]}\`.`);
  }
  return { names, notes };
}

/**
 * Returns the SQL of whether a string, null if there is none, may be the source of another value. Comparing its first character rules out
 * most strings, and a colon most times, at a fraction of the cost of parsing JSON.
 */
export function maybeNoString(text: string): string {
  const valid = `json_valid(${text})`;
  const cases = [
    `${text} < '-' THEN false`,
    `${text} < '.' THEN ${valid}`,
    `${text} < '0' THEN false`,
    `${text} < ':' THEN CASE WHEN contains(${text}, ':') THEN false ELSE ${valid} END`,
    `${text} GLOB '[[{tfnNiI]*' THEN CASE ${text} WHEN 'null' THEN false ELSE ${valid} END`,
  ];
  return `CASE WHEN ${cases.join(' WHEN ')} ELSE false END`;
}

/** Returns the SQL of whether a string is a hexadecimal number: some of its kind have no letters, or an `e` between digits only. */
function isDigitsOfHex(text: string): string {
  return `CASE WHEN ${text} < '0' THEN false WHEN ${text} < ':' THEN regexp_full_match(${text}, '\\d[\\da-fA-F]{7,}') ELSE false END`;
}

/**
 * Limits for the number of keys of an object over all rows: one with more is a map, not a record, and becomes one field. Tried in turn
 * until there are few enough fields.
 */
const keyLimits = [200, 50, 10, 0];
const usualFields = 1000;
/** Maximum nesting depth of objects; deeper ones are values. */
const mostDepth = 16;

/** Properties of the values of one kind. */
interface Seen {
  /** Whether there is an integer beyond 64 bits. */
  readonly big: boolean;
  /** Whether there is a number that a double cannot represent. */
  readonly inexact: boolean;
  /** Whether there is a string that reads like another value. */
  readonly ambiguous: boolean;
}

const calm: Seen = { big: false, inexact: false, ambiguous: false };

interface Node {
  readonly path: readonly string[];
  readonly kinds: Map<string, Seen>;
  readonly children: Map<string, Node>;
  usual: readonly string[];
}

function nested(node: Node): Node[] {
  if (node.children.size > (keyLimits[0] ?? 0) && node.path.length > 0) return [];
  if (node.path.length === mostDepth) return [];
  return [...node.children.values()].filter(child => child.kinds.size === 1 && child.kinds.has('OBJECT'));
}

/** Returns one row per object of the last level: its index p in the level and its map o. Of a repeated key, the last value wins. */
function objects(source: string, levels: readonly (readonly Node[])[]): string {
  let found = rootObjects(source, '0');
  for (const depth of levels.slice(1).keys()) found = `(${objectsBelow(found, levels, depth)})`;
  return found;
}

/**
 * Returns the relation of {@link objects} for the sample, each with its row number n. It is stored for the next level: reopening all levels
 * for each one would take quadratic time.
 */
async function sampledObjects(connection: Connection, levels: readonly (readonly Node[])[]): Promise<string> {
  const root = rootObjects('sample', 'rowid');
  const depth = levels.length - 1;
  if (depth === 0) return root;
  const nameAt = (level: number) => `level${level % 2}`;
  const above = depth === 1 ? root : nameAt(depth - 1);
  await keep(connection, nameAt(depth), objectsBelow(above, levels, depth - 1));
  return nameAt(depth);
}

function rootObjects(source: string, place: string): string {
  return `(SELECT ${place} AS n, 0 AS p, m AS o FROM ${source} WHERE m IS NOT NULL)`;
}

/**
 * Returns the SELECT of the objects below a level. They are looked up in their parents, so that the cost of a row depends on the objects it
 * contains rather than on the number of kinds.
 */
function objectsBelow(above: string, levels: readonly (readonly Node[])[], depth: number): string {
  const places = new Map(levels[depth + 1]?.map((node, p) => [node, p]));
  const memberOf = (node: Node) =>
    `{p: ${places.get(node)}, v: v[list_position(k, ${sqlText(node.path.at(-1) ?? '')})]}`;
  const held =
    levels[depth]?.map((holder, p) => `WHEN ${p} THEN [${nested(holder).map(memberOf).join(', ')}]`) ?? [];
  const members = `SELECT n, p, list_reverse(map_keys(o)) AS k, list_reverse(map_values(o)) AS v FROM ${above}`;
  const values = `SELECT n, unnest(CASE p ${held.join(' ')} END) AS s FROM (${members})`;
  return `SELECT n, s.p AS p, json_transform(s.v, '"MAP(VARCHAR, JSON)"') AS o FROM (${values}) WHERE s.v IS NOT NULL`;
}

async function addKeys(
  connection: Connection,
  found: string,
  levels: readonly (readonly Node[])[],
  isSample: boolean,
): Promise<void> {
  const real = 'TRY_CAST(r AS DOUBLE)';
  const infinite = `coalesce(isinf(${real}) AND NOT contains(lower(r), 'inf'), true)`;
  const big = `CASE WHEN kind IN ('UBIGINT', 'BIGINT', 'HUGEINT') THEN TRY_CAST(r AS BIGINT) IS NULL END`;
  const inexact = `CASE WHEN kind IN ('VARCHAR', 'BOOLEAN', 'OBJECT', 'ARRAY') THEN false WHEN abs(${real}) < 9007199254740992 THEN false ELSE ${exceedsReal('r')} OR ${infinite} END`;
  // Only a sample determines how strings are read.
  const string = isSample ? `CASE WHEN kind = 'VARCHAR' THEN v->>'$' END` : 'NULL::VARCHAR';
  const rows = await connection.run(
    `SELECT p, k, kind, bool_or(${big}), bool_or(${inexact}), bool_or(${maybeNoString('s')} OR ${isDigitsOfHex('s')}), min(n) AS first
     FROM (SELECT p, k, n, kind, CASE WHEN kind NOT IN ('VARCHAR', 'OBJECT', 'ARRAY') THEN v::VARCHAR END AS r, ${string} AS s
       FROM (SELECT p, k, v, n * 100000 + i AS n, json_type(v) AS kind
         FROM (SELECT p, n, unnest(map_keys(o)) AS k, unnest(map_values(o)) AS v, unnest(range(cardinality(o)::BIGINT)) AS i FROM ${found})))
     GROUP BY p, k, kind QUALIFY p = 0 OR row_number() OVER (PARTITION BY p ORDER BY min(n), k) <= ${mostFields}
     ORDER BY p, min(min(n)) OVER (PARTITION BY p, k), k`,
  );
  for (const [p, key, kind, big, inexact, ambiguous] of rows) {
    const node = levels.at(-1)?.[Number(p)];
    if (node)
      addKey(node, String(key), kind === null ? undefined : String(kind), {
        big: big === true,
        inexact: inexact === true,
        ambiguous: ambiguous === true,
      });
  }
}

function addKey(node: Node, key: string, kind: string | undefined, seen: Seen): Node {
  const child = node.children.get(key) ?? {
    path: [...node.path, key],
    kinds: new Map(),
    children: new Map(),
    usual: [],
  };
  node.children.set(key, child);
  if (kind === undefined) return child;
  const before = child.kinds.get(kind) ?? calm;
  child.kinds.set(kind, {
    big: before.big || seen.big,
    inexact: before.inexact || seen.inexact,
    ambiguous: before.ambiguous || seen.ambiguous,
  });
  return child;
}

/** Stores the usual keys of each object; returns the number of objects with a repeated key. */
async function addUsualKeys(
  connection: Connection,
  sample: string,
  source: string,
  levels: readonly (readonly Node[])[],
): Promise<number> {
  const counted = (found: string) =>
    connection.run(
      `SELECT p, arg_max(k, c), sum(c) FILTER (len(list_distinct(k)) < len(k))
       FROM (SELECT p, map_keys(o) AS k, count(*) AS c FROM ${found} WHERE o IS NOT NULL GROUP BY ALL) GROUP BY p`,
    );
  const sampled = await counted(sample);
  for (const [p, keys] of sampled) {
    const node = levels.at(-1)?.[Number(p)];
    const items = (keys as { items?: readonly unknown[] } | null)?.items ?? [];
    if (node) node.usual = items.map(String);
  }
  const all = source === sample ? sampled : await counted(source);
  return all.reduce((total, [, , repeats]) => total + Number(repeats ?? 0), 0);
}

function shapeOf(root: Node): Omit<JsonShape, 'repeats'> {
  for (const limit of keyLimits) {
    const shape = cutShape(root, limit);
    if (shape.leaves.length <= usualFields || limit === 0) return shape;
  }
  return cutShape(root, 0);
}

/** Cuts the shape: objects with more keys than `limit` are values. */
function cutShape(root: Node, limit: number): Omit<JsonShape, 'repeats'> {
  const isObject = (node: Node) =>
    node.path.length === 0 ||
    (node.path.length <= mostDepth &&
      (node.usual.length > 0 || node.children.size > 0) &&
      node.children.size <= limit &&
      node.kinds.size === 1 &&
      node.kinds.has('OBJECT'));
  const levels: JsonObject[][] = [];
  let index = 0;
  for (
    let level = [root];
    level.length > 0;
    level = level.flatMap(node => [...node.children.values()].filter(isObject))
  ) {
    levels.push(
      level.map(({ path, children, usual }) => ({ path, index: index++, keys: [...children.keys()], usual })),
    );
  }
  const leaves = (node: Node): JsonLeaf[] =>
    isObject(node) ? [...node.children.values()].flatMap(leaves) : [leafOf(node)];
  return { levels, leaves: leaves(root) };
}

function leafOf(node: Node): JsonLeaf {
  const ambiguous = [...node.kinds.values()].some(seen => seen.ambiguous);
  return { path: node.path, type: typeOf(node), ambiguous };
}

const plainTypes: Readonly<Record<string, TypeName>> = { VARCHAR: 'string', BOOLEAN: 'bool' };

/** Returns the type of a leaf; numbers that would lose digits as long or real stay JSON. */
function typeOf({ kinds }: Node): TypeName | 'unseen' {
  const names = [...kinds.keys()];
  if (names.length === 0) return 'unseen';
  if (names.length === 1 && plainTypes[names[0] ?? '']) return plainTypes[names[0] ?? ''] ?? 'dynamic';
  if (names.some(name => !/^(U?BIGINT|HUGEINT|DOUBLE)$/.test(name))) return 'dynamic';
  const seen = [...kinds.values()];
  if (!names.includes('DOUBLE')) return seen.some(each => each.big) ? 'dynamic' : 'long';
  return seen.some(each => each.inexact) ? 'dynamic' : 'real';
}

function plainName(path: readonly string[]): string {
  return path.join('.').replaceAll('\0', '\ufffd') || '_';
}

function tooManyFields(count: number): LocalError {
  return new LocalError(
    'invalid',
    'too-large',
    `The objects have ${plural(count, 'key')} in all; the limit is ${formatCount(mostFields)} fields.`,
    {
      hint: fewerFields,
    },
  );
}
