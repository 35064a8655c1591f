import { expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { environment } from '../environment.js';

function first(text: string) {
  const { query, diagnostics } = parseQuery(text);
  const [found] = [...diagnostics, ...bind(query, text, environment).diagnostics];
  return [found?.message, found?.instead];
}

const PLAN = 'a query has no plan to look at: what it read stands below its result';

test.each([
  ['show tables', 'datasets are listed by a magic', '%datasets'],
  ['SHOW DATABASES;', 'datasets are listed by a magic', '%datasets'],
  ['.show tables', 'datasets are listed by a magic', '%datasets'],
  ['\\dt', 'datasets are listed by a magic', '%datasets'],
  ['\\l+', 'datasets are listed by a magic', '%datasets'],
  ['\\d web', 'the fields of a dataset are listed by a magic', '%schema web'],
  ['explain select * from web', PLAN, "['web']"],
  ['EXPLAIN (ANALYZE, BUFFERS) select * from web limit 5', PLAN, "['web']\n| limit 5"],
  ['explain web | take 5', PLAN, 'web | take 5'],
  ['describe web', 'the fields of a dataset are listed by a magic', '%schema web'],
  ['DESC "web-logs"', 'the fields of a dataset are listed by a magic', '%schema web-logs'],
  ['show columns from web', 'the fields of a dataset are listed by a magic', '%schema web'],
  ['help', 'help is a magic', '%help'],
  ['?', 'help is a magic', '%help'],
  ['? summarize', 'help is a magic', '%help summarize'],
  ['!ls -l', 'commands of the shell do not run here', undefined],
  ['ls -l', 'commands of the shell do not run here', undefined],
  ['cd logs', 'commands of the shell do not run here', undefined],
  ['cat web.log', 'commands of the shell do not run here', undefined],
  ['tail -f web.log', 'commands of the shell do not run here', undefined],
  ['grep error web.log', 'commands of the shell do not run here', undefined],
  ['grep error web', 'commands of the shell do not run here', `['web'] | search "error"`],
  ['grep -i "error" web', 'commands of the shell do not run here', `['web'] | search "error"`],
  ['jq .status web', 'commands of the shell do not run here', undefined],
  ['kubectl logs web', 'commands of the shell do not run here', undefined],
  ['docker logs web', 'commands of the shell do not run here', undefined],
  ['curl http://x', 'commands of the shell do not run here', undefined],
  ['pip install pandas', 'commands of the shell do not run here', undefined],
  ['npm install', 'commands of the shell do not run here', undefined],
  ['INSERT INTO web VALUES (1)', 'a query changes no data', undefined],
  ['DELETE FROM web', 'a query changes no data', undefined],
  ['update web set a = 1', 'a query changes no data', undefined],
  ['CREATE TABLE x (a int)', 'a query changes no data', undefined],
  ['DROP TABLE web', 'datasets are deleted by a magic', undefined],
  ['use web', 'a query names its dataset itself', undefined],
  ['USE web;', 'a query names its dataset itself', undefined],
  ['schema web', 'the fields of a dataset are listed by a magic', '%schema web'],
  ['df = spark.table("web")', 'this is not APL: a name is given by `let` or `<<`', undefined],
  ['import pandas as pd', 'this is Python, not APL', undefined],
  ['from os import path', 'this is Python, not APL', undefined],
  ['exit', 'a notebook is left by closing it', undefined],
  ['quit()', 'a notebook is left by closing it', undefined],
  ['web last 1h', 'the time range is set by a magic', `%%time last 1h\n['web']`],
  ['last 15 min web', 'the time range is set by a magic', `%%time last 15min\n['web']`],
  ['status >= 500', 'a condition stands where the query needs a dataset', "['logs'] | where status >= 500"],
  ['up == 0', 'a condition stands where the query needs a dataset', "['logs'] | where up == 0"],
  [
    'status = 500 AND method = "GET"',
    'a condition stands where the query needs a dataset',
    `['logs'] | where status == 500 and method == "GET"`,
  ],
  ["where status == '500'", 'an operator stands where the query needs a dataset', undefined],
  ['summarize count() by status', 'an operator stands where the query needs a dataset', undefined],
  ['sort by status', 'an operator stands where the query needs a dataset', undefined],
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
