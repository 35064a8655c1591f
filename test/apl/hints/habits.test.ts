import { expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { environment } from '../environment.js';

function first(text: string) {
  const { query, diagnostics } = parseQuery(text);
  const [found] = [...diagnostics, ...bind(query, text, environment).diagnostics];
  return [found?.message, found?.instead];
}

const PLAN = 'queries do not have a visible plan: what a query read is shown below its result';

test.each([
  ['show tables', 'use a magic to list datasets', '%datasets'],
  ['SHOW DATABASES;', 'use a magic to list datasets', '%datasets'],
  ['.show tables', 'use a magic to list datasets', '%datasets'],
  ['\\dt', 'use a magic to list datasets', '%datasets'],
  ['\\l+', 'use a magic to list datasets', '%datasets'],
  ['\\d web', 'use a magic to list the fields of a dataset', '%schema web'],
  ['explain select * from web', PLAN, "['web']"],
  ['EXPLAIN (ANALYZE, BUFFERS) select * from web limit 5', PLAN, "['web']\n| limit 5"],
  ['explain web | take 5', PLAN, 'web | take 5'],
  ['describe web', 'use a magic to list the fields of a dataset', '%schema web'],
  ['DESC "web-logs"', 'use a magic to list the fields of a dataset', '%schema web-logs'],
  ['show columns from web', 'use a magic to list the fields of a dataset', '%schema web'],
  ['help', 'help is a magic', '%help'],
  ['?', 'help is a magic', '%help'],
  ['? summarize', 'help is a magic', '%help summarize'],
  ['!ls -l', 'shell commands do not run here', undefined],
  ['ls -l', 'shell commands do not run here', undefined],
  ['cd logs', 'shell commands do not run here', undefined],
  ['cat web.log', 'shell commands do not run here', undefined],
  ['tail -f web.log', 'shell commands do not run here', undefined],
  ['grep error web.log', 'shell commands do not run here', undefined],
  ['grep error web', 'shell commands do not run here', `['web'] | search "error"`],
  ['grep -i "error" web', 'shell commands do not run here', `['web'] | search "error"`],
  ['jq .status web', 'shell commands do not run here', undefined],
  ['kubectl logs web', 'shell commands do not run here', undefined],
  ['docker logs web', 'shell commands do not run here', undefined],
  ['curl http://x', 'shell commands do not run here', undefined],
  ['pip install pandas', 'shell commands do not run here', undefined],
  ['npm install', 'shell commands do not run here', undefined],
  ['INSERT INTO web VALUES (1)', 'a query cannot change data', undefined],
  ['DELETE FROM web', 'a query cannot change data', undefined],
  ['update web set a = 1', 'a query cannot change data', undefined],
  ['CREATE TABLE x (a int)', 'a query cannot change data', undefined],
  ['DROP TABLE web', 'use a magic to delete datasets', undefined],
  ['use web', 'each query names its own dataset', undefined],
  ['USE web;', 'each query names its own dataset', undefined],
  ['schema web', 'use a magic to list the fields of a dataset', '%schema web'],
  ['df = spark.table("web")', 'this is not APL: use `let` or `<<` to assign a name', undefined],
  ['import pandas as pd', 'this is Python, not APL', undefined],
  ['from os import path', 'this is Python, not APL', undefined],
  ['exit', 'close the notebook to leave it', undefined],
  ['quit()', 'close the notebook to leave it', undefined],
  ['web last 1h', 'use a magic to set the time range', `%%time last 1h\n['web']`],
  ['last 15 min web', 'use a magic to set the time range', `%%time last 15min\n['web']`],
  [
    'status >= 500',
    'the query starts with a condition instead of a dataset',
    "['logs'] | where status >= 500",
  ],
  ['up == 0', 'the query starts with a condition instead of a dataset', "['logs'] | where up == 0"],
  [
    'status = 500 AND method = "GET"',
    'the query starts with a condition instead of a dataset',
    `['logs'] | where status == 500 and method == "GET"`,
  ],
  ["where status == '500'", 'the query starts with an operator instead of a dataset', undefined],
  ['summarize count() by status', 'the query starts with an operator instead of a dataset', undefined],
  ['sort by status', 'the query starts with an operator instead of a dataset', undefined],
])('%s', (text, message, instead) => {
  expect(first(text)).toEqual([message, instead]);
});

test.each(['timestamp', 'Timestamp', 'TimeGenerated', "['@timestamp']"])('suggests _time for %s', name => {
  const written = name.startsWith('[') ? '@timestamp' : name;
  expect(first(`web | where ${name} > ago(1h)`)).toEqual([`unknown field \`${written}\``, '_time']);
});

test.each([
  "['logs'] | where a == 1",
  'logs | where status == 500',
  'search "error"',
  'search in (web) status:500',
  'search status == 500 | project status',
  'print x = 1',
  'index | where source == 1',
  'help | count',
  'explain | count',
  'fields | count',
  'filter | take 5',
  'stats',
  'cat | count',
  'git | take 5',
  'use | take 5',
  'schema',
  'from | count',
  'select | take 1',
  'datatable(a: long)[1]',
  'where',
  'sum | count',
  'union web, spans',
  'last | count',
  'count | count',
  'fetch | count',
  'source | where web == 1',
  'table | count',
  'dataset | count',
  'db.web | count',
  'web | where a.b == 1',
  'web | extend x = a.b',
  'what | count',
  'range x from 1 to 3 step 1',
])('accepts %s as APL', text => {
  expect(parseQuery(text).diagnostics.filter(({ code }) => code === 'other-language')).toEqual([]);
});
