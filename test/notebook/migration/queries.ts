/** Queries of another language over the samples; the kernel supplies their translations. */
interface Elsewhere {
  readonly language: string;
  readonly queries: readonly (readonly [task: string, query: string])[];
}

/** Languages whose queries the kernel recognizes and translates. */
export const translated: readonly Elsewhere[] = [
  {
    language: 'SQL',
    queries: [
      ['some rows', 'SELECT * FROM "sample-http-logs" LIMIT 10'],
      [
        'conditions and fields',
        `SELECT uri, status FROM "sample-http-logs" WHERE method = 'GET' AND uri LIKE '/api/%' LIMIT 10`,
      ],
      [
        'a list and a span of values',
        `SELECT uri FROM "sample-http-logs" WHERE method IN ('POST', 'PUT') AND req_duration_ms BETWEEN 1 AND 500`,
      ],
      ['distinct values', 'SELECT DISTINCT server_datacenter FROM "sample-http-logs"'],
      [
        'groups, most frequent first',
        'SELECT status, COUNT(*) AS n FROM "sample-http-logs" GROUP BY status ORDER BY n DESC',
      ],
      [
        'a condition on groups',
        'SELECT uri, COUNT(*) AS n FROM "sample-http-logs" GROUP BY uri HAVING COUNT(*) > 10',
      ],
      ['number of distinct values', 'SELECT COUNT(DISTINCT user_agent) AS agents FROM "sample-http-logs"'],
      [
        'a percentile',
        'SELECT method, percentile_cont(0.95) WITHIN GROUP (ORDER BY req_duration_ms) AS p95 FROM "sample-http-logs" GROUP BY method',
      ],
      [
        'an aggregate of some rows',
        `SELECT COUNT(*) FILTER (WHERE method = 'POST') AS posts, COUNT(*) AS n FROM "sample-http-logs"`,
      ],
      [
        'a count over time',
        `SELECT date_trunc('minute', _time) AS minute, COUNT(*) AS n FROM "sample-http-logs" GROUP BY 1 ORDER BY 1`,
      ],
      [
        'one of several values',
        `SELECT CASE WHEN req_duration_ms > 500 THEN 'slow' ELSE 'fine' END AS speed, COUNT(*) AS n FROM "sample-http-logs" GROUP BY speed`,
      ],
      [
        'a query within a query',
        'SELECT name, COUNT(*) AS n FROM "otel-demo-traces" WHERE trace_id IN (SELECT trace_id FROM "otel-demo-logs") GROUP BY name',
      ],
      [
        'a query with a name',
        `WITH posts AS (SELECT * FROM "sample-http-logs" WHERE method = 'POST') SELECT status, COUNT(*) AS n FROM posts GROUP BY status`,
      ],
      [
        'the last minutes',
        `SELECT uri FROM "sample-http-logs" WHERE _time > now() - INTERVAL '15 minutes' LIMIT 10`,
      ],
    ],
  },
  {
    language: 'SPL',
    queries: [
      ['a search', 'index=sample-http-logs method=POST status!=200'],
      ['a word in any field', 'index=sample-http-logs "api"'],
      [
        'statistics by a field',
        'index=sample-http-logs | stats count as n, avg(req_duration_ms) as mean, perc95(req_duration_ms) as p95 by method | sort -n',
      ],
      ['a count over time', 'index=sample-http-logs | timechart span=5m count by method'],
      ['most frequent values', 'index=sample-http-logs | top limit=5 uri'],
      ['rare values', 'index=sample-http-logs | rare uri'],
      [
        'a computed field',
        'index=sample-http-logs | eval slow=if(req_duration_ms > 500, "yes", "no") | stats count by slow',
      ],
      [
        'a field from a text',
        'index=sample-http-logs | rex field=uri "^/(?<area>\\w+)" | stats count by area',
      ],
      [
        'the newest of each',
        'index=sample-http-logs | dedup server_datacenter | table _time server_datacenter',
      ],
      [
        'number of distinct values',
        'index=sample-http-logs | stats dc(user_agent) as agents by server_datacenter',
      ],
      ['rename and fill', 'index=sample-http-logs | rename uri as path | fillnull value="-" path'],
      ['the last minutes', 'index=sample-http-logs earliest=-15m | head 10'],
    ],
  },
  {
    language: 'ES|QL',
    queries: [
      [
        'groups, most frequent first',
        'FROM sample-http-logs | WHERE status != "200" | STATS n = COUNT(*) BY uri | SORT n DESC | LIMIT 10',
      ],
      [
        'a count over time',
        'FROM sample-http-logs | STATS n = COUNT(*), p95 = PERCENTILE(req_duration_ms, 95) BY minute = BUCKET(@timestamp, 1 minute)',
      ],
      [
        'several datasets',
        'FROM otel-demo-* | WHERE @timestamp > NOW() - 15 minutes | STATS n = COUNT(*) BY service.name',
      ],
      [
        'a field from a text',
        'FROM sample-http-logs | DISSECT uri "/%{area}/%{rest}" | STATS n = COUNT(*) BY area',
      ],
      [
        'an aggregate of some rows',
        'FROM sample-http-logs | STATS posts = COUNT(*) WHERE method == "POST", n = COUNT(*)',
      ],
    ],
  },
];

/** Kusto features that APL has under another name or by other means; `apl` is checked by running it. */
export const kusto: readonly (readonly [task: string, kusto: string, apl: string])[] = [
  [
    'the time of an event',
    'T | where TimeGenerated > ago(15m)',
    "['sample-http-logs'] | where _time > ago(15m)",
  ],
  [
    'any value of a group',
    'T | summarize take_any(uri) by method',
    "['sample-http-logs'] | summarize arg_max(_time, uri) by method",
  ],
  [
    'several percentiles',
    'T | summarize percentiles(ms, 50, 95) by method',
    "['sample-http-logs'] | summarize percentiles_array(req_duration_ms, 50, 95) by method",
  ],
  [
    'groups that are most frequent',
    'T | top-hitters 5 of uri',
    "['sample-http-logs'] | summarize topk(uri, 5)",
  ],
  [
    'bins whose width follows the range',
    'T | summarize count() by bin(TimeGenerated, 5m)',
    "['sample-http-logs'] | summarize count() by bin_auto(_time)",
  ],
  [
    'a column for each value',
    'T | evaluate pivot(method)',
    "['sample-http-logs'] | summarize GET = countif(method == 'GET'), POST = countif(method == 'POST') by server_datacenter",
  ],
  [
    'what distinguishes some rows',
    'T | evaluate diffpatterns(failed)',
    "['sample-http-logs'] | summarize spotlight(status startswith '5', method, uri, server_datacenter)",
  ],
  ['texts that look alike', 'T | reduce by message', "['sample-http-logs'] | summarize phrases(message, 5)"],
  [
    'a chart',
    'T | summarize count() by method | render barchart',
    "// @viz bar\n['sample-http-logs'] | summarize count() by method",
  ],
];
