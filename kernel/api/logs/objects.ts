import type { LogFormat } from './log-format.js';

const json = { kind: 'json' } as const;

/** Returns a pattern for the beginning of a Prometheus or Loki response with a result of this type. */
function answer(type: string): string {
  return `"status"\\s*:\\s*"success"\\s*,\\s*(?:"\\w+"\\s*:\\s*\\w+\\s*,\\s*)*"data"\\s*:\\s*\\{\\s*"resultType"\\s*:\\s*"${type}"\\s*,`;
}

/** Returns a pattern for JSON that begins with one of these brackets and has all of these members, in any order. */
function withMembers(brackets: string, members: readonly (readonly [name: string, value: string])[]): string {
  const ahead = members.map(([name, value]) => `(?=[\\s\\S]*"${name}"\\s*:\\s*${value})`);
  return `^${ahead.join('')}\\s*${brackets}`;
}

const jaegerSpan = withMembers('[[{]', [
  ['traceID', '"[\\da-fA-F]{1,32}"'],
  ['spanID', '"[\\da-fA-F]{1,16}"'],
  ['operationName', '"'],
  ['startTime', '\\d'],
]);

const zipkinSpan = withMembers(
  '(?:\\[\\s*){0,2}\\{\\s*"(?:traceId|parentId|id|name|kind|timestamp|duration|localEndpoint)"',
  [
    ['traceId', '"[\\da-fA-F]{16,32}"'],
    ['id', '"[\\da-fA-F]{16}"'],
    ['localEndpoint', '\\{'],
  ],
);

/** Members of an object before the one that matters: strings, numbers, words and flat objects. */
const flatMembers =
  '(?:"[^"]*"\\s*:\\s*(?:"(?:[^"\\\\]|\\\\.)*"|[^\\s"[\\]{},]+|\\{[^{}[\\]]*\\})\\s*,\\s*)*';

/** Names of columns, in the document or in a list of tables or series, and lists of values. */
const namedColumns = `\\s*(?:\\[\\s*)?\\{\\s*${flatMembers}(?:"(?:[Tt]ables|results|series)"\\s*:\\s*\\[\\s*\\{\\s*${flatMembers}){0,2}"[Cc]olumns"\\s*:\\s*\\[\\s*(?:\\{\\s*"(?:name|ColumnName)"|"(?:[^"\\\\]|\\\\.)*"\\s*[,\\]])(?=[\\s\\S]*"(?:[Rr]ows|values|data)"\\s*:\\s*\\[\\s*\\[)`;

/** An answer of Axiom, with a list of values for each column. */
const tabular =
  '(?=[\\s\\S]*"fields"\\s*:\\s*\\[\\s*\\{\\s*"name")(?=[\\s\\S]*"columns"\\s*:\\s*\\[\\s*\\[)\\s*\\{\\s*"format"\\s*:\\s*"tabular"';

/** JSON formats, read like any JSON file. */
export const objects: readonly LogFormat[] = [
  {
    name: 'docker',
    label: 'container lines in JSON (Docker)',
    example: ['{"log":"cart is ready\\n","stream":"stdout","time":"2025-10-10T13:55:36.123456789Z"}'],
    reading: json,
  },
  {
    name: 'mongodb',
    label: 'MongoDB log lines',
    example: [
      '{"t":{"$date":"2025-10-10T13:55:36.123+00:00"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"Connection accepted","attr":{"remote":"10.1.2.3:50112"}}',
    ],
    reading: json,
  },
  {
    name: 'journald',
    label: 'journalctl -o json lines',
    example: [
      '{"__REALTIME_TIMESTAMP":"1760104536123456","_HOSTNAME":"edge","PRIORITY":"6","_PID":"31","SYSLOG_IDENTIFIER":"sshd","MESSAGE":"Accepted publickey for ann"}',
    ],
    reading: json,
  },
  {
    name: 'journald-export',
    label: 'journalctl -o export entries',
    example: [
      '__REALTIME_TIMESTAMP=1760104536123456',
      '_HOSTNAME=edge',
      'PRIORITY=6',
      '_PID=31',
      'SYSLOG_IDENTIFIER=sshd',
      'MESSAGE=Accepted publickey for ann',
    ],
    reading: {
      kind: 'converted',
      begins: '^__(?:CURSOR|REALTIME_TIMESTAMP|MONOTONIC_TIMESTAMP)=[^\\n]*\\n[A-Z_]',
      as: 'journal',
    },
  },
  {
    name: 'journald-verbose',
    label: 'journalctl -o verbose entries',
    example: [
      'Fri 2025-10-10 13:55:36.123456 UTC [s=5f1c;i=7;b=31;m=1;t=640ce45a4a840;x=9]',
      '    _HOSTNAME=edge',
      '    PRIORITY=6',
      '    _PID=31',
      '    SYSLOG_IDENTIFIER=sshd',
      '    MESSAGE=Accepted publickey for ann',
    ],
    reading: {
      kind: 'converted',
      begins:
        '^(?:-- [^\\n]*\\n)*[A-Z][a-z]{2} \\d{4}-\\d{2}-\\d{2} [^\\n\\[]*\\[s=[^\\n\\]]+\\]\\r?\\n {4}[A-Z_]+=',
      as: 'journalVerbose',
    },
  },
  {
    name: 'otlp',
    label: 'OpenTelemetry spans, log records and data points (OTLP in JSON)',
    durations: ['duration'],
    example: [
      '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1760104536123456789","severityText":"ERROR","body":{"stringValue":"cart is lost"},"attributes":[{"key":"cart","value":{"intValue":"7"}}]}]}]}]}',
      '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","spanId":"051581bf3cb55c13","name":"GET /cart","kind":2,"startTimeUnixNano":"1760104536123456789","endTimeUnixNano":"1760104536223456789"}]}]}]}',
      '{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeMetrics":[{"metrics":[{"name":"carts","unit":"1","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"startTimeUnixNano":"1760104536000000000","timeUnixNano":"1760104538123456789","asInt":"7"}]}},{"name":"load","gauge":{"dataPoints":[{"timeUnixNano":"1760104538123456789","asDouble":0.5}]}}]}]}]}',
    ],
    reading: {
      kind: 'converted',
      // https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/, and responses of Tempo and Jaeger.
      begins:
        '^\\s*(?:\\[\\s*)?\\{\\s*(?:"(?:result|trace)"\\s*:\\s*\\{\\s*)?"(?:resource(?:Logs|Spans|Metrics)"\\s*:\\s*\\[|batches"\\s*:\\s*\\[\\s*\\{\\s*"(?:resource|scopeSpans|instrumentationLibrarySpans)"\\s*:)',
      as: 'otlp',
    },
  },
  {
    name: 'jaeger',
    label: 'Jaeger spans, without flags and response totals',
    durations: ['duration'],
    example: [
      '{"data":[{"traceID":"5b8aa5a2d2c872e8321cf37308d69df2","spans":[{"traceID":"5b8aa5a2d2c872e8321cf37308d69df2","spanID":"051581bf3cb55c13","operationName":"GET /cart","references":[{"refType":"CHILD_OF","traceID":"5b8aa5a2d2c872e8321cf37308d69df2","spanID":"5fb397be34d26b51"}],"startTime":1760104536123456,"duration":100000,"tags":[{"key":"span.kind","type":"string","value":"server"},{"key":"http.status_code","type":"int64","value":500},{"key":"error","type":"bool","value":true}],"logs":[{"timestamp":1760104536123500,"fields":[{"key":"event","type":"string","value":"cart is lost"}]}],"processID":"p1","warnings":null}],"processes":{"p1":{"serviceName":"shop","tags":[{"key":"host.name","type":"string","value":"web-1"}]}}}],"total":0,"limit":0,"offset":0,"errors":null}',
    ],
    reading: {
      kind: 'converted',
      begins: jaegerSpan,
      as: 'jaeger',
    },
  },
  {
    name: 'zipkin',
    label: 'Zipkin spans',
    durations: ['duration'],
    example: [
      '[{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","parentId":"5fb397be34d26b51","id":"051581bf3cb55c13","kind":"SERVER","name":"get /cart","timestamp":1760104536123456,"duration":100000,"localEndpoint":{"serviceName":"shop","ipv4":"10.1.2.3","port":80},"annotations":[{"timestamp":1760104536123500,"value":"cart is lost"}],"tags":{"http.status_code":"500","error":"no such cart"}}]',
    ],
    reading: {
      kind: 'converted',
      begins: zipkinSpan,
      as: 'zipkin',
    },
  },
  {
    name: 'cloudwatch',
    label: 'CloudWatch Logs subscription events',
    example: [
      '{"messageType":"DATA_MESSAGE","owner":"123456789012","logGroup":"/shop","logStream":"web-1","subscriptionFilters":["all"],"logEvents":[{"id":"3950","timestamp":1760104536123,"message":"cart is ready"},{"id":"3951","timestamp":1760104537123,"message":"cart 7 is lost"}]}',
    ],
    reading: {
      kind: 'converted',
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html
      begins:
        '^\\s*\\{(?=[^{}]*"messageType"\\s*:\\s*"(?:DATA|CONTROL)_MESSAGE")[^{}]*"logEvents"\\s*:\\s*\\[',
      as: 'cloudwatch',
    },
  },
  {
    name: 'loki',
    label: 'Loki stream entries, without the response statistics',
    example: [
      '{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"shop"},"values":[["1760104536123456789","cart is ready"],["1760104537123456789","cart 7 is lost"]]}],"stats":{}}}',
    ],
    reading: {
      kind: 'converted',
      // https://grafana.com/docs/loki/latest/reference/loki-http-api/
      begins: `^\\s*\\{\\s*(?:${answer('streams')}|"streams"\\s*:\\s*\\[\\s*\\{\\s*"stream"\\s*:)`,
      as: 'loki',
    },
  },
  {
    name: 'prometheus',
    label: 'samples from a Prometheus response',
    example: [
      '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"shop"},"values":[[1760104536.123,"1"],[1760104537.123,"0.5"]]}]}}',
    ],
    reading: {
      kind: 'converted',
      // https://prometheus.io/docs/prometheus/latest/querying/api/
      begins: `^\\s*\\{\\s*${answer('(?:matrix|vector)')}`,
      as: 'prometheus',
    },
  },
  {
    name: 'columns',
    label: 'table rows in JSON, without the members beside columns and rows',
    example: [
      '{"tables":[{"name":"PrimaryResult","columns":[{"name":"TimeGenerated","type":"datetime"},{"name":"Note","type":"string"},{"name":"Count","type":"long"}],"rows":[["2025-10-10T13:55:36.1234567Z","cart is ready",7],["2025-10-10T13:55:37.1234567Z","cart 7 is lost",8]]}]}',
    ],
    reading: {
      kind: 'converted',
      // Azure Log Analytics, Kusto, ES|QL, InfluxDB and Trino; Axiom; CloudWatch Logs Insights.
      begins: `^(?:${namedColumns}|\\s*\\[\\s*\\{\\s*"FrameType"\\s*:|${tabular}|\\s*\\{\\s*"results"\\s*:\\s*\\[\\s*\\[\\s*\\{\\s*"field"\\s*:)`,
      as: 'columns',
    },
  },
  {
    name: 'metrics',
    label: 'metric samples in Prometheus or OpenMetrics text format',
    example: [
      '# HELP cart_seconds The time that a cart took.',
      '# TYPE cart_seconds histogram',
      'cart_seconds_bucket{shop="a",le="0.5"} 7 1760104536123',
      'cart_seconds_bucket{shop="a",le="+Inf"} 8 1760104536123 # {trace_id="5b8a"} 0.7',
      'cart_seconds_sum{shop="a"} 2.5 1760104536123',
    ],
    reading: {
      kind: 'converted',
      // https://prometheus.io/docs/instrumenting/exposition_formats/
      begins:
        '^\\s*(?:#[^\\n]*\\n\\s*)*?#\\s*TYPE\\s+\\S+\\s+(?:counter|gauge|histogram|gaugehistogram|summary|untyped|unknown|info|stateset)\\s',
      as: 'metrics',
    },
  },
  {
    name: 'bulk',
    label: 'Elasticsearch bulk documents, each with the properties of the line above it',
    example: [
      '{"index":{"_index":"packets-2025-10-10","_type":"doc"}}',
      '{"timestamp":"1760104536123","layers":{"ip_src":["10.1.2.3"]},"note":"cart is ready"}',
    ],
    reading: {
      kind: 'converted',
      // https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk
      begins: '^\\s*\\{\\s*"(?:index|create|update)"\\s*:\\s*\\{[^{}\\n]*\\}\\s*\\}[ \\t]*\\r?\\n\\s*\\{',
      as: 'bulk',
    },
  },
  {
    name: 'fluent',
    label: 'Fluentd or Fluent Bit records, with time and tag',
    example: [
      '2025-10-10T13:55:36+00:00\tapp.web\t{"log":"cart is ready","status":200}',
      'app.web: [1760104537.123456789, {"log":"cart 7 is lost"}]',
      '[0] app.web: [[1760104538.123456789, {}], {"log"=>"cart 8 is lost"}]',
    ],
    reading: {
      kind: 'converted',
      // https://docs.fluentbit.io/manual/pipeline/outputs/file
      begins:
        '^\\s*(?:\\d{4}-\\d{2}-\\d{2}T[^\\s]+\\t[^\\t\\n]+\\t\\{[^\\n]*\\}\\s*(?:\\n|$)|(?:(?:\\[\\d+\\] )?\\S+: )?\\[\\[?\\d{9,10}\\.\\d{1,9}(?:, \\{[^\\n]*\\}\\])?, \\{)',
      as: 'fluent',
    },
  },
  {
    name: 'mongoexport',
    label: 'MongoDB documents (extended JSON), with plain values',
    example: [
      '{"_id":{"$oid":"68e90f48a1b2c3d4e5f60718"},"createdAt":{"$date":"2025-10-10T13:55:36.123Z"},"user":"ann","items":{"$numberLong":"7"}}',
      '{"_id":{"$oid":"68e90f49a1b2c3d4e5f60719"},"createdAt":{"$date":{"$numberLong":"1760104537123"}},"user":"ann","items":8}',
    ],
    reading: {
      kind: 'converted',
      // In a line of MongoDB's log, the first member is its timestamp.
      begins:
        '^\\s*(?:\\[\\s*)?\\{(?!\\s*"t"\\s*:\\s*\\{\\s*"\\$date")[\\s\\S]*?\\{\\s*"\\$(?:oid|date|numberInt|numberLong|numberDouble|numberDecimal)"\\s*:',
      as: 'extended',
    },
  },
  {
    name: 'windows-xml',
    label: 'Windows events in XML',
    example: [
      '<Events><Event xmlns="http://schemas.microsoft.com/win/2004/08/events/event"><System>',
      '<Provider Name="Microsoft-Windows-Security-Auditing"/><EventID>4625</EventID><Level>0</Level>',
      '<TimeCreated SystemTime="2025-10-10T13:55:36.1234567Z"/><EventRecordID>229977</EventRecordID>',
      '<Execution ProcessID="516" ThreadID="3240"/><Channel>Security</Channel><Computer>DC01</Computer></System>',
      '<EventData><Data Name="TargetUserName">ann</Data><Data Name="LogonType">3</Data></EventData></Event></Events>',
    ],
    reading: {
      kind: 'converted',
      begins: '^\\s*(?:<\\?xml[^>]*\\?>\\s*)?(?:<Events[^>]*>\\s*)?<Event[ >]',
      as: 'windows',
    },
  },
  {
    name: 'gelf',
    label: 'GELF messages',
    example: [
      '{"version":"1.1","host":"edge","short_message":"cart is lost","timestamp":1760104536.123,"level":3,"_cart":7}',
    ],
    reading: json,
  },
  {
    name: 'ecs',
    label: 'Elastic Common Schema events',
    example: [
      '{"@timestamp":"2025-10-10T13:55:36.123Z","log.level":"ERROR","message":"cart is lost","ecs.version":"8.11.0","service":{"name":"shop"}}',
    ],
    reading: json,
  },
  {
    name: 'eve',
    label: 'Suricata events (EVE)',
    example: [
      '{"timestamp":"2025-10-10T13:55:36.123456+0000","event_type":"alert","src_ip":"10.1.2.3","dest_ip":"10.0.0.7","alert":{"signature_id":2001,"severity":2}}',
    ],
    reading: json,
  },
];
