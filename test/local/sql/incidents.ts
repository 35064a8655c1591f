import type { TypeName } from '../../../kernel/apl/catalog/entry.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';

/** A table with some bad rows, and the fields that cause them; none if the bad rows are random. */
export interface Incident {
  readonly kind: string;
  readonly rows: number;
  readonly fields: readonly { readonly name: string; readonly type: TypeName; readonly sql: string }[];
  readonly cause: readonly string[];
}

/** Returns the incident for a seed; fields, shares and causes vary. */
function incident(seed: number, planted: boolean): Incident {
  const random = generator(seed * 2 + (planted ? 1 : 0));
  const rows = 4_000 + Math.floor(random() * 26_000);
  // At least thirty bad rows: a cause of three cannot be found by any method.
  const share = Math.max(30 / rows, 0.001 * 300 ** random());
  const count = 20 + Math.floor(random() * 81);
  const plantedCount = planted ? 1 + Math.floor(random() * 3) : 0;
  let drawn = 0;
  /** Returns SQL of a number from 0 to 1, determined by the row and by its position in the query. */
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
      // A long tail: the rows beyond a threshold are bad.
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

/** Parameters of an incident. */
interface Draw {
  readonly rows: number;
  /** Share of bad rows, from 0 to 1. */
  readonly share: number;
  /** Returns a number from 0 to 1, the same for the whole incident. */
  readonly random: () => number;
  /** Returns SQL of a number from 0 to 1, determined by the row and by its position in the query. */
  readonly uniform: () => string;
}

type Field = Incident['fields'][number];

/** The fields of a cause, the condition for its rows, the fields to be found, and the share of its rows. */
interface Planted {
  readonly share?: number;
  readonly fields: readonly Field[];
  readonly condition: string;
  readonly cause: readonly string[];
}

const text = (name: string, sql: string): Field => ({ name, type: 'string', sql });
const drawn = (from: number, to: number, random: () => number) => Math.floor(from + random() * (to - from));

/** Causes by kind. */
export const CAUSES: Readonly<Record<string, (draw: Draw) => Planted>> = {
  'a value that is absent': ({ share, random, uniform }) => ({
    fields: [
      text(
        'cause',
        `CASE WHEN ${uniform()} >= ${share} THEN 'v' || floor(${uniform()} * ${drawn(2, 30, random)})::BIGINT END`,
      ),
    ],
    condition: 'cause IS NULL',
    cause: ['cause'],
  }),
  'a pair of fields': ({ random, uniform }) => {
    const [many, others] = [drawn(3, 10, random), drawn(3, 10, random)];
    return {
      share: 1 / (many * others),
      fields: [
        text('cause', `'v' || floor(${uniform()} * ${many})::BIGINT`),
        text('other', `'v' || floor(${uniform()} * ${others})::BIGINT`),
      ],
      condition: "cause = 'v1' AND other = 'v2'",
      cause: ['cause', 'other'],
    };
  },
  'a range of numbers': ({ share, random, uniform }) => {
    const low = random() * (1 - share);
    const ends = [low, low + share].map(each => `exp(3 * ${each})`);
    return {
      fields: [{ name: 'cause', type: 'real', sql: `exp(3 * ${uniform()})` }],
      condition: `cause >= ${ends[0]} AND cause < ${ends[1]}`,
      cause: ['cause'],
    };
  },
  'a value that begins later': ({ rows, share, random, uniform }) => {
    const start = Math.floor(rows * (0.3 + 0.5 * random()));
    const later = Math.min(1, (share * rows) / (rows - start));
    return {
      fields: [
        text(
          'cause',
          `CASE WHEN i >= ${start} AND ${uniform()} < ${later} THEN 'new' ELSE 'v' || floor(${uniform()} * ${drawn(1, 6, random)})::BIGINT END`,
        ),
      ],
      condition: "cause = 'new'",
      cause: ['cause'],
    };
  },
  'a value of one row in a thousand': ({ rows, random, uniform }) => {
    const share = Math.max(0.001, 40 / rows);
    return {
      share,
      fields: [
        text(
          'cause',
          `CASE WHEN ${uniform()} < ${share} THEN 'bad' ELSE 'v' || floor(${uniform()} * ${drawn(2, 200, random)})::BIGINT END`,
        ),
      ],
      condition: "cause = 'bad'",
      cause: ['cause'],
    };
  },
  'a field that most rows lack': ({ share, random, uniform }) => {
    const there = 0.3 + 0.2 * random();
    return {
      fields: [
        text(
          'cause',
          `CASE WHEN ${uniform()} < ${there} THEN CASE WHEN ${uniform()} < ${share / there} THEN 'bad' ELSE 'v' || floor(${uniform()} * 5)::BIGINT END END`,
        ),
      ],
      condition: "cause = 'bad'",
      cause: ['cause'],
    };
  },
  'a value with four decoys': ({ share, random, uniform }) => ({
    fields: [
      text(
        'cause',
        `CASE WHEN ${uniform()} < ${share} THEN 'bad' ELSE 'v' || floor(${uniform()} * ${drawn(2, 12, random)})::BIGINT END`,
      ),
      ...[0, 1, 2, 3].map(index =>
        text(
          `decoy${index}`,
          `CASE WHEN ${uniform()} < ${0.7 + 0.2 * random()} THEN CASE WHEN cause = 'bad' THEN 'x' ELSE 'y' END ELSE 'z' || floor(${uniform()} * 4)::BIGINT END`,
        ),
      ),
    ],
    condition: "cause = 'bad'",
    cause: ['cause'],
  }),
  'numbers that are mostly zero': ({ share, uniform }) => {
    const x = uniform();
    return {
      fields: [
        {
          name: 'cause',
          type: 'long',
          sql: `CASE WHEN ${x} < 0.6 THEN 0 ELSE floor(exp(12 * ${x}))::BIGINT END`,
        },
      ],
      condition: `cause >= floor(exp(12 * ${1 - share}))`,
      cause: ['cause'],
    };
  },
  'one id of thousands': ({ rows, share: most, random, uniform }) => {
    const share = Math.min(most, 0.03);
    return {
      share,
      fields: [
        text(
          'cause',
          `CASE WHEN ${uniform()} < ${share} THEN 'user-0' ELSE 'user-' || floor(${uniform()} * ${Math.floor(rows / drawn(3, 20, random))})::BIGINT END`,
        ),
      ],
      condition: "cause = 'user-0'",
      cause: ['cause'],
    };
  },
  'a prefix of versions': ({ share, random, uniform }) => ({
    fields: [
      text(
        'cause',
        `CASE WHEN ${uniform()} < ${share} THEN '2.10.' ELSE '2.' || floor(${uniform()} * 9)::BIGINT || '.' END || floor(${uniform()} * ${drawn(3, 60, random)})::BIGINT`,
      ),
    ],
    condition: "cause LIKE '2.10.%'",
    cause: ['cause'],
  }),
  'a limit of a number': ({ share, random, uniform }) => {
    const x = uniform();
    const [sql, end] =
      random() < 0.5 ? [`${x}`, 1 - share] : [`floor(1e6 * ${x} * ${x})`, 1e6 * (1 - share) ** 2];
    return {
      fields: [{ name: 'cause', type: 'real', sql }],
      condition: `cause >= ${end}`,
      cause: ['cause'],
    };
  },
  'a host for a time': ({ rows, share, random, uniform }) => {
    const hosts = drawn(3, 40, random);
    const length = Math.min(0.6, share * hosts);
    const start = random() * (1 - length);
    return {
      share: length / hosts,
      fields: [text('cause', `'host-' || floor(${uniform()} * ${hosts})::BIGINT`)],
      condition: `cause = 'host-1' AND i >= ${rows * start} AND i < ${rows * (start + length)}`,
      cause: ['cause'],
    };
  },
  'a prefix of texts': ({ share, random, uniform }) => {
    const ends = `lpad((${uniform()} * 1e9)::BIGINT::VARCHAR, 9, '0')`;
    const [bad, good] = [
      ["'/checkout/v2/'", "'/cart/v'"],
      ["'10.2.'", "'10.1'"],
      ["'eu-west-1-'", "'us-east-'"],
      ["'tmp_'", "'job'"],
    ][drawn(0, 4, random)] as [string, string];
    return {
      fields: [
        text(
          'cause',
          `CASE WHEN ${uniform()} < ${share} THEN ${bad} ELSE ${good} || floor(${uniform()} * 9 + 3)::BIGINT || '.' END || ${ends}`,
        ),
      ],
      condition: `starts_with(cause, ${bad})`,
      cause: ['cause'],
    };
  },
  'a combination of three fields': ({ random, uniform }) => {
    const many = [0, 1, 2].map(() => drawn(2, 7, random));
    return {
      share: 1 / many.reduce((a, b) => a * b, 1),
      fields: many.map((each, at) => text(`cause${at}`, `'v' || floor(${uniform()} * ${each})::BIGINT`)),
      condition: "cause0 = 'v1' AND cause1 = 'v0' AND cause2 = 'v1'",
      cause: ['cause0', 'cause1', 'cause2'],
    };
  },
  'a boolean': ({ share, uniform }) => ({
    fields: [{ name: 'cause', type: 'bool', sql: `${uniform()} < ${share}` }],
    condition: 'cause',
    cause: ['cause'],
  }),
  'a member of an object': ({ share, random, uniform }) => ({
    fields: [
      {
        name: 'cause',
        type: 'dynamic',
        sql: `json_object('id', i, 'zone', CASE WHEN ${uniform()} < ${share} THEN 'bad' ELSE 'z' || floor(${uniform()} * ${drawn(2, 12, random)})::BIGINT END, 'ms', floor(${uniform()} * 1000)::BIGINT)::VARCHAR`,
      },
    ],
    condition: 'cause LIKE \'%"bad"%\'',
    cause: ['cause'],
  }),
  'an element of an array': ({ share, random, uniform }) => ({
    fields: [
      {
        name: 'cause',
        type: 'dynamic',
        sql: `to_json(['t' || floor(${uniform()} * 50)::BIGINT, CASE WHEN ${uniform()} < ${share} THEN 'bad' ELSE 'u' || floor(${uniform()} * ${drawn(2, 90, random)})::BIGINT END, 'id-' || i])::VARCHAR`,
      },
    ],
    condition: 'cause LIKE \'%"bad"%\'',
    cause: ['cause'],
  }),
  'an element that an array lacks': ({ share, random, uniform }) => ({
    fields: [
      {
        name: 'cause',
        type: 'dynamic',
        sql: `to_json(list_filter(['t' || floor(${uniform()} * 50)::BIGINT, CASE WHEN ${uniform()} >= ${share} THEN 'auth' END, 'u' || floor(${uniform()} * ${drawn(20, 900, random)})::BIGINT], lambda v: v IS NOT NULL))::VARCHAR`,
      },
    ],
    condition: 'cause NOT LIKE \'%"auth"%\'',
    cause: ['cause'],
  }),
  'a field that is there during the incident alone': ({ rows, share, random, uniform }) => {
    const start = random() * (1 - share);
    return {
      fields: [
        text(
          'cause',
          `CASE WHEN i >= ${rows * start} AND i < ${rows * (start + share)} THEN 'e' || floor(${uniform()} * ${drawn(1, 200, random)})::BIGINT END`,
        ),
      ],
      condition: 'cause IS NOT NULL',
      cause: ['cause'],
    };
  },
  'a word of a message': ({ share, random, uniform }) => ({
    fields: [
      text(
        'cause',
        `'request ' || i || ' of user ' || floor(${uniform()} * 9e6)::BIGINT || CASE WHEN ${uniform()} < ${share} THEN ' got deadlock' ELSE ' did ' || ['read', 'write', 'commit', 'sync'][floor(${uniform()} * ${drawn(1, 5, random)})::BIGINT + 1] END || ' in ' || floor(${uniform()} * 900)::BIGINT || ' ms'`,
      ),
    ],
    condition: "cause LIKE '%deadlock%'",
    cause: ['cause'],
  }),
  'one of several values': ({ random, uniform }) => {
    const [many, bad] = [drawn(20, 200, random), drawn(2, 8, random)];
    return {
      share: bad / many,
      fields: [text('cause', `'host-' || floor(${uniform()} * ${many})::BIGINT`)],
      condition: `cause IN (${Array.from({ length: bad }, (_, at) => `'host-${at * 2}'`).join(', ')})`,
      cause: ['cause'],
    };
  },
  'either of two causes': ({ share, random, uniform }) => ({
    fields: ['cause', 'other'].map(name =>
      text(
        name,
        `CASE WHEN ${uniform()} < ${share / 2} THEN 'bad' ELSE 'v' || floor(${uniform()} * ${drawn(2, 40, random)})::BIGINT END`,
      ),
    ),
    condition: "cause = 'bad' OR other = 'bad'",
    cause: ['cause', 'other'],
  }),
  'a code among many numbers': ({ share, random, uniform }) => ({
    fields: [
      {
        name: 'cause',
        type: 'long',
        sql: `CASE WHEN ${uniform()} < ${share} THEN 8443 ELSE floor(${uniform()} * ${drawn(100, 60_000, random)})::BIGINT END`,
      },
    ],
    condition: 'cause = 8443',
    cause: ['cause'],
  }),
  'a time of another field': ({ share, random, uniform }) => {
    const low = random() * (1 - share);
    return {
      fields: [
        {
          name: 'cause',
          type: 'datetime',
          sql: `make_timestamp_ns(1700000000000000000 + floor(${uniform()} * 1e15)::BIGINT)`,
        },
      ],
      condition: `epoch_ns(cause) >= 1700000000000000000 + ${low * 1e15} AND epoch_ns(cause) < 1700000000000000000 + ${(low + share) * 1e15}`,
      cause: ['cause'],
    };
  },
  'either end of a number': ({ share, random, uniform }) => {
    const steep = drawn(1, 6, random);
    return {
      fields: [{ name: 'cause', type: 'real', sql: `exp(${steep} * ${uniform()})` }],
      condition: `(cause < exp(${(steep * share) / 2}) OR cause >= exp(${steep * (1 - share / 2)}))`,
      cause: ['cause'],
    };
  },
};

/** Returns the incident for a seed with one kind of cause, among 20 to 100 fields. */
function incidentOf(kind: string, seed: number): Incident {
  const plant = CAUSES[kind];
  if (plant === undefined) throw new Error(`there is no cause of the kind ${kind}`);
  const place = Object.keys(CAUSES).indexOf(kind);
  const random = generator(1_000_000 + seed * 100 + place);
  const rows = drawn(4_000, 30_000, random);
  const share = Math.max(60 / rows, 0.003 * 100 ** random());
  let count = 0;
  const uniform = () =>
    `(hash(i + ${(5_000_000 + (seed * 100 + place) * 2_000 + count++) * 1_000_000}) / 18446744073709551616.0)`;
  const planted = plant({ rows, share, random, uniform });
  const fields: Field[] = [...planted.fields];
  for (const many = drawn(20, 101, random); fields.length < many; ) {
    const { type, sql } = otherField(rows, random, uniform);
    fields.push({ name: `f${fields.length}`, type, sql });
  }
  const bad = `(${planted.condition} AND ${uniform()} < 0.85) OR ${uniform()} < ${(planted.share ?? share) * 0.1}`;
  fields.push({ name: 'bad', type: 'bool', sql: bad });
  return { kind, rows, fields, cause: planted.cause };
}

/**
 * Returns an incident by dataset name: `planted-7` has seed 7, `chance-7` has no cause, and `cause-2-7` has the kind of cause at
 * index 2.
 */
export function incidentNamed(name: string): Incident {
  const [kind = '', ...numbers] = name.split('-');
  const [first = 0, second = 0] = numbers.map(Number);
  if (kind === 'cause') return incidentOf(Object.keys(CAUSES)[first] ?? '', second);
  return incident(first, kind === 'planted');
}

/** Returns a statement that replaces the table with the rows of an incident, in the hour before `end`, in nanoseconds since 1970. */
export function incidentTable(name: string, end: bigint): string {
  const { rows, fields } = incidentNamed(name);
  // Fields refer to earlier fields: one query level for each would nest as deeply as there are fields.
  const made = fields.map(field => `${field.sql} AS ${field.name}`).join(', ');
  const time = `make_timestamp_ns(${end - 3_600_000_000_000n} + i * (3600000000000 // ${rows + 1})) AS _time`;
  const list = ['_time', ...fields.map(field => field.name)].join(', ');
  return `CREATE OR REPLACE TEMP TABLE incident AS SELECT ${list} FROM (SELECT ${time}, ${made} FROM range(${rows}) AS numbers(i))`;
}

/** Returns a catalog of incidents, which reads the rows of the last one created. */
export function incidents(): DatasetCatalog {
  return {
    names: () => [],
    schema: name => ({
      name,
      open: false,
      fields: [
        { name: '_time', type: 'datetime' },
        ...incidentNamed(name).fields.map(({ name: field, type }) => ({ name: field, type })),
      ],
    }),
    scan: (_name, fields) =>
      `SELECT ${fields.map((field, index) => `${field} AS f${index}`).join(', ')} FROM incident`,
  };
}

/** Returns a field that is unrelated to the bad rows. */
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

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
export function generator(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
