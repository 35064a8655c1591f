import { describe, expect, test } from 'vitest';
import { extendedLines } from '../../../../kernel/local/store/sources/converted/documents/converted-extended.js';
import { textLines } from '../../../../kernel/local/store/sources/converted/text-lines.js';
import { importText, lines, stored, testTraps, timeless, useService } from '../readers/traps.js';

useService();

const imported = '2026-06-15 12:00:00';

// ---- files converted to lines of JSON before they are read ----

/** Returns a journal field with its length before its bytes. */
function counted(name: string, bytes: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')]);
}

describe('a journal in export format', () => {
  const journal = Buffer.concat([
    Buffer.from('__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1342540861416351\n'),
    counted('MESSAGE', Buffer.from('a\n\nPRIORITY=c')),
    Buffer.from('OBJECT=1\nOBJECT=2\n\n\n__REALTIME_TIMESTAMP=1342540861421465\nMESSAGE=x = y\n'),
    counted('DATA', Buffer.from([255, 0, 10])),
    counted('EMPTY', Buffer.alloc(0)),
    Buffer.from('\n__REALTIME_TIMESTAMP=1342540861421466\nMESSAGE=Müller\n'),
  ]);

  test('has the values of journalctl -o json', async () => {
    const { dataset, body } = await importText('journal.export', journal);
    expect(body.notes).toEqual(['The lines are read as journalctl -o export entries.']);
    expect(await stored(dataset, '_time, "__CURSOR", MESSAGE, "OBJECT", "DATA", "EMPTY"')).toEqual([
      '2012-07-17 16:01:01.416351|s=1;i=2|a\n\nPRIORITY=c|["1","2"]|null|null',
      '2012-07-17 16:01:01.421465|null|x = y|null|[255,0,10]|',
      '2012-07-17 16:01:01.421466|null|Müller|null|null|null',
    ]);
  });

  test.each([
    ['within a length', journal.subarray(0, 60)],
    ['within a value', journal.subarray(0, 75)],
    ['before a value', Buffer.from('__CURSOR=s=1\nMESSAGE\n')],
    [
      'in a value that is too long',
      Buffer.from('__CURSOR=s=1\nMESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xffx', 'latin1'),
    ],
  ])('is refused if it is cut off: %s', async (_, content) => {
    const { status, body } = await importText('journal.export', content);
    expect([status, body.message]).toEqual([
      400,
      'journal.export cannot be read completely as journalctl -o export entries. It is truncated or damaged: get the complete file.',
    ]);
  });
});

const space = 'xmlns="http://schemas.microsoft.com/win/2004/08/events/event"';
const logon = `<Event ${space}><System><Provider Name="Audit" Guid="{5484}"/><EventID>4624</EventID><Level>0</Level><Keywords>0x8020</Keywords><TimeCreated SystemTime='2023-11-05T09:15:42.123456700Z'/><Correlation/><Execution ProcessID='516' ThreadID='3240'/></System><EventData><Data Name='User'>J&#252;rg &amp; <![CDATA[<Ann>]]></Data><Data Name='Port'>0080</Data><Data Name="None"/></EventData></Event>`;
const service = `<Event ${space}><System><EventID Qualifiers="16384">7036</EventID><TimeCreated SystemTime="2023-11-05T09:15:43Z"/></System><EventData><Data>Spooler</Data><Data>running</Data></EventData><UserData><a:Rule xmlns:a="x"><Id>07</Id><Level>08</Level></a:Rule></UserData></Event>`;
const head = '<?xml version="1.0" encoding="utf-16" standalone="yes"?>\r\n';

describe('Windows events in XML', () => {
  test.each([
    ['in one element', `${head}<Events>${logon}\n${service}</Events>`],
    ['one after another', `${logon}\r\n${service}\r\n`],
    [
      'in UTF-16',
      Buffer.concat([
        Buffer.from([0xff, 0xfe]),
        Buffer.from(`${head}<Events>${logon}${service}</Events>`, 'utf16le'),
      ]),
    ],
  ])('have their system fields, and their data by name: %s', async (_, content) => {
    const { dataset, body } = await importText('security.xml', content);
    expect(body.notes).toEqual(['The lines are read as Windows events in XML.']);
    const names = [
      '_time',
      'EventID',
      'Qualifiers',
      'Level',
      'Keywords',
      '"Provider.Name"',
      '"Execution.ThreadID"',
      '"EventData.User"',
      '"EventData.Port"',
      '"EventData.None"',
      '"EventData.Data"',
      '"UserData.a:Rule.Id"',
      '"UserData.a:Rule.Level"',
    ];
    expect(await stored(dataset, names.join(', '))).toEqual([
      '2023-11-05 09:15:42.1234567|4624|null|0|0x8020|Audit|3240|Jürg & <Ann>|0080||null|null|null',
      '2023-11-05 09:15:43|7036|16384|null|null|null|null|null|null|null|["Spooler","running"]|07|08',
    ]);
    const fields = body.fields as readonly { readonly name: string; readonly type: string }[];
    expect(fields.map(({ name }) => name)).not.toContain('Correlation');
    expect(fields.flatMap(({ name, type }) => (type === 'integer' ? [name] : []))).toEqual([
      ...['EventID', 'Level', 'Execution.ProcessID', 'Execution.ThreadID', 'Qualifiers'],
    ]);
  });

  test.each([
    ['cut off', `<Events>${logon}<Event><System>`],
    ['not XML', `<Events>${logon}</Event>`],
    ['using an unknown entity', `<Events>${logon.replace('&amp;', '&b;')}</Events>`],
  ])('are refused if they are %s', async (_, content) => {
    const { status, body } = await importText('security.xml', content);
    expect([status, body.message]).toEqual([
      400,
      'security.xml cannot be read completely as Windows events in XML. It is truncated or damaged: get the complete file.',
    ]);
  });
});

describe('Windows events in CSV', () => {
  test('from the Event Viewer have a message in the unnamed column', async () => {
    const rows = [
      'Level,Date and Time,Source,Event ID,Task Category',
      'Information,11/15/2023 9:15:42 AM,Service Control Manager,7036,None,"The Spooler\r\nservice, running"',
      'Error,11/15/2023 12:15:42 PM,DCOM,10016,None,x',
    ];
    const { dataset } = await importText('events.csv', `\ufeff${rows.join('\r\n')}\r\n`);
    expect(await stored(dataset, '_time, Level, Source, "Event ID", "Task Category", Message')).toEqual([
      '2023-11-15 09:15:42|Information|Service Control Manager|7036|None|The Spooler\r\nservice, running',
      '2023-11-15 12:15:42|Error|DCOM|10016|None|x',
    ]);
  });

  test('from PowerShell have their names below the type line', async () => {
    const rows =
      '#TYPE System.Diagnostics.Eventing.Reader.EventLogRecord\r\n"Message","Id","TimeCreated"\r\n"a, b","7036","11/15/2023 9:15:42 AM"\r\n';
    const { dataset, body } = await importText('events.csv', rows);
    expect(body.rows).toBe(1);
    expect(await stored(dataset, '_time, Message, Id')).toEqual(['2023-11-15 09:15:42|a, b|7036']);
  });
});

test.each([
  ['x5E', '^'],
  ['0x7C', '|'],
  ['^', '^'],
  ['\\t', '\t'],
  ['', '\t'],
  // Not a valid character.
  ['0xD800', '\t'],
])('LEEF 2.0 pairs are separated by the declared delimiter: %s', async (name, delimiter) => {
  const pairs = ['devTime=2025-10-10T13:55:37Z', 'msg=a=b c', 'src=1.2.3.4'].join(delimiter);
  const lines = `LEEF:2.0|V|P|1|ev|${name}|${pairs}\nLEEF:2.0|V|P|1|ev|${pairs.replaceAll(delimiter, '\t')}\n`;
  const { dataset } = await importText('fw.log', lines);
  expect(await stored(dataset, '_time, msg, src, line')).toEqual([
    '2025-10-10 13:55:37|a=b c|1.2.3.4|null',
    '2025-10-10 13:55:37|a=b c|1.2.3.4|null',
  ]);
});

describe('OTLP lines', () => {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
  const logs = (body: string, ...attributes: object[]) =>
    JSON.stringify({
      resourceLogs: [
        {
          resource,
          scopeLogs: [
            {
              logRecords: [
                {
                  timeUnixNano: '1760104536123456789',
                  severityNumber: 17,
                  body: { stringValue: body },
                  attributes,
                },
              ],
            },
          ],
        },
      ],
    });
  const span = {
    name: 'GET /cart',
    startTimeUnixNano: '1760104536123456789',
    endTimeUnixNano: '1760104536223456790',
  };
  const spans = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span, span] }] }] });

  test('have the same fields as when they are sent', async () => {
    const big = { key: 'big', value: { intValue: '9223372036854775807' } };
    const { dataset, body } = await importText(
      'otlp.jsonl',
      `${logs('a', big)}\n\n${logs('b')}\nx\n${spans}`,
    );
    expect(body.notes).toEqual([
      'The lines are read as OpenTelemetry spans, log records and data points (OTLP in JSON).',
      'Not JSON objects: 1 line, each imported as an event with the line in `message`.',
      'No readable timestamp in 1 line, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.',
    ]);
    expect(body.fields.find(({ name }: { name: string }) => name === 'duration').type).toBe('timespan');
    const select = '_time, severity, body, "service.name", "attributes.custom.big", name, duration, message';
    const at = '2025-10-10 13:55:36.123456789';
    expect(await stored(dataset, select)).toEqual([
      `${at}|ERROR|a|shop|9223372036854775807|null|null|null`,
      `${at}|ERROR|b|shop|null|null|null|null`,
      '2025-10-10 13:55:36.12345679|null|null|null|null|null|null|x',
      `${at}|null|null|shop|null|GET /cart|100000001|null`,
      `${at}|null|null|shop|null|GET /cart|100000001|null`,
    ]);
  });

  test('have the members of each kind of data point', async () => {
    const at = { timeUnixNano: '1760104536123456789' };
    const quantileValues = [{ quantile: 0.5, value: 1.5 }, {}];
    const positive = { offset: -1, bucketCounts: ['1', '2'] };
    const metrics = [
      { name: 'g', unit: 's', gauge: { dataPoints: [{ ...at, asInt: '9223372036854775807' }] } },
      {
        name: 's',
        description: 'd',
        sum: {
          aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA',
          isMonotonic: false,
          dataPoints: [{ ...at, startTimeUnixNano: '1760104536000000000', asInt: 0 }],
        },
      },
      {
        name: 'h',
        histogram: {
          aggregationTemporality: 2,
          dataPoints: [
            { ...at, count: '4', sum: 2.5, min: -1, max: 3, bucketCounts: ['1', '3'], explicitBounds: [0.5] },
          ],
        },
      },
      {
        name: 'e',
        exponentialHistogram: {
          dataPoints: [{ ...at, count: 3, sum: 'NaN', scale: 0, zeroCount: '7', positive, negative: {} }],
        },
      },
      {
        name: 'q',
        summary: {
          dataPoints: [{ ...at, quantileValues, attributes: [{ key: 'k', value: { stringValue: 'v' } }] }],
        },
      },
    ];
    const request = { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'c' }, metrics }] }] };
    // A document may span several lines.
    const { dataset } = await importText('otlp.json', JSON.stringify(request, null, 2));
    expect(
      await stored(
        dataset,
        `concat_ws(' ', name, description, unit, kind, temporality, "monotonic", start_time, value, count, sum, "min", "max"), concat_ws(' ', bucket_counts, explicit_bounds, quantiles, scale, zero_count, "positive.offset", "positive.bucket_counts", negative), concat_ws(' ', "service.name", "scope.name", "attributes.custom.k")`,
      ),
    ).toEqual([
      'g s gauge 9223372036854775807||shop c',
      's d sum delta false 1760104536000000000 0||shop c',
      'h histogram cumulative 4 2.5 -1 3|[1,3] [0.5]|shop c',
      'e exponential histogram 3 "NaN"|0 7 -1 [1,2] {}|shop c',
      'q summary|[{"quantile":0.5,"value":1.5},{"quantile":0,"value":0}]|shop c v',
    ]);
  });
});

describe('documents with several events', () => {
  const subscription = (...logEvents: object[]) => ({
    messageType: 'DATA_MESSAGE',
    owner: '123456789012',
    logGroup: 'g',
    logStream: 's',
    subscriptionFilters: ['f'],
    logEvents,
  });
  const answer = (resultType: string, result: object[]) => ({
    status: 'success',
    data: { resultType, result, stats: {} },
  });
  test.each([
    [
      'of CloudWatch Logs, adjacent, one without events',
      [
        subscription(
          { id: '1', timestamp: 1760104536123, message: 'a' },
          { id: '2', timestamp: 1760104536124, message: 'b' },
        ),
        subscription(),
        subscription({ id: '3', timestamp: 1760104536125, message: '{"a":1}' }),
      ]
        .map(each => JSON.stringify(each))
        .join(''),
      '_time, logGroup, logStream, id, message',
      [
        '2025-10-10 13:55:36.123|g|s|1|a',
        '2025-10-10 13:55:36.124|g|s|2|b',
        `${imported}|g|s|null|null`,
        '2025-10-10 13:55:36.125|g|s|3|{"a":1}',
      ],
    ],
    [
      'of CloudWatch Logs with the type not in front',
      JSON.stringify({
        owner: '1',
        messageType: 'CONTROL_MESSAGE',
        logGroup: '',
        logEvents: [{ timestamp: 1760104536123 }],
      }),
      '_time, messageType',
      ['2025-10-10 13:55:36.123|CONTROL_MESSAGE'],
    ],
    [
      'of Loki',
      JSON.stringify(
        answer('streams', [
          {
            stream: { app: 'a' },
            values: [
              ['1760104536123456789', 'x\ny'],
              ['1760104536123456790', 'z', { k: 'v' }],
            ],
          },
          { stream: { app: 'b' }, values: [['1760104536123456788', '']] },
        ]),
        null,
        1,
      ),
      '_time, "stream.app", line, "metadata.k"',
      [
        '2025-10-10 13:55:36.123456789|a|x\ny|null',
        '2025-10-10 13:55:36.12345679|a|z|v',
        '2025-10-10 13:55:36.123456788|b||null',
      ],
    ],
    [
      'sent to Loki',
      JSON.stringify({ streams: [{ stream: { app: 'a' }, values: [['1760104536123456789', 'x']] }] }),
      '_time, "stream.app", line',
      ['2025-10-10 13:55:36.123456789|a|x'],
    ],
    [
      'of Prometheus, over a range',
      JSON.stringify(
        answer('matrix', [
          {
            metric: { __name__: 'up', job: 'a' },
            values: [
              [1760104536.781, '1'],
              [1760104537, '0.5'],
            ],
          },
        ]),
      ),
      '_time, "metric.__name__", "metric.job", value',
      ['2025-10-10 13:55:36.781|up|a|1.0', '2025-10-10 13:55:37|up|a|0.5'],
    ],
    [
      'of Prometheus, at one timestamp',
      JSON.stringify({
        ...answer('vector', [
          { metric: {}, value: [1760104536.5, 'NaN'] },
          { metric: { a: 'b' }, value: [1760104536, '+Inf'] },
        ]),
        warnings: [],
      }),
      '_time, "metric.a", value',
      ['2025-10-10 13:55:36.5|null|NaN', '2025-10-10 13:55:36|b|+Inf'],
    ],
    [
      'without a list',
      '{"status":"success","data":{"resultType":"matrix","result":[]}}',
      '"data.resultType"',
      ['matrix'],
    ],
  ])('are split into their events: %s', async (_, content, select, values) => {
    const { dataset } = await importText('in.json', content);
    expect(await stored(dataset, select)).toEqual(values);
  });
});

test('journalctl -o verbose entries have the values of journalctl -o json', async () => {
  const journal = [
    '-- Journal begins at Fri 2025-10-10 13:00:00 UTC. --',
    'Fri 2025-10-10 13:55:36.123456 UTC [s=5f1c;i=7;b=31;m=1;t=640ce45a4a840;x=9]',
    '    PRIORITY=6',
    '    MESSAGE=a',
    '            b',
    '              c = d',
    '    _PID=31',
    '-- Boot 31 --',
    '',
    'Fri 2025-10-10 13:55:37.123456 UTC [s=5f1c;i=8;b=31;m=1;t=640ce45b3ea80;x=9]',
    '    MESSAGE=x = y',
    '    OBJECT=1',
    '    OBJECT=2',
    'Fri 2025-10-10 13:55:37.123456 UTC [s=5f1c]',
    '',
  ];
  const at = '2025-10-10 13:55:36.123456';
  for (const lineBreak of ['\n', '\r\n']) {
    const { dataset, body } = await importText('journal.txt', journal.join(lineBreak));
    expect(body.notes[0]).toBe('The lines are read as journalctl -o verbose entries.');
    expect(
      await stored(dataset, '_time, "__CURSOR", PRIORITY, "_PID", "OBJECT", message, "MESSAGE_2"'),
    ).toEqual([
      `${at}|null|null|null|null|-- Journal begins at Fri 2025-10-10 13:00:00 UTC. --|null`,
      `${at}|s=5f1c;i=7;b=31;m=1;t=640ce45a4a840;x=9|6|31|null|null|a\nb\n  c = d`,
      `${at}001|null|null|null|null|-- Boot 31 --|null`,
      '2025-10-10 13:55:37.123456|s=5f1c;i=8;b=31;m=1;t=640ce45b3ea80;x=9|null|null|["1","2"]|null|x = y',
      '2025-10-10 13:55:37.123456001|s=5f1c|null|null|null|null|null',
    ]);
  }
});

// ---- documents and metrics ----

const ofMongo = 'The lines are read as MongoDB documents (extended JSON), with plain values.';
const ofMetrics = 'The lines are read as metric samples in Prometheus or OpenMetrics text format.';

test('a MongoDB string of 32 MiB does not overflow the stack', () => {
  const text = 'x'.repeat(2 ** 25);
  const [line = ''] = extendedLines(`{"s":"${text}","n":{"$numberInt":"4"}}`);
  expect(line.length).toBe(2 ** 25 + 14);
  expect(line.slice(-10)).toBe('xx","n":4}');
});

const mongo = [
  '{"_id":{"$oid":"5f1a2b3c4d5e6f7a8b9c0d1e"},"at":"{\\"$oid\\":\\"x\\"}","createdAt":{"$date":"2025-10-10T13:55:36.123Z"},"n":{"$numberLong":"9007199254740993"},"d":{"$numberDouble":"1.5"},"p":{"$numberDecimal":"0.1234567890123456789012"}}',
  '{"_id":{"$oid":"5f1a2b3c4d5e6f7a8b9c0d1f"},"createdAt":{"$date":{"$numberLong":"1760104537123"}},"n":3,"d":{"$numberDouble":"-Infinity"},"p":1}',
  '{"_id":{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"},"createdAt":{"$date":1760104538000},"n":{"$numberInt":"4"},"d":{"$numberDecimal":"NaN"},"t":{"$timestamp":{"t":7,"i":1}}}',
];
const ofDocuments = [
  '2025-10-10 13:55:36.123|5f1a2b3c4d5e6f7a8b9c0d1e|{"$oid":"x"}|2025-10-10T13:55:36.123Z|9007199254740993|1.5|"0.1234567890123456789012"|null',
  '2025-10-10 13:55:37.123|5f1a2b3c4d5e6f7a8b9c0d1f|null|2025-10-10T13:55:37.123Z|3|-inf|1|null',
  '2025-10-10 13:55:38|3b241101-e2bb-4255-8caf-4136c566a962|null|2025-10-10T13:55:38Z|4|nan|null|7',
];

testTraps([
  ...[
    ['one per line', lines(...mongo, '')],
    ['in an array', `[${mongo.join(',\n')}]\n`],
    ['on several lines', mongo.map(each => JSON.stringify(JSON.parse(each), null, 2)).join('\n')],
  ].map(([what, content = '']) => ({
    what: `MongoDB documents, ${what}`,
    name: 'carts.json',
    content,
    select: '_time, "_id", "at", createdAt, n, d, p, "t.$timestamp.t"',
    values: ofDocuments,
    notes: [ofMongo],
  })),
  {
    what: 'MongoDB documents stay unchanged if JSON is requested',
    name: 'carts.json',
    content: lines(...mongo.slice(0, 1), ''),
    options: { format: 'json' },
    select: '"_id.$oid", "n.$numberLong"',
    values: ['5f1a2b3c4d5e6f7a8b9c0d1e|9007199254740993'],
  },
  {
    what: 'a year beyond four digits stays a number, and a text line between documents is an event',
    name: 'carts.json',
    content: lines(
      '{"_id":1,"at":{"$date":{"$numberLong":"-99999999999999"}}}',
      'text',
      '{"_id":2,"at":{"$date":{"$numberLong":"-62135596800000"}}}',
      '',
    ),
    select: '"_id", "at", message',
    values: [
      '1|{"$date":{"$numberLong":"-99999999999999"}}|null',
      'null|null|text',
      '2|"0001-01-01T00:00:00Z"|null',
    ],
  },
  {
    what: 'lines between bulk documents belong to the document below, or are rows without one',
    name: 'packets.json',
    content: lines(
      '{"index":{"_index":"p","_id":"1"}}',
      '{"timestamp":"1760104536123","n":1}',
      '{"index":{}}',
      '{ "timestamp":"1760104537123","n":2}',
      '{"delete":{"_index":"p","_id":"1"}}',
      '{"create":{"_index":"q"}}',
      'text',
      '',
      '{"index":{"_index":"r"}}',
      '',
    ),
    select: 'n, "_index", "_id", "delete._id", "create._index", "index._index", message',
    values: [
      '1|p|1|null|null|null|null',
      '2|null|null|null|null|null|null',
      'null|null|null|1|null|null|null',
      'null|null|null|null|q|null|null',
      'null|null|null|null|null|null|text',
      'null|null|null|null|null|r|null',
    ],
  },
  {
    what: 'metric samples have their labels, and the type, unit and help of their family',
    name: 'metrics',
    content: lines(
      '# HELP requests_total All requests,\\n of \\\\.',
      '# TYPE requests_total counter',
      'requests_total{method="post",path="C:\\\\A \\"B\\"\\n"} 1.027e3 1760104536123',
      '# a comment',
      'requests_total 3',
      '# TYPE wait_seconds histogram',
      '# UNIT wait_seconds seconds',
      'wait_seconds_bucket{le="+Inf",} 17 1760104537.5 # {trace_id="a b",} 0.67 1760104536.5',
      '{"wait_seconds_sum",k="v"} -Inf',
      'other NaN',
      'not a sample at all',
      '# EOF',
      '',
    ),
    select:
      'value, concat_ws(\' \', "metric.__name__", "metric.method", "metric.path", "metric.le", "metric.k"), concat_ws(\' \', type, unit, help), concat_ws(\' \', "exemplar.value", "exemplar.timestamp", "exemplar.labels.trace_id"), message',
    values: [
      '1027.0|requests_total post C:\\A "B"\n|counter All requests,\n of \\.||null',
      '3.0|requests_total|counter All requests,\n of \\.||null',
      '17.0|wait_seconds_bucket +Inf|histogram seconds|0.67 1760104536.5 a b|null',
      '-inf|wait_seconds_sum v|histogram seconds||null',
      'nan|other|||null',
      'null||||not a sample at all',
    ],
  },
  {
    what: 'metrics without times get the time of the import, with a note',
    name: 'metrics.prom',
    content: lines('# TYPE up gauge', '# one', '# two', '# three', '# four', 'up 1', ''),
    select: '_time, value',
    values: [`${imported}|1`],
    notes: [ofMetrics, 'Skipped 4 lines that are not rows: "# one", "# two", "# three", ….', timeless()],
  },
]);

test.each([1, 2, 5, 100])('lines end only at a line feed, in chunks of %d bytes', async size => {
  const bytes = Buffer.from('{"a":"x\u2028y"}\r\n\nb\rc\u2029\nü\r');
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }
  const found: string[] = [];
  for await (const line of textLines(chunks())) found.push(line);
  expect(found).toEqual(['{"a":"x\u2028y"}', '', 'b\rc\u2029', 'ü']);
});
