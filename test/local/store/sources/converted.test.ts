import { describe, expect, test } from 'vitest';
import { importText, stored, useService } from '../readers/traps.js';

useService();

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
      'The lines are read as spans and log records of OpenTelemetry (OTLP in JSON).',
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
});
