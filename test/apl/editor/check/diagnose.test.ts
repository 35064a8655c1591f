import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { diagnose } from '../../../../kernel/apl/editor/check/diagnose.js';
import { environmentOf as known } from '../../../../kernel/apl/editor/known.js';
import { parseQuery } from '../../../../kernel/apl/syntax/parse.js';
import { magicFacts } from '../../../../kernel/notebook/editor/editor-comm.js';
import { environment } from '../../environment.js';

/** Checks everything found in a cell, as `severity marked text: message -> fix`. */
function check(cell: string, expected: readonly string[]): void {
  const found = diagnose(cell, environment, magicFacts).map(({ severity, from, to, message, instead }) => {
    const fix = instead === undefined ? '' : ` -> ${instead}`;
    return `${severity} ${cell.slice(from, to)}: ${message}${fix}`;
  });
  expect(found).toEqual(expected);
}

type Case = readonly [cell: string, expected: readonly string[]];

describe('a cell', () => {
  test.each<Case>([
    ['', []],
    ['web | where status == 500', []],
    ['web | where stauts == 500', ['error stauts: unknown field `stauts` -> status']],
    [
      'wbe | count\n\nspans | whree status == 1\n\nweb | summarize cuont()',
      [
        'error wbe: unknown dataset `wbe` -> web',
        'error whree: unknown operator `whree` -> where',
        'error cuont: unknown function `cuont` -> count',
      ],
    ],
    ["web | where geo.ciyt == 'x'", ["error geo.ciyt: unknown field `geo.ciyt` -> ['geo.city']"]],
    [
      'sample-http-lgs | count',
      [
        "error sample-http-lgs: `sample-http-lgs` needs quotes because it contains `-` -> ['sample-http-lgs']",
      ],
    ],
    [
      "['sample-http-lgs'] | count",
      ["error ['sample-http-lgs']: unknown dataset `sample-http-lgs` -> ['sample-http-logs']"],
    ],
    ["web | where attribtes['x'] == 1", ['error attribtes: unknown field `attribtes` -> attributes']],
    [
      'web | join (spans) on $left.stauts == $right.trace_di',
      [
        'error $left.stauts: unknown field `stauts` -> $left.status',
        'error $right.trace_di: unknown field `trace_di` -> $right.trace_id',
      ],
    ],
    ['web | join kind=iner (spans) on status', ['error iner: `kind` of `join` cannot be `iner` -> inner']],
    ['web | where status == 1 && duration > 1', ['error &&: `&&` is written `and` in APL -> and']],
    ['web | where !isnull(status)', ['error !: `!` is written `not` in APL -> not ']],
    ['web | summarize mean(duration)', ['error mean: APL has no function `mean` -> avg']],
    ['web | filter status == 1', ['hint filter: `filter` is an old spelling -> where']],
    ...['%export /tmp/a.csv', '  %star "errors of today"', '%%time last 1h'].map<Case>(line => [
      `web | take 5\n${line}`,
      [`error ${line.trim()}: magics must be at the top of a cell, before the query`],
    ]),
    ['web | take 5\n%status', ['error %status: magics must be at the top of a cell, before the query']],
    ['web | extend a = status\n%status\n| take 5', []],
  ])('%s', check);

  test.each<Case>([
    ['let a = 1\n\nweb | where status == a\n\nspans | count', []],
    ['let a = 1\n\nweb | count\n\nspans | count', ['hint a: `a` is never used']],
    ['web | count\n\nlet a = 1\n\nspans | count', ['hint a: `a` is never used']],
    [
      'let a = stauts\n\nweb | where status == a\n\nspans | where status == a',
      ['error stauts: unknown field `stauts`'],
    ],
    ['let a = 1', []],
    ['web | count\n\n%time 1h', ['error %time 1h: magics must be at the top of a cell, before the query']],
  ])('reports errors in shared statements once: %s', check);

  test.each<Case>([
    ['n << web | project status\n\nn | where status > 1', []],
    ['n << web | project status\n\nn | where duration > 1', ['error duration: unknown field `duration`']],
    ['n << web | wher\n\nn | where x > 1', ['error wher: unknown operator `wher` -> where']],
    ['n << n | count', []],
  ])('knows the results named in it: %s', check);
});

describe('a magic line', () => {
  test.each<Case>([
    ['%time last 1h\nweb | count', []],
    ['%tiem last 1h\nweb | count', ['error tiem: unknown magic %tiem -> time']],
    [
      '%import a.csv --datset x',
      ['error --datset: %import: unknown option --datset; did you mean --dataset? -> --dataset'],
    ],
    ['%import', ['error %import: %import: an argument is missing']],
    [
      '  %%schema web',
      ['error %%schema: %schema: it does not apply to a single cell: use %schema -> %schema'],
    ],
    ['%echo "a', []],
    ['%schema "a', ['error "a: %schema: unclosed quote']],
    ['%param low = 5\nweb | where status > low', []],
    ['%param low = 5 high = 9\nweb | where status between (low .. high)', []],
    ['%apl web | where stauts == 1', ['error stauts: unknown field `stauts` -> status']],
    ['%use prod\nnew_one | where x == 1', []],
    ['%connect prod\nnew_one | where x == 1', []],
  ])('%s', check);
});

test('without a kernel unknown names are accepted, but syntax errors are reported', () => {
  const empty = known({ fields: () => undefined, now: 0n });
  const found = (cell: string) => diagnose(cell, empty).map(({ message }) => message);
  expect(found('%nonsense\nanything | where whatever == 1 | summarize count() by x')).toEqual([]);
  expect(found('anything | summarize spotlight(whatever == 1, *), arg_max(x, *)')).toEqual([]);
  expect(found('anything | whree x == 1')).toEqual(['unknown operator `whree`']);
});

test('a named result accepts any field and shadows a dataset', () => {
  const result = { name: 'web', fields: [{ name: 'n', type: 'long' as const }] };
  const facts = {
    ...{ profile: 'local', exact: true, datasets: ['web'], results: [result], magics: [] },
    ...{ variables: {}, tables: [] },
  };
  const environmentNow = known({ facts, fields: () => [], now: 0n });
  const found = (cell: string) => diagnose(cell, environmentNow).map(each => each.message);
  expect(found('web | where n > m')).toEqual([]);
  expect(found("['web'] | where n > 1")).toEqual(['unknown field `n`']);
});

test('a result used as a value is reported, with how to use it as a list', () => {
  const fields = [
    { name: '_time', type: 'datetime' as const },
    { name: 'trace id', type: 'string' as const },
  ];
  const facts = {
    ...{ profile: 'local', exact: true, datasets: ['web'], results: [{ name: 'bad', fields }], magics: [] },
    ...{ variables: {}, tables: [] },
  };
  const columns = [{ name: 'id', type: 'string' as const }];
  const environmentNow = known({ facts, fields: () => columns, now: 0n });
  const found = (cell: string) => diagnose(cell, environmentNow).map(each => [each.message, each.hint]);
  const said = [
    '`bad` is a result, not a value',
    "Use it as a source, or one of its fields as a list: `field in ((bad | project ['trace id']))`.",
  ];
  for (const list of ['(bad)', '((bad))']) expect(found(`web | where id in ${list}`)).toEqual([said]);
  expect(found("web | where id in ((bad | project ['trace id']))")).toEqual([]);
});

test('a dataset accepts any field until its fields are loaded, and parameters are known names', () => {
  const facts = {
    ...{ profile: 'local', exact: true, datasets: ['web'], results: [], magics: [] },
    ...{ variables: { low: 1, unset: null }, tables: ['hosts'] },
  };
  const environmentNow = known({ facts, fields: () => undefined, now: 0n });
  expect(diagnose('_ | where anything > 1', environmentNow)).toEqual([]);
  expect(
    diagnose('web | where any == low + unset\n\nhosts | count\n\nother | count', environmentNow).map(
      each => each.message,
    ),
  ).toEqual(['unknown dataset `other`']);
});

describe('reports no error in valid queries before the datasets are known', () => {
  const folder = new URL('../../../golden/', import.meta.url);
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(name =>
    name.endsWith('.txt'),
  );
  const nothing = known({ fields: () => undefined, now: 0n });
  /** Golden-file queries that have a result, over tables of unknown schema; without those that serialize a literal table. */
  const queries = files.flatMap(name =>
    readFileSync(new URL(name, folder), 'utf8')
      .split(/^=== /m)
      .slice(1)
      .flatMap(part => {
        const [apl = '', result = ''] = part.slice(part.indexOf('\n') + 1).split(/^---\n/m);
        const text = apl
          .replaceAll(/datatable\s*\([^)]*\)\s*\[[^[\]]*\]/g, 'T')
          .replaceAll(/\blet \w+ = T;/g, '');
        return /^error |\| serialize/m.test(apl + result) || parseQuery(text).diagnostics.length > 0
          ? []
          : [[text] as const];
      }),
  );

  test('in more than 300 queries', () => expect(queries.length).toBeGreaterThan(300));
  test.each(queries)('%s', text => {
    const found = diagnose(text, nothing).filter(({ severity }) => severity === 'error');
    expect(found.map(({ message }) => message)).toEqual([]);
  });
  test.each([
    ['T | make-series n = count() on _time step 10m by method'],
    ['T | distinct *'],
    ['T | project-keep a*'],
    ['T | project-away a, b'],
    ["T | lookup kind=leftouter U on $left.['service.name'] == $right.name"],
    ['T | join kind=inner U on id, host'],
    ['T | join kind=inner (U | project k) on $left.a.b == $right.k'],
    ['search in (logs*) "error"'],
    ["T | extend place = geo_info_from_ip_address('172.217.22.14')"],
  ])('%s', text => expect(diagnose(text, nothing)).toEqual([]));
});
