import { describe, expect, test } from 'vitest';
import { importText, stored, useService } from '../readers/traps.js';

useService();

const imported = '2026-06-15 12:00:00';

// ---- files that become lines of JSON before they are read ----

/** A field of a journal with its length in front of its bytes. */
function counted(name: string, bytes: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')]);
}

describe('a journal in its export format', () => {
  const journal = Buffer.concat([
    Buffer.from('__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1342540861416351\n'),
    counted('MESSAGE', Buffer.from('a\n\nPRIORITY=c')),
    Buffer.from('OBJECT=1\nOBJECT=2\n\n\n__REALTIME_TIMESTAMP=1342540861421465\nMESSAGE=x = y\n'),
    counted('DATA', Buffer.from([255, 0, 10])),
    counted('EMPTY', Buffer.alloc(0)),
    Buffer.from('\n__REALTIME_TIMESTAMP=1342540861421466\nMESSAGE=Müller\n'),
  ]);

  test('has the values that journalctl -o json has', async () => {
    const { dataset, body } = await importText('journal.export', journal);
    expect(body.notes).toEqual(['The lines are read as entries of journalctl -o export.']);
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
      'a value that is too long',
      Buffer.from('__CURSOR=s=1\nMESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xffx', 'latin1'),
    ],
  ])('is refused if it is cut off: %s', async (_, content) => {
    const { status, body } = await importText('journal.export', content);
    expect([status, body.message]).toEqual([
      400,
      'journal.export cannot be read to its end as entries of journalctl -o export. It is cut off or damaged: get the whole file.',
    ]);
  });
});

const space = 'xmlns="http://schemas.microsoft.com/win/2004/08/events/event"';
const logon = `<Event ${space}><System><Provider Name="Audit" Guid="{5484}"/><EventID>4624</EventID><Level>0</Level><Keywords>0x8020</Keywords><TimeCreated SystemTime='2023-11-05T09:15:42.123456700Z'/><Correlation/><Execution ProcessID='516' ThreadID='3240'/></System><EventData><Data Name='User'>J&#252;rg &amp; <![CDATA[<Ann>]]></Data><Data Name='Port'>0080</Data><Data Name="None"/></EventData></Event>`;
const service = `<Event ${space}><System><EventID Qualifiers="16384">7036</EventID><TimeCreated SystemTime="2023-11-05T09:15:43Z"/></System><EventData><Data>Spooler</Data><Data>running</Data></EventData><UserData><a:Rule xmlns:a="x"><Id>07</Id></a:Rule></UserData></Event>`;
const head = '<?xml version="1.0" encoding="utf-16" standalone="yes"?>\r\n';

describe('events of Windows in XML', () => {
  test.each([
    ['in one element', `${head}<Events>${logon}\n${service}</Events>`],
    ['behind each other', `${logon}\r\n${service}\r\n`],
    [
      'in UTF-16',
      Buffer.concat([
        Buffer.from([0xff, 0xfe]),
        Buffer.from(`${head}<Events>${logon}${service}</Events>`, 'utf16le'),
      ]),
    ],
  ])('have the fields of their system, and their data by name: %s', async (_, content) => {
    const { dataset, body } = await importText('security.xml', content);
    expect(body.notes).toEqual(['The lines are read as events of Windows in XML.']);
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
    ];
    expect(await stored(dataset, names.join(', '))).toEqual([
      '2023-11-05 09:15:42.1234567|4624|null|0|0x8020|Audit|3240|Jürg & <Ann>|0080||null|null',
      '2023-11-05 09:15:43|7036|16384|null|null|null|null|null|null|null|["Spooler","running"]|07',
    ]);
    expect(body.fields.map(({ name }: { name: string }) => name)).not.toContain('Correlation');
  });

  test.each([
    ['cut off', `<Events>${logon}<Event><System>`],
    ['no XML', `<Events>${logon}</Event>`],
    ['an entity that is not known', `<Events>${logon.replace('&amp;', '&b;')}</Events>`],
  ])('are refused if they are %s', async (_, content) => {
    const { status, body } = await importText('security.xml', content);
    expect([status, body.message]).toEqual([
      400,
      'security.xml cannot be read to its end as events of Windows in XML. It is cut off or damaged: get the whole file.',
    ]);
  });
});

describe('events of Windows in CSV', () => {
  test('as the Event Viewer saves them have a message, which no name stands above', async () => {
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

  test('as PowerShell writes them have the names below their type', async () => {
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
  // No character has this number.
  ['0xD800', '\t'],
])('pairs of LEEF 2.0 are divided by what stands in front of them: %s', async (name, delimiter) => {
  const pairs = ['devTime=2025-10-10T13:55:37Z', 'msg=a=b c', 'src=1.2.3.4'].join(delimiter);
  const lines = `LEEF:2.0|V|P|1|ev|${name}|${pairs}\nLEEF:2.0|V|P|1|ev|${pairs.replaceAll(delimiter, '\t')}\n`;
  const { dataset } = await importText('fw.log', lines);
  expect(await stored(dataset, '_time, msg, src, line')).toEqual([
    '2025-10-10 13:55:37|a=b c|1.2.3.4|null',
    '2025-10-10 13:55:37|a=b c|1.2.3.4|null',
  ]);
});

describe('lines of OTLP', () => {
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

  test('have the fields that they have when they are sent', async () => {
    const big = { key: 'big', value: { intValue: '9223372036854775807' } };
    const { dataset, body } = await importText(
      'otlp.jsonl',
      `${logs('a', big)}\n\n${logs('b')}\nx\n${spans}`,
    );
    expect(body.notes).toEqual([
      'The lines are read as spans, log records and data points of OpenTelemetry (OTLP in JSON).',
      'Not JSON objects: 1 line, each an event with its text in `message`.',
      'No readable time in 1 line, as in a stack trace: each has that of the line before and a nanosecond more.',
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
    // A document of several lines is one.
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
      'of CloudWatch Logs, behind each other, one without an event',
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
      'of CloudWatch Logs, whose type is not in front',
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
      'that are sent to Loki',
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
      'of Prometheus, at one time',
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
      'that hold no list',
      '{"status":"success","data":{"resultType":"matrix","result":[]}}',
      '"data.resultType"',
      ['matrix'],
    ],
  ])('are an event each: %s', async (_, content, select, values) => {
    const { dataset } = await importText('in.json', content);
    expect(await stored(dataset, select)).toEqual(values);
  });
});

test('entries of journalctl -o verbose have the values that journalctl -o json has', async () => {
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
    expect(body.notes[0]).toBe('The lines are read as entries of journalctl -o verbose.');
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
