import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { condition, everyType, expression, pipeline } from '../../apl/queries.js';
import { openQueries } from '../queries.js';

const { run } = openQueries();

/** Returns the rows as sorted text, or the refusal. */
async function answer(apl: string): Promise<string> {
  const outcome = await run(apl);
  if (!outcome.ok) return 'refused';
  const header = outcome.ran.table.fields.map(field => `${field.name}:${field.type}`).join(' ');
  return [header, ...outcome.ran.rows.map(row => row.join(' ')).sort()].join('\n');
}

describe('random pipelines over every type', () => {
  test('run, or are refused with a message', async () => {
    const tally = { ran: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(pipeline, async apl => {
        const outcome = await run(apl);
        tally[outcome.ok ? 'ran' : 'refused'] += 1;
        if (!outcome.ok) expect(outcome.diagnostics.map(each => each.severity)).toContain('error');
      }),
      { numRuns: 150 },
    );
    // Most must run, or the property proves little.
    expect(tally.ran).toBeGreaterThan(tally.refused / 4);
  });
});

const term = fc.constantFrom(
  'a',
  'B',
  'ab',
  'a b',
  ' ',
  '.',
  '-a',
  '|',
  '(',
  '\\\\d',
  '',
  'é',
  'İ',
  '😀',
  '_',
  '1.9',
  '[',
  '$',
  'ß',
);

function quoted(text: string): string {
  return JSON.stringify(text);
}

describe('laws', () => {
  const law = (name: string, sides: fc.Arbitrary<readonly [string, string]>): void =>
    test(name, async () => {
      await fc.assert(
        fc.asyncProperty(sides, async ([left, right]) => {
          expect(await answer(everyType + left)).toBe(await answer(everyType + right));
        }),
        { numRuns: 60 },
      );
    });

  law(
    'where a | where b equals where a and b',
    fc
      .tuple(condition, condition)
      .map(([a, b]) => [`T | where ${a} | where ${b}`, `T | where (${a}) and (${b})`]),
  );
  law(
    'has_any equals has joined by or, for any number of terms',
    fc
      .tuple(
        fc.array(term, { minLength: 1, maxLength: 8 }),
        fc.array(term, { maxLength: 6 }),
        fc.constantFrom('', '_cs'),
      )
      .map(([subject, terms, suffix]) => [
        `print s = ${quoted(subject.join(''))} | project x = s has_any${suffix} (${terms.map(quoted).join(', ')})`,
        `print s = ${quoted(subject.join(''))}${terms.map((each, index) => ` | extend h${index} = s has${suffix} ${quoted(each)}`).join('')} | project x = ${['false', ...terms.keys()].map(each => (each === 'false' ? each : `h${each}`)).join(' or ')}`,
      ]),
  );
  law(
    'terms joined by or match like each term alone',
    fc
      .tuple(
        fc.array(fc.oneof(term, fc.string({ unit: 'grapheme', maxLength: 3 })), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.array(term, { minLength: 3, maxLength: 6 }),
        fc.constantFrom('', '_cs'),
      )
      .map(([subject, terms, suffix]) => [
        `print s = ${quoted(subject.join(''))} | project x = ${terms.map(each => `s has${suffix} ${quoted(each)}`).join(' or ')}`,
        `print s = ${quoted(subject.join(''))}${terms.map((each, index) => ` | extend h${index} = s has${suffix} ${quoted(each)}`).join('')} | project x = ${[...terms.keys()].map(each => `h${each}`).join(' or ')}`,
      ]),
  );
  law(
    'the list that a query returns is the list of its values',
    fc
      .tuple(
        fc.array(term, { minLength: 1, maxLength: 4 }),
        fc.array(term, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('in', '!in', 'in~', '!in~', 'has_any', 'has_any_cs', 'has_all', 'has_all_cs'),
        fc.constantFrom('s', 'bag_pack("k", s).k'),
        fc.constantFrom('v', 'bag_pack("k", v).k', 'pack_array(v)'),
      )
      .map(([subjects, values, operator, subject, value]) => {
        const rows = `datatable(s:string)[${subjects.map(quoted).join(', ')}]`;
        const query = `datatable(v:string)[${values.map(quoted).join(', ')}] | project x = ${value}`;
        return [
          `${rows} | project x = ${subject} ${operator} ((${query}))`,
          `${rows} | project x = ${subject} ${operator} (${values.map(quoted).join(', ')})`,
        ];
      }),
  );
  law(
    'the order of a projection is irrelevant',
    fc
      .tuple(expression, expression)
      .map(([a, b]) => [`T | project x = ${a}, y = ${b}`, `T | project y = ${b}, x = ${a} | project x, y`]),
  );
  law(
    'a limit commutes with a projection',
    fc
      .tuple(expression, fc.nat({ max: 6 }))
      .map(([a, n]) => [
        `T | sort by l asc | project x = ${a} | limit ${n}`,
        `T | sort by l asc | limit ${n} | project x = ${a}`,
      ]),
  );
  law(
    'a computed field equals its expression in place',
    fc
      .tuple(expression, condition)
      .map(([a, c]) => [`T | extend x = ${a} | where ${c} | project x`, `T | where ${c} | project x = ${a}`]),
  );
});

interface Row {
  readonly k: string | null;
  readonly g: number | null;
  readonly v: number | null;
}

const row: fc.Arbitrary<Row> = fc.record({
  k: fc.constantFrom('a', 'b', '', null),
  g: fc.constantFrom(0, 1, -1, null),
  v: fc.option(fc.integer({ min: -1000, max: 1000 })),
});

describe('summarize', () => {
  const by = fc.constantFrom<readonly (keyof Row)[]>([], ['k'], ['k', 'g']);

  test('matches a row-by-row evaluation', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 12 }), by, async (rows, keys) => {
        const outcome = await run(summarizeText(rows, keys));
        if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
        const found = outcome.ran.rows.map(cells => JSON.parse(`[${cells.join(',')}]`) as unknown[]);
        expect(sorted(found)).toEqual(sorted(summarized(rows, keys)));
      }),
      { numRuns: 80 },
    );
  });
});

function summarizeText(rows: readonly Row[], keys: readonly string[]): string {
  const cells = rows.flatMap(({ k, g, v }) => [k === null ? 'null' : `'${k}'`, String(g), String(v)]);
  const aggregates = 'count(), sum(v), avg(v), min(v), max(v), dcount(v), countif(v > 0)';
  const group = keys.length === 0 ? '' : ` by ${keys.join(', ')}`;
  return `datatable(k:string, g:long, v:long)[${cells.join(', ')}] | summarize ${aggregates}${group}`;
}

/** Summarizes in plain JavaScript: nulls form a group, and are ignored as values. */
function summarized(rows: readonly Row[], keys: readonly (keyof Row)[]): unknown[][] {
  const groups = new Map<string, Row[]>();
  if (keys.length === 0) groups.set('[]', []);
  for (const each of rows) {
    const key = JSON.stringify(keys.map(name => each[name]));
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups].map(([key, members]) => {
    const values = members.flatMap(({ v }) => (v === null ? [] : [v]));
    const sum = values.reduce((total, value) => total + value, 0);
    const ofValues = (result: () => number): number | null => (values.length === 0 ? null : result());
    return [
      ...(JSON.parse(key) as unknown[]),
      members.length,
      sum,
      ofValues(() => sum / values.length),
      ofValues(() => Math.min(...values)),
      ofValues(() => Math.max(...values)),
      new Set(values).size,
      values.filter(value => value > 0).length,
    ];
  });
}

function sorted(rows: readonly unknown[][]): string[] {
  return rows.map(each => JSON.stringify(each)).sort();
}
