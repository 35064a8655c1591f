import type { TypeName } from '../../../kernel/apl/catalog/entry.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled.js';

/** A table in which some rows are bad, and the fields that make them so; none if chance alone chose them. */
export interface Incident {
  readonly kind: string;
  readonly rows: number;
  readonly fields: readonly { readonly name: string; readonly type: TypeName; readonly sql: string }[];
  readonly cause: readonly string[];
}

/** Returns the incident of a seed: each has other fields, shares and causes. */
export function incident(seed: number, planted: boolean): Incident {
  const random = generator(seed * 2 + (planted ? 1 : 0));
  const rows = 4_000 + Math.floor(random() * 26_000);
  // At least thirty bad rows: no method finds the cause of three.
  const share = Math.max(30 / rows, 0.001 * 300 ** random());
  const count = 20 + Math.floor(random() * 81);
  const plantedCount = planted ? 1 + Math.floor(random() * 3) : 0;
  let drawn = 0;
  /** A number from 0 to 1 that belongs to a row and to this place in the query. */
  const uniform = () => `(hash(i + ${(seed * 2_000 + drawn++) * 1_000_000}) / 18446744073709551616.0)`;
  const fields: { name: string; type: TypeName; sql: string }[] = [];
  const add = (name: string, type: TypeName, sql: string) => fields.push({ name, type, sql });
  const cause: string[] = [];
  const conditions: string[] = [];
  const each = share ** (1 / Math.max(plantedCount, 1));
  for (let index = 0; index < plantedCount; index += 1) {
    const name = `cause${index}`;
    cause.push(name);
    if (random() < 0.7) {
      const others = 2 + Math.floor(random() * 30);
      const [bad, other] = [uniform(), uniform()];
      add(
        name,
        'string',
        `CASE WHEN ${bad} < ${each} THEN 'bad' ELSE 'v' || floor(${other} * ${other} * ${others})::BIGINT END`,
      );
      conditions.push(`${name} = 'bad'`);
    } else {
      const x = uniform();
      // A long tail: the bad rows are those beyond a limit.
      add(name, 'real', `exp(4 * ${x}) - 1`);
      conditions.push(`${name} >= exp(4 * ${1 - each}) - 1`);
    }
    for (let copies = Math.floor(random() * 3); copies > 0; copies -= 1) {
      const alike = 0.5 + 0.4 * random();
      add(
        `decoy${index}_${copies}`,
        'string',
        `CASE WHEN ${uniform()} < ${alike} THEN CASE WHEN ${conditions.at(-1)} THEN 'x' ELSE 'y' END ELSE 'z' || floor(${uniform()} * 4)::BIGINT END`,
      );
    }
  }
  while (fields.length < count) {
    const { type, sql } = otherField(rows, random, uniform);
    add(`f${fields.length}`, type, sql);
  }
  const noise = planted ? share * 0.1 : share;
  const bad = [
    ...(planted ? [`(${conditions.join(' AND ')} AND ${uniform()} < 0.85)`] : []),
    `${uniform()} < ${noise}`,
  ];
  add('bad', 'bool', bad.join(' OR '));
  const kind = planted ? `${plantedCount} of ${count > 60 ? 'many' : 'few'} fields` : 'no cause';
  return { kind, rows, fields, cause };
}

/** A catalog of incidents: the dataset `planted-7` is that of seed 7. */
export function incidents(): DatasetCatalog {
  const known = new Map<string, Incident>();
  const named = (name: string): Incident => {
    const found = known.get(name) ?? incident(Number(/\d+$/.exec(name)?.[0]), name.startsWith('planted'));
    known.set(name, found);
    return found;
  };
  return {
    names: () => [...known.keys()],
    schema: name => ({
      name,
      open: false,
      fields: [
        { name: '_time', type: 'datetime' },
        ...named(name).fields.map(({ name: field, type }) => ({ name: field, type })),
      ],
    }),
    scan: (name, fields, from, to) => {
      const { rows, fields: all } = named(name);
      // Fields read those before them: a level of the query each would be as many as there are fields.
      const made = all.map(field => `${field.sql} AS ${field.name}`).join(', ');
      const time = `make_timestamp_ns(${from} + i * ((${to} - ${from}) // ${rows + 1})) AS _time`;
      const list = fields.map((field, index) => `${field} AS f${index}`).join(', ');
      return `SELECT ${list} FROM (SELECT ${time}, ${made} FROM range(${rows}) AS numbers(i))`;
    },
  };
}

/** A field that has nothing to do with the bad rows. */
function otherField(
  rows: number,
  random: () => number,
  uniform: () => string,
): { readonly type: TypeName; readonly sql: string } {
  const missing = random() < 0.3 ? random() * 0.6 : 0;
  const there = (sql: string) =>
    missing === 0 ? sql : `CASE WHEN ${uniform()} >= ${missing} THEN ${sql} END`;
  const x = uniform();
  const whole = (sql: string) => `floor(${sql})::BIGINT`;
  switch (Math.floor(random() * 8)) {
    case 0:
      return { type: 'string', sql: `'id-' || i` };
    case 1:
      return {
        type: 'string',
        sql: there(`'user' || ${whole(`${x} * ${Math.ceil(rows / (2 + random() * 20))}`)}`),
      };
    case 2:
      return { type: 'real', sql: there(`exp(${1 + random() * 6} * ${x})`) };
    case 3:
      return { type: 'long', sql: there(whole(`1000000 * ${x} * ${x} * ${x}`)) };
    case 4:
      return { type: 'long', sql: there(`200 + ${whole(`${x} * ${x} * 5`)}`) };
    case 5:
      return { type: 'bool', sql: there(`${x} < ${random()}`) };
    case 6:
      return {
        type: 'datetime',
        sql: there(`make_timestamp_ns(1700000000000000000 + ${whole(`${x} * 1e15`)})`),
      };
    default:
      return {
        type: 'string',
        sql: there(`'v' || ${whole(`${x} * ${x} * ${2 + Math.floor(random() * 60)}`)}`),
      };
  }
}

/** Returns numbers from 0 to 1 by the algorithm mulberry32. */
function generator(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
