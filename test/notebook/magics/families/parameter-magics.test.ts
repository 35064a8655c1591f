import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realBench } from '../../real-bench.js';
import { type Bench, printed, queries, shown, startBench, traceback } from '../../session.js';

describe('the request for a query', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench();
  });
  afterAll(() => bench.close());

  /** Runs the cells and checks the last request's query text and variables. */
  async function check(cells: readonly string[], text: string, variables: object | undefined): Promise<void> {
    for (const cell of cells) expect(traceback(await bench.run(cell))).toEqual([]);
    const sent = queries(bench.service).at(-1);
    expect([sent?.apl, sent?.variables]).toEqual([text, variables]);
  }

  test('sends a value apart from the query text', () =>
    check(
      [`%param service = "x' | drop"`, 'web | where host == service'],
      'declare query_parameters(service: string);\nweb | where host == service',
      { service: "x' | drop" },
    ));
  test('declares each kind of literal with its type', () =>
    check(
      [
        '%param n = 9007199254740993 r=0.5 flag = true neg = -3 since = datetime(2026-01-01) len = 90s list = ["a", 1] map={"k": [1]}',
        'web | where a == n and r == r and flag and neg < 0 and since > since and len > 1s and x in (list) and map == 1',
      ],
      'declare query_parameters(n: long, r: real, flag: bool, neg: long, since: datetime, len: timespan, list: dynamic, map: dynamic);\nweb | where a == n and r == r and flag and neg < 0 and since > since and len > 1s and x in (list) and map == 1',
      {
        n: '9007199254740993',
        r: 0.5,
        flag: true,
        neg: -3,
        since: '2026-01-01T00:00:00Z',
        len: '1m30s',
        list: ['a', 1],
        map: { k: [1] },
      },
    ));
  test('is unchanged if the query uses no parameter', () =>
    check(['%param n = 1', 'web | where x.n == 1 | count'], 'web | where x.n == 1 | count', undefined));
  test('omits a parameter that the query redefines', () =>
    check(['%param n = 1', 'let n = 2;\nweb | where x == n'], 'let n = 2;\nweb | where x == n', undefined));
  test('repeats a declaration of an earlier cell, with its default', () =>
    check(
      [
        'declare query_parameters(city: string = "Ulm", days: long = 1 + 1);',
        'web | where c == city and d == days',
      ],
      'declare query_parameters(city: string = "Ulm", days: long = 1 + 1);\nweb | where c == city and d == days',
      undefined,
    ));
  test('sends a value in place of the default, even in the cell that declares it', () =>
    check(
      ['%param city = "Bonn"\ndeclare query_parameters(city: string = "Ulm");\nweb | where c == city'],
      'declare query_parameters(city: string = "Ulm");\nweb | where c == city',
      { city: 'Bonn' },
    ));
  test('converts a value to the declared type', () =>
    check(
      ['declare query_parameters(begin: datetime);', '%param begin = "2026-01-01"', 'web | where t > begin'],
      'declare query_parameters(begin: datetime);\nweb | where t > begin',
      { begin: '2026-01-01T00:00:00Z' },
    ));
  test('converts a string to a time or duration if the parameter is one', () =>
    check(
      [
        '%param opens = datetime(2026-01-01) wait = 90s label = "5m"',
        '%param opens = "2026-01-26T14:30:00+02:00" wait = "10m" label = "90s"',
        'web | where t > opens and d > wait and x == label',
      ],
      'declare query_parameters(opens: datetime, wait: timespan, label: string);\nweb | where t > opens and d > wait and x == label',
      { opens: '2026-01-26T12:30:00Z', wait: '10m0s', label: '90s' },
    ));
  test('redeclares a parameter as a string if the string is not a time', () =>
    check(
      ['%param ends = datetime(2026-01-01)', '%param ends = "soon"', 'web | where t > ends'],
      'declare query_parameters(ends: string);\nweb | where t > ends',
      { ends: 'soon' },
    ));
  test('sends a table as its definition', () =>
    check(
      ['%param hosts = datatable(host: string)["a", "b"]', 'web | join (hosts) on host'],
      'let hosts = datatable(host: string)["a", "b"];\nweb | join (hosts) on host',
      undefined,
    ));
});

const bench = realBench({
  web: [
    { _time: '2026-01-02T10:00:00Z', host: 'a', ms: 5 },
    { _time: '2026-01-02T11:00:00Z', host: 'b', ms: 50 },
    { _time: '2026-01-02T12:00:00Z', host: 'c', ms: 500 },
  ],
});

describe('on the local service', () => {
  test.each([
    ['%param one = "b"', 'web | where host == one | project ms', ['50']],
    ['%param list = ["a", "c"]', 'web | where host in (list) | summarize total = sum(ms)', ['505']],
    ['%param since = datetime(2026-01-02 10:30)', 'web | where _time > since | summarize n = count()', ['2']],
    ['%param len = 90m', 'web | where _time - datetime(2026-01-02T10:00Z) > len | project host', ['c']],
    ['%param big = 9007199254740993', 'print x = big', ['9,007,199,254,740,993']],
    ['%param big = 9223372036854775807', 'print x = big', ['9,223,372,036,854,775,807']],
    ['%param big = -9223372036854775808', 'print x = big', ['-9,223,372,036,854,775,808']],
    ['%param low = -0.5', 'print x = low', ['-0.5']],
    ['%param wait = -90s', 'print x = wait', ['-1m30s']],
    ['%param up = +3', 'print x = up', ['3']],
    ['%param low = (-2)', 'print x = low', ['-2']],
    ['%param list = [-0.5, {"k": -1}]', 'print x = toreal(list[0]) + toreal(list[1].k)', ['-1.5']],
    [
      '%param owners = datatable(host: string, team: string)["b", "core"]',
      'web | join kind=inner (owners) on host | project team',
      ['core'],
    ],
    ['%param s = "\' or 1 == 1 //"', 'web | where host == s | summarize n = count()', ['0']],
    ['%param host = "nobody"', 'web | where host == "a" | project ms', ['5']],
  ])('%s', async (line, query, values) => {
    await bench().run('%time 2026-01-02');
    expect(traceback(await bench().run(line))).toEqual([]);
    const run = await bench().run(query);
    expect(traceback(run)).toEqual([]);
    const text = shown(run).at(-1) ?? '';
    for (const value of values) expect(text).toMatch(new RegExp(`^ *${value}$`, 'm'));
  });

  test('an error is marked at its position in the cell, below the added declaration', async () => {
    await bench().run('%param limit_ms = 10');
    const lines = traceback(await bench().run('let a = 1;\nweb | where ms > limit_ms and mz > 3'));
    expect(lines.slice(1, 3).join('\n')).toContain('line 2, column 31');
  });
});

describe('the %param line', () => {
  let scripted: Bench;
  beforeAll(async () => {
    scripted = await startBench();
  });
  afterAll(() => scripted.close());

  test.each([
    ['%param', '%param: give a name and a value'],
    ['%param n', '%param: n has no value: write n = …'],
    ['%param n =', '%param: n cannot be nothing'],
    ['%param n = 1e400', '%param: n cannot be 1e400, which is not a literal'],
    ['%param n = -1e400', '%param: n cannot be -1e400, which is not a literal'],
    ['%param n = now()', '%param: n cannot be now(), which is not a literal'],
    ['%param n = not(true)', '%param: n cannot be not(true), which is not a literal'],
    ['%param n = -"a"', '%param: n cannot be -"a"'],
    ['%param n = -(1)', '%param: n cannot be -(1), which is not a literal'],
    ['%param n = 1 + 1', '%param: n cannot be 1 + 1, which is not a literal'],
    ['%param n = web | count', '%param: n cannot be web | count, which is not a literal'],
    ['%param n = 1; print 2', '%param: n cannot be 1; print 2'],
    ['%param 5 n = 1', '%param: 5 is not an assignment'],
    ['%param env = "x" --choices "prod", "staging"', '%param: env cannot be "x"'],
    ['%param a = 1 b = 2 --choices 1', '%param: --choices is for one parameter'],
    ['%param token --prompt', '%param: this session cannot prompt for token'],
  ])('refuses %s', async (line, message) => {
    expect(traceback(await scripted.run(line))[0]?.replace(/^magic: /, '')).toContain(message);
  });

  test('applies choices to later values', async () => {
    await scripted.run('%param env = "prod" --choices "prod", "staging"');
    expect(traceback(await scripted.run('%param env = "staging"'))).toEqual([]);
    const refused = traceback(await scripted.run('%param env = "dev"'));
    expect([refused[0], refused.at(-1)]).toEqual([
      'magic: %param: env cannot be "dev"',
      'hint: Its choices are "prod", "staging".',
    ]);
    expect(shown(await scripted.run('%params'))[0]).toMatch(/^env +string +"staging" +"prod", "staging"$/m);
  });

  test.each([
    ['%param city = "Ulm" --prompt', 'Bonn', 'city ["Ulm"]: ', '"Bonn"'],
    ['%param city = "Ulm" --prompt', '', 'city ["Ulm"]: ', '"Ulm"'],
    ['%param city --prompt', 'say "hi"', 'city ["Ulm"]: ', '"say \\"hi\\""'],
    ['%param days = 3 --prompt', '5', 'days [3]: ', '5'],
    ['%param env --prompt --choices "prod", "dev"', 'dev', 'env ("prod", "dev") ["staging"]: ', '"dev"'],
  ])('prompts for %s, answered by %j', async (line, answer, question, value) => {
    const { outcome, outputs } = await scripted.run(line, { answer });
    expect([outcome.status, outputs]).toEqual(['ok', [{ kind: 'asked', text: question }]]);
    expect(shown(await scripted.run('%params'))[0]).toContain(` ${value}`);
  });

  test('sets all parameters of a line, or none if one of them is refused', async () => {
    await scripted.run('%param second = "a" --choices "a", "b"');
    const before = shown(await scripted.run('%params'))[0];
    for (const line of ['%param first = 2 third = now()', '%param first = 2 second = "c"'])
      expect((await scripted.run(line)).outcome.status).toBe('error');
    expect(shown(await scripted.run('%params'))[0]).toBe(before);
    await scripted.run('%param first = 2 second = "b"');
    expect(shown(await scripted.run('%params'))[0]).toMatch(/^first +long +2$/m);
  });

  test('accepts a cell with only definitions', async () => {
    expect(printed(await scripted.run('let a = 1;'))).toBe(
      'Names that `let` and `set` define apply to the queries below them in the cell. `%param NAME = LITERAL` applies to the notebook.\n',
    );
    const declared = await scripted.run('declare query_parameters(q: string = "x");');
    expect([declared.outcome.status, declared.outputs]).toEqual(['ok', []]);
    expect(shown(await scripted.run('%params'))[0]).toMatch(/^q +string +"x" \(default\)$/m);
  });

  test.each([
    [
      '%params\nlet x = ;',
      'expected: expected an expression after `=`, found `;`',
      ' --> line 2, column 8 of the cell',
    ],
    [
      'let a = 1;\nlet b = (2;',
      'expected: expected a dataset here, found `2`',
      ' --> line 2, column 10 of the cell',
    ],
  ])('shows an error in a cell with only definitions: %j', async (code, message, place) => {
    const run = await scripted.run(code);
    expect(traceback(run).slice(0, 2)).toEqual([message, place]);
    expect(printed(run)).toBe('');
  });

  test('is reflected in %show-query', async () => {
    await scripted.run('%time 2026-01-01\n%param q = "a"');
    const sent =
      'declare query_parameters(q: string);\nweb | where c == q\n\nvariables: {"q":"a"}\nrange: 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z\nprofile: local';
    expect(shown(await scripted.run('%show-query\nweb | where c == q')).at(-1)).toBe(sent);
    expect(shown(await scripted.run('%show-query'))).toEqual([sent]);
  });
});
