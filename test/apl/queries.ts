import fc from 'fast-check';

/** Words, names, literals and symbols of the language, to combine at random. */
const vocabulary = [
  ...['where', 'extend', 'project', 'summarize', 'by', 'sort', 'limit', 'join', 'on', 'union', 'let', 'set'],
  ...[
    'parse',
    'with',
    'make-series',
    'step',
    'mv-expand',
    'search',
    'datatable',
    'print',
    'range',
    'from',
    'to',
  ],
  ...['declare query_parameters', 'dynamic', 'datetime', 'timespan', 'typeof', 'in', '!in', 'in~', 'between'],
  ...[
    'has_any',
    'contains',
    'matches regex',
    'and',
    'or',
    'not',
    'null',
    'true',
    'asc',
    'nulls first',
    'kind=inner',
  ],
  ...['T', '_time', 'a.b', "['a b']", '$left', 'count()', 'bin(', 'iff(', '%time', 'externaldata', 'redact'],
  ...[
    '1',
    '0x1f',
    '1.5e3',
    '5m',
    '1.5h',
    "'text'",
    '"text',
    "'",
    '@"x"',
    '```',
    '``` x ```',
    '// note',
    '“x”',
  ],
  ...[
    '|',
    '||',
    ';',
    ',',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '.',
    '..',
    '=',
    '==',
    '!=',
    '=~',
    '!~',
    '<',
    '<=',
    '<<',
  ],
  ...[
    '+',
    '-',
    '*',
    '/',
    '%',
    ':',
    '?',
    '!',
    '&&',
    '&',
    '#',
    '\n',
    '\n\n',
    '\t',
    '\r\n',
    '\0',
    '\u2028',
    '😀',
    'ключ',
  ],
];

/** Words of the language in random order. */
export const tokenSoup = fc
  .array(fc.constantFrom(...vocabulary), { maxLength: 40 })
  .map(words => words.join(' '));

const field = fc.constantFrom('b', 'l', 'r', 's', 't', 'd', 'j', '_time', "['odd name']", 'geo.city');
const string = fc.constantFrom(
  "''",
  "'x'",
  "'12'",
  "'a b'",
  "'(['",
  "'%'",
  "'2026-01-02'",
  `"it's"`,
  "'1h'",
  "'null'",
);
const literal = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '2',
    '100',
    '9223372036854775807',
    '-9223372036854775808',
    '0.0',
    '0.5',
    '-1.5',
    '1e308',
  ),
  fc.constantFrom(
    'true',
    'false',
    'null',
    '0s',
    '1ns',
    '5m',
    '1d',
    '106751d',
    'datetime(2026-01-02)',
    'datetime(1677-09-22)',
  ),
  fc.constantFrom(
    'dynamic([1,"x",null])',
    'dynamic({"a":{"b":2}})',
    'dynamic(null)',
    'int(null)',
    'now()',
    'ago(1h)',
  ),
  string,
);
const comparison = fc.constantFrom('==', '!=', '<', '<=', '>', '>=', '=~', '!~');
const textOperator = fc.constantFrom(
  'contains',
  '!contains_cs',
  'startswith',
  'endswith',
  'has',
  '!has_cs',
  'hasprefix',
  'hassuffix',
  'matches regex',
);
const arithmetic = fc.constantFrom('+', '-', '*', '/', '%');
const oneArgument = fc.constantFrom(
  ...[
    'strlen',
    'tolower',
    'toint',
    'todouble',
    'tostring',
    'tobool',
    'todatetime',
    'totimespan',
    'isnull',
    'isempty',
    'abs',
    'sqrt',
  ],
  ...[
    'log',
    'floor',
    'round',
    'parse_json',
    'array_length',
    'bag_keys',
    'gettype',
    'startofday',
    'hourofday',
    'dayofweek',
    'reverse',
    'hash',
  ],
);

const grammar = fc.letrec<{ expression: string; condition: string }>(tie => ({
  expression: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    field,
    literal,
    fc.tuple(tie('expression'), arithmetic, tie('expression')).map(parts => `(${parts.join(' ')})`),
    fc.tuple(oneArgument, tie('expression')).map(([name, value]) => `${name}(${value})`),
    fc.tuple(tie('condition'), tie('expression'), tie('expression')).map(parts => `iff(${parts.join(', ')})`),
    fc.tuple(tie('expression'), tie('expression')).map(parts => `coalesce(${parts.join(', ')})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('1', '0.5', '5m', '1d', '0'))
      .map(parts => `bin(${parts.join(', ')})`),
    fc.tuple(field, fc.constantFrom('.a', "['a']", '[0]', '[-1]', '.a.b')).map(parts => parts.join('')),
    fc.tuple(tie('expression'), tie('expression')).map(parts => `strcat(${parts.join(', ')})`),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'))
      .map(parts => `substring(${parts.join(', ')})`),
    fc.tuple(tie('expression'), tie('expression')).map(parts => `dynamic([${parts.join(', ')}])`),
  ),
  condition: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.tuple(tie('expression'), comparison, tie('expression')).map(parts => parts.join(' ')),
    fc.tuple(tie('expression'), textOperator, string).map(parts => parts.join(' ')),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('in', '!in', 'in~', 'has_any', 'has_all'),
        fc.array(literal, { maxLength: 3 }),
      )
      .map(([value, operator, items]) => `${value} ${operator} (${items.join(', ')})`),
    fc
      .tuple(tie('expression'), literal, literal)
      .map(([value, low, high]) => `${value} between (${low} .. ${high})`),
    fc
      .tuple(tie('condition'), fc.constantFrom('and', 'or'), tie('condition'))
      .map(parts => `(${parts.join(' ')})`),
    tie('condition').map(condition => `not(${condition})`),
    fc.constantFrom('b', "* has 'x'", 'true', 'isnotnull(l)'),
  ),
}));

export const expression = grammar.expression;
export const condition = grammar.condition;

const aggregate = fc.oneof(
  fc.constantFrom(
    'count()',
    'topk(s, 2)',
    'percentile(r, 50)',
    'percentiles_array(l, 5, 95)',
    'histogram(r, 3)',
    'make_list(j)',
  ),
  fc
    .tuple(
      fc.constantFrom(
        'sum',
        'avg',
        'min',
        'max',
        'dcount',
        'stdev',
        'variance',
        'make_set',
        'make_list',
        'rate',
      ),
      expression,
    )
    .map(([name, value]) => `${name}(${value})`),
  fc
    .tuple(fc.constantFrom('sumif', 'avgif', 'minif', 'maxif', 'dcountif'), expression, condition)
    .map(([name, ...args]) => `${name}(${args.join(', ')})`),
  condition.map(test => `countif(${test})`),
  fc
    .tuple(fc.constantFrom('arg_max', 'arg_min'), expression, fc.constantFrom('*', 's', 'j, d'))
    .map(([name, ...args]) => `${name}(${args.join(', ')})`),
);
const keys = fc.oneof(
  fc.constant(''),
  fc
    .array(
      fc.oneof(
        field,
        fc.constantFrom('bin(_time, 1h)', 'bin(l, 2)', 'bin_auto(_time)', 'bin(r, 0.5)', 'k = strlen(s)'),
        expression,
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map(list => ` by ${list.join(', ')}`),
);
const count = fc.constantFrom('0', '1', '3', '1000000', '9223372036854775807');
const option = (...values: string[]): fc.Arbitrary<string> => fc.constantFrom(...values);

/** A single operator, which usually compiles. */
const operator = fc.oneof(
  condition.map(test => `where ${test}`),
  fc
    .array(expression, { minLength: 1, maxLength: 3 })
    .map(list => `extend ${list.map((value, index) => `x${index} = ${value}`).join(', ')}`),
  fc
    .array(fc.oneof(field, expression), { minLength: 1, maxLength: 3 })
    .map(list => `project ${list.join(', ')}`),
  fc
    .tuple(fc.array(aggregate, { maxLength: 3 }), keys)
    .map(([list, by]) => `summarize ${list.join(', ')}${by}`),
  fc
    .tuple(
      fc.array(fc.oneof(field, expression), { minLength: 1, maxLength: 2 }),
      option('', ' asc', ' desc', ' asc nulls last'),
    )
    .map(([list, direction]) => `sort by ${list.map(key => key + direction).join(', ')}`),
  count.map(n => `limit ${n}`),
  fc.tuple(count, expression).map(([n, key]) => `top ${n} by ${key}`),
  fc.tuple(field, field).map(([a, b]) => `project-away ${a}, ${b}`),
  option(
    'count',
    'getschema',
    'distinct *',
    'distinct s',
    'distinct j, r',
    'project-keep *',
    'project-away *',
    'project-reorder t, *',
    'project-rename z = l',
    'sample 0.5',
    'project-keep l, _time, s',
  ),
  fc
    .tuple(
      option(
        'inner',
        'innerunique',
        'leftouter',
        'rightouter',
        'fullouter',
        'leftsemi',
        'leftanti',
        'rightanti',
      ),
      field,
    )
    .map(([kind, key]) => `join kind=${kind} (T) on ${key}`),
  field.map(key => `lookup (T | project s, l, extra = r) on ${key}`),
  option(
    'union T',
    'union (T | extend l = s)',
    'union withsource=w T, (T | project j = l)',
    "search 'x'",
    "search s:'x*' or l > 1",
  ),
  fc
    .tuple(aggregate, option('_time', 't', 'l'), option('1h', '10m', '1', '0s'))
    .map(([call, axis, step]) => `make-series ${call} on ${axis} step ${step} by b`),
  fc
    .tuple(
      option('', 'kind=array '),
      field,
      option('', ' to typeof(long)', ' to typeof(datetime)', ' limit 2'),
    )
    .map(([kind, name, rest]) => `mv-expand ${kind}${name}${rest}`),
  fc
    .tuple(field, option("'a' x:long", "* 'x' rest", "x:datetime ' ' y:dynamic"))
    .map(([name, pattern]) => `parse ${name} with ${pattern}`),
  field.map(name => `parse-kv ${name} as (a:long, b, c:timespan)`),
  option("redact '[0-9]' on s", "redact 'x'", 'extend-valid v = s, w = l, y = j, z = r'),
);

/** A table with a column of each type, with nulls and the extremes of each range. */
export const everyType = `let T = datatable(b:bool, l:long, r:real, s:string, t:datetime, d:timespan, j:dynamic, _time:datetime, ['odd name']:long, ['geo.city']:string)[
  true, 1, 1.5, 'x', datetime(2026-01-02T03:04:05.123456789Z), 1500ms, dynamic({"a":{"b":1}}), datetime(2026-03-04T05:00:00Z), 1, 'Berlin',
  false, -7, -0.25, '', datetime(1970-01-01), 0s, dynamic([1,"b",null]), datetime(2026-03-04T04:30:00Z), 2, 'x',
  true, 9223372036854775807, 1e308, '12 a=1', datetime(2262-04-11), 106751d, dynamic("text"), datetime(2026-03-04T04:40:00Z), 3, null,
  null, -9223372036854775808, 0.0, '2026-01-02', datetime(1677-09-22), -106751d, 12, datetime(2026-03-04T04:50:00Z), null, '(',
  null, null, null, null, null, null, null, null, null, null];
`;

/** Pipelines over {@link everyType}. */
export const pipeline = fc
  .array(operator, { minLength: 1, maxLength: 4 })
  .map(stages => `${everyType}T\n| ${stages.join('\n| ')}`);

/** A pipeline with a few characters removed, doubled or inserted. */
export const mutated = fc
  .tuple(
    pipeline,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('', ...vocabulary), fc.nat({ max: 5 })), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([text, changes]) =>
    changes.reduce((before, [place, insert, cut]) => {
      const at = place % (before.length + 1);
      return before.slice(0, at) + insert + before.slice(at + cut);
    }, text),
  );
