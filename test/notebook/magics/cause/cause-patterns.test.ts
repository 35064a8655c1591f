import { describe, expect, test } from 'vitest';
import { PATTERNS_MIME } from '../../../../kernel/apl/editor/editor-patterns.js';
import { templateCondition } from '../../../../kernel/apl/editor/editor-template.js';
import { realBench } from '../../real-bench.js';
import { type CellRun, printed, shown, traceback } from '../../session.js';

const at = (hour: number, second: number) => new Date(Date.UTC(2026, 0, 2, hour, 0, second)).toISOString();

const lines = Array.from({ length: 300 }, (_, index) => [
  {
    _time: at(10, index),
    level: 'info',
    message: `GET /api/v${index % 3}  took ${index} ms for user${index}`,
  },
  ...(index % 3 === 0
    ? [
        {
          _time: at(11, index),
          level: 'error',
          message: `cannot reach "db-${index % 7}": timeout after ${index}s`,
        },
      ]
    : []),
  ...(index % 10 === 0
    ? [{ _time: at(11, index), level: 'warn', message: 'low <b>disk</b>\u001b[31m' }]
    : []),
]).flat();

/** Returns a word for a number, without digits. */
const word = (number: number) =>
  number.toString(36).replace(/\d/g, digit => 'ABCDEFGHIJ'[Number(digit)] ?? '');

const bench = realBench({
  app: [
    ...lines,
    { _time: '2026-01-01T10:00:00Z', level: 'info', message: 'GET /api/v9  took 1 ms for user7' },
  ],
  recent: ['04:10', '05:00', '05:01', '05:02'].map(time => ({
    _time: `2026-03-04T${time}:00Z`,
    message: 'job done',
  })),
  sessions: (
    [
      ['bob', 20, 'info'],
      ['bob', 30, 'info'],
      ['bob', 40, 'warn'],
      ['ann', 10, 'info'],
      ['ann', 35, 'error'],
      ['eve', 25, 'info'],
      ['eve', 50, 'info'],
    ] as const
  ).map(([user, second, level]) => ({
    _time: at(12, second),
    level,
    message: `session opened for user ${user} by root`,
  })),
  old: [
    { _time: '1969-12-31T10:00:00Z', message: 'job done' },
    { _time: '1970-01-01T10:00:00Z', message: 'job done' },
    { _time: '1970-01-01T11:00:00Z', message: 'disk full' },
  ],
  // On the first day one kind of line more than is read, on the second one less.
  kinds: ['2026-01-01', '2026-01-02'].flatMap((day, later) =>
    Array.from({ length: 20_001 - 2 * later }, (_, kind) => ({
      _time: `${day}T10:00:00Z`,
      message: `kind ${word(kind)} ${word(kind)} ${word(kind)}`,
    })),
  ),
  plain: [{ _time: at(10, 0), n: 1 }],
  mixed: [
    ...['0042', '17', '12'].map(id => ({
      _time: at(10, 0),
      msg: `job ${id} took ${id.length} s on 10.0.0.${id.length}`,
    })),
    ...['a', 'b'].map(id => ({ _time: at(10, 0), msg: `job*  ${id}[1] (took)` })),
  ],
});

/** Returns the rows of a cell's table, with single spaces. */
function table(cell: CellRun): readonly string[] {
  expect(traceback(cell)).toEqual([]);
  return (shown(cell).at(-1) ?? '').split('\n').map(line => line.replace(/ +/g, ' ').trim());
}

const run = (line: string) => bench().run(`%%time 2026-01-02\n${line}`);

test('%patterns says that lines of the range or of the one before are left out', async () => {
  const most = 'Only the 20,000 most frequent lines';
  const of = async (time: string) => {
    const cell = await bench().run(`%%time ${time}\n%patterns kinds`);
    expect(traceback(cell)).toEqual([]);
    return (shown(cell).at(-1) ?? '').split('\n').filter(line => line.startsWith('Only'));
  };
  expect(await of('2026-01-01')).toEqual([
    `${most} were read, ignoring numbers; rarer ones, if any, are left out.`,
  ]);
  expect(await of('2026-01-02')).toEqual([
    `${most} of the range before were read: a template marked new may be among rarer ones.`,
  ]);
});

describe('%patterns', () => {
  test('lists templates with counts, shares, times, levels, novelty and an example', async () => {
    const cell = await run('%patterns app');
    expect(table(cell).filter(line => /^(?:\d+ (?:templates|\d+) )/.test(line))).toEqual([
      '3 templates of 430 lines in message',
      '1 300 GET /api/v<*> took <*> ms for user<*> 70% ▁▁▁▁▁█▁▁▁▁▁▁ info GET /api/v0 took 0 ms for user0 2026-01-02T10:00:00Z 2026-01-02T10:04:59Z',
      '2 100 cannot reach "db-<*>": timeout after <*>s 23% ▁▁▁▁▁█▁▁▁▁▁▁ new error cannot reach "db-0": timeout after 0s 2026-01-02T11:00:00Z 2026-01-02T11:04:57Z',
      expect.stringMatching(
        /^3 30 low <b>disk<\/b>.* 7% ▁▁▁▁▁█▁▁▁▁▁▁ new warn low .*2026-01-02T11:00:00Z 2026-01-02T11:04:50Z$/,
      ),
    ]);
    const [output] = cell.outputs.filter(each => 'data' in each).slice(-1);
    const html = output && 'data' in output ? String(output.data['text/html']) : '';
    expect(output && 'data' in output && output.data[PATTERNS_MIME]).toEqual({
      ...{ source: 'app', isResult: false, field: 'message', profile: 'local' },
      templates: [
        'GET /api/v<*>  took <*> ms for user<*>',
        'cannot reach "db-<*>": timeout after <*>s',
        'low <b>disk</b>\u001b[<*>m',
      ],
      typed: { place: 0, types: { p1: 'long', p2: 'long', p3: 'long' } },
      query: expect.stringMatching(/^\['app'\]\n\| where isnotempty\(message\)\n/),
      ...{ startTime: '2026-01-02T00:00:00Z', endTime: '2026-01-03T00:00:00Z' },
    });
    expect(html).not.toContain('<b>disk');
    expect(shown(cell).at(-1)).not.toContain('\u001b');
  });

  test.each([
    [1, 300],
    [2, 100],
  ])('the parse line of template %d splits each of its %d lines', async (number, count) => {
    const cell = await run(`%patterns ['app'] message --parse ${number}`);
    expect(traceback(cell)).toEqual([]);
    const query = printed(cell)
      .replace(/^[\s\S]*of template \d:\n/, '')
      .trim();
    const split = await run(`${query}\n| where isnotempty(p2)\n| count`);
    expect(traceback(split)).toEqual([]);
    expect(shown(split).at(-1)).toMatch(new RegExp(`^\\s*${count}\\s*$`, 'm'));
  });

  test('counts lines that differ in one word together, with the first and last time', async () => {
    expect(table(await run('%patterns sessions')).filter(line => line.startsWith('1 '))).toEqual([
      '1 template of 7 lines in message',
      '1 7 session opened for user <*> by root 100% ▁▁▁▁▁▁█▁▁▁▁▁ new error, info, warn session opened for user bob by root 2026-01-02T12:00:10Z 2026-01-02T12:00:50Z',
    ]);
  });

  test('marks templates as new in a range that starts with 1970', async () => {
    const cell = await bench().run('%%time 1970-01-01\n%patterns old');
    const isNew = table(cell).flatMap(
      line => /^\d 1 (job|disk) .*?(new)?(?= (?:job|disk) )/.exec(line)?.slice(1) ?? [],
    );
    expect(isNew).toEqual(['disk', 'new', 'job', undefined]);
  });

  test("types a field as a number only if every value is one, and matches only a template's lines", async () => {
    const cell = await run('%patterns mixed');
    expect(printed(cell)).toContain('parse msg with "job " p1 " took " p2: long " s on " p3');
    const counted = async (template: string) => {
      const counts = await run(`mixed | where ${templateCondition('msg', template)} | count`);
      return /^\s*(\d+)\s*$/m.exec(shown(counts).at(-1) ?? '')?.[1];
    };
    expect(await counted('job <*> took <*> s on <*>')).toBe('3');
    expect(await counted('job* <*> (took)')).toBe('2');
  });

  test.each([
    ['last 1h', '1 4 job done 100% ▅▁▁▁▁▁▁▁▁▁█▅ new job done'],
    ['all', '1 4 job done 100% job done'],
  ])('shows a trend over the current range, and none for `all`: %s', async (range, row) => {
    const cell = await bench().run(`%%time ${range}\n%patterns recent`);
    expect(table(cell).at(-1)).toMatch(row);
  });

  test('reads a named result, without novelty and times', async () => {
    await run('errs << app | where level == "error"');
    const cell = await run('%patterns errs');
    expect(table(cell).at(0)).toBe('1 template of 100 lines in message');
    expect(table(cell).at(2)).toBe('# lines template share levels example');
    expect(table(cell).at(-1)).toMatch(
      /^1 100 cannot reach "db-<\*>": timeout after <\*>s 100% error (?!.*new)/,
    );
  });

  test.each([
    ['an unknown field', '%patterns app nope', '%patterns: app has no string field nope'],
    [
      'a dataset without a text field',
      '%patterns plain',
      '%patterns: no field of plain is known to contain log lines',
    ],
    [
      'a template number that is not a number',
      '%patterns app --parse x',
      '%patterns: x is not the number of a template',
    ],
    ['an unknown template number', '%patterns app --parse 99', '%patterns: there is no template 99'],
  ])('refuses %s', async (_, line, message) => {
    expect(traceback(await run(line))[0]).toContain(message);
  });
});
