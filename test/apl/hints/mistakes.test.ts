import { expect, test } from 'vitest';
import { diagnose } from '../../../kernel/apl/editor/check/diagnose.js';
import { environment } from '../environment.js';

const W = "['sample-http-logs']";

function errorsOf(text: string) {
  return diagnose(text, environment).filter(({ severity }) => severity === 'error');
}

/** The text after the fixes of its errors, one at a time, for as long as there is one. */
function fixed(text: string): string {
  for (let steps = 0; steps < 6; steps += 1) {
    const found = errorsOf(text).find(({ instead }) => instead !== undefined);
    if (found === undefined) break;
    text = text.slice(0, found.from) + found.instead + text.slice(found.to);
  }
  return text;
}

/** What a hurried person types, and what the fix buttons make of it: a query without an error. */
test.each([
  // Signs of other languages and keyboards.
  [`${W} | where status = 500`, `${W} | where status == 500`],
  [`${W} ｜ count`, `${W} | count`],
  [`${W} | where status ＝＝ 500`, `${W} | where status == 500`],
  [`${W} | where (status == 500）`, `${W} | where (status == 500)`],
  [`${W} | where status == ５００`, `${W} | where status == 500`],
  [`${W} | where status ≥ 500`, `${W} | where status >= 500`],
  [`${W} | where status ≠ 500`, `${W} | where status != 500`],
  [`${W} | where status – 1 > 3`, `${W} | where status - 1 > 3`],
  [`${W} | where status == 500 & method == "GET"`, `${W} | where status == 500 and method == "GET"`],
  [`${W} | where status == 500, method == "GET"`, `${W} | where status == 500 and method == "GET"`],
  [`${W} | where status 500`, `${W} | where status == 500`],
  [`${W} || where status == 500`, `${W} | where status == 500`],
  [`${W} where status == 500`, `${W} | where status == 500`],
  [`${W}\r\nwhere status == 500\r\ncount`, `${W}\r\n| where status == 500\r\n| count`],
  // Comments.
  [`${W} | count -- all`, `${W} | count // all`],
  [`${W} | count # all`, `${W} | count // all`],
  [`# title\n${W} | count`, `// title\n${W} | count`],
  [`${W} | where status == 500 /* ours */\n| count`, `${W} | where status == 500 // ours\n| count`],
  // What is pasted with a query, or around it.
  [`> ${W} | count`, `${W} | count`],
  [`In [3]: ${W} | count`, `${W} | count`],
  [`apl> web | count`, `web | count`],
  [`\`\`\`kusto\n${W}\n| count\n\`\`\``, `${W}\n| count`],
  [`from ${W} | count`, `${W} | count`],
  [`errs = ${W} | where status == 500`, `errs << ${W} | where status == 500`],
  [`errs := web | count`, `errs << web | count`],
  ['x = 5', 'let x = 5;'],
  ['time last 1h', '%time last 1h'],
  // Comparisons in words.
  [`${W} | where method starts with "G"`, `${W} | where method startswith "G"`],
  [`${W} | where method does not contain "G"`, `${W} | where method !contains "G"`],
  [`${W} | where method contian "G"`, `${W} | where method contains "G"`],
  [`${W} | where method regex "G.*"`, `${W} | where method matches regex "G.*"`],
  [`${W} | where method has any ("GET", "PUT")`, `${W} | where method has_any ("GET", "PUT")`],
  [`${W} | where method in "GET", "PUT"`, `${W} | where method in ("GET", "PUT")`],
  [`${W} | where status in [500, 502]`, `${W} | where status in (500, 502)`],
  [`${W} | where isnull(method) is true`, `${W} | where isnull(method) == true`],
  [`${W} | where isnull(method) == True`, `${W} | where isnull(method) == true`],
  [`${W} | where 500 <= status < 600`, `${W} | where 500 <= status and status < 600`],
  [`${W} | where exists(method)`, `${W} | where isnotnull(method)`],
  [`${W} | where method == GET`, `${W} | where method == "GET"`],
  [`${W} | where city == "Oslo"`, `${W} | where ['geo.city'] == "Oslo"`],
  [`${W} | search timeout`, `${W} | search "timeout"`],
  [`${W} |= "timeout"`, `${W} | search "timeout"`],
  [`${W} != "timeout"`, `${W} | search not "timeout"`],
  [`${W} "timeout"`, `${W} | search "timeout"`],
  // Times, sizes and numbers.
  [`${W} | where _time > -1h`, `${W} | where _time > ago(1h)`],
  [`${W} | where _time > "now-15m"`, `${W} | where _time > ago(15m)`],
  [`${W} | where _time > 2026-11-20`, `${W} | where _time > datetime(2026-11-20)`],
  [`${W} | where _time > 1763630000`, `${W} | where _time > unixtime_seconds_todatetime(1763630000)`],
  [`${W} | where _time > ago("1h")`, `${W} | where _time > ago(1h)`],
  [`${W} | where status > 10MB`, `${W} | where status > 10000000`],
  [`${W} | where status > 4KiB`, `${W} | where status > 4096`],
  // Summaries and lists.
  [`${W} | summarize COUNT(*) by status`, `${W} | summarize count() by status`],
  [`${W} | stats count by status`, `${W} | summarize count() by status`],
  [`${W} | count() by status`, `${W} | summarize count() by status`],
  [`${W} | avg(duration) by status`, `${W} | summarize avg(duration) by status`],
  [`${W} | group by status`, `${W} | summarize by status`],
  [`${W} | summarize avg(duration) as ms`, `${W} | summarize ms = avg(duration)`],
  [`${W} | summarize p95(duration)`, `${W} | summarize percentile(duration, 95)`],
  [`${W} | select method as m, status`, `${W} | project m = method, status`],
  [`${W} | project method status`, `${W} | project method , status`],
  [`${W} | extend slow := duration > 5`, `${W} | extend slow = duration > 5`],
  [`${W} | extend slow = if(duration > 5, 1, 0)`, `${W} | extend slow = iff(duration > 5, 1, 0)`],
  [`${W} | where lower(method) == "get"`, `${W} | where tolower(method) == "get"`],
  [`${W} | orderby _time desc`, `${W} | sort by _time desc`],
  // Patterns, lists and keys of other languages.
  [`${W} | where method like 'G%'`, `${W} | where method startswith_cs "G"`],
  [`${W} | where method ilike "%ET%"`, `${W} | where method contains "ET"`],
  [`${W} | where "G" in method`, `${W} | where method contains "G"`],
  [`${W} | where method == ["GET", "PUT"]`, `${W} | where method in ("GET", "PUT")`],
  [`${W} | where method != ("GET" or "PUT")`, `${W} | where method !in ("GET", "PUT")`],
  [`${W} | where method == "GET" or "PUT"`, `${W} | where method == "GET" or method == "PUT"`],
  [
    `${W} | where method startswith "G" or startswith "P"`,
    `${W} | where method startswith "G" or method startswith "P"`,
  ],
  [`${W} | where has "x"`, `${W} | where * has "x"`],
  [`${W} | where any has "x"`, `${W} | where * has "x"`],
  [`${W} | extend x = method->'a'`, `${W} | extend x = method["a"]`],
  // Brackets and quotes that are not closed.
  [`${W} | where (method == "GET"`, `${W} | where (method == "GET")`],
  [`${W} | where (method == "GET" | count`, `${W} | where (method == "GET") | count`],
  [`${W} | summarize dcount(method`, `${W} | summarize dcount(method)`],
  [`${W} | where status in (500, 502`, `${W} | where status in (500, 502)`],
  [`${W} | where method == "GET | count`, `${W} | where method == "GET" | count`],
  [`${W} | where method == 'GET"`, `${W} | where method == 'GET'`],
  ["['sample-http-logs] | count", `${W} | count`],
  // Calls with words, and with the order of other languages.
  [`${W} | summarize count(distinct method)`, `${W} | summarize dcount(method)`],
  [`${W} | summarize COUNT(DISTINCT method) by status`, `${W} | summarize dcount(method) by status`],
  [`${W} | summarize nunique(method)`, `${W} | summarize dcount(method)`],
  [`${W} | extend x = cast(status as varchar(20))`, `${W} | extend x = tostring(status)`],
  [`${W} | extend x = str(status)`, `${W} | extend x = tostring(status)`],
  [`${W} | extend x = parseInt(method)`, `${W} | extend x = toint(method)`],
  [`${W} | extend x = coalesce(method; "none")`, `${W} | extend x = coalesce(method, "none")`],
  // Times.
  [`${W} | where EXTRACT(HOUR FROM _time) = 9`, `${W} | where hourofday(_time) == 9`],
  [`${W} | where _time > now() - INTERVAL '1 hour'`, `${W} | where _time > now() - 1h`],
  [`${W} | where _time > now() - interval 2 day`, `${W} | where _time > now() - 2d`],
  [`${W} | where _time > today()`, `${W} | where _time > startofday(now())`],
  [`${W} | where _time > yesterday`, `${W} | where _time > startofday(ago(1d))`],
  [`${W} | where _time > 11/20/2026`, `${W} | where _time > datetime(2026-11-20)`],
  [`${W} | where _time > datetime(20.11.2026)`, `${W} | where _time > datetime(2026-11-20)`],
  [`${W} | where _time > datetime("2026/11/20")`, `${W} | where _time > datetime(2026-11-20)`],
  [`${W} | summarize count() by hour`, `${W} | summarize count() by bin(_time, 1h)`],
  // Ranges, bins and conditions that are counted.
  [`${W} | where status in (500..599)`, `${W} | where status between (500 .. 599)`],
  [`${W} | where status !in (500 .. 599)`, `${W} | where status !between (500 .. 599)`],
  [`${W} | where status in range(500, 599)`, `${W} | where status between (500 .. 599)`],
  [`${W} | where method not like "%bot%"`, `${W} | where method !contains_cs "bot"`],
  [`${W} | where method contains_any ("a", "b")`, `${W} | where method has_any ("a", "b")`],
  [`${W} | summarize count() by bin(5m)`, `${W} | summarize count() by bin(_time, 5m)`],
  [`${W} | summarize count() by bin_auto()`, `${W} | summarize count() by bin_auto(_time)`],
  [`${W} | summarize count(status == 500)`, `${W} | summarize countif(status == 500)`],
  [`${W} | summarize count_if(status == 500)`, `${W} | summarize countif(status == 500)`],
  [`${W} | summarize sum(duration > 5)`, `${W} | summarize sum(toint(duration > 5))`],
  [`${W} | summarize avg(method)`, `${W} | summarize avg(todouble(method))`],
  [`${W} | summarize avg duration by method`, `${W} | summarize avg(duration) by method`],
  [`${W} | union all web`, `${W} | union web`],
  // Functions of other languages, whose arguments stand in another order.
  [`${W} | where like(method, "%GET%")`, `${W} | where method contains_cs "GET"`],
  [`${W} | where match(method, "^G")`, `${W} | where method matches regex "^G"`],
  [`${W} | where regexp_like(method, "^G")`, `${W} | where method matches regex "^G"`],
  [`${W} | where starts_with(method, "G")`, `${W} | where method startswith_cs "G"`],
  [`${W} | where cidrmatch("10.0.0.0/8", method)`, `${W} | where ipv4_is_in_range(method, "10.0.0.0/8")`],
  [`${W} | extend x = split_part(method, "/", 2)`, `${W} | extend x = split(method, "/")[2 - 1]`],
  [`${W} | extend x = concat_ws("-", method, by)`, `${W} | extend x = strcat_delim("-", method, by)`],
  [`${W} | extend x = mvindex(split(method, "/"), 0)`, `${W} | extend x = split(method, "/")[0]`],
  // Stages of SPL.
  [
    `${W} | timechart span=5m avg(duration) by method`,
    `${W} | summarize avg(duration) by bin(_time, 5m), method`,
  ],
  [`${W} | timechart count by status`, `${W} | summarize count = count() by bin_auto(_time), status`],
  [`${W} | bin _time span=5m`, `${W} | extend _time = bin(_time, 5m)`],
  [`${W} | dedup status, method`, `${W} | summarize arg_max(_time, *) by status, method`],
  [`${W} | rename method as verb`, `${W} | project-rename verb = method`],
  [`${W} | fields - method`, `${W} | project-away method`],
  [`${W} | fillnull value=0 duration`, `${W} | extend duration = coalesce(duration, 0)`],
  [`${W} | rare method`, `${W} | summarize count = count() by method | top 10 by count asc`],
  [`${W} | regex method="^G"`, `${W} | where method matches regex "^G"`],
  [`${W} | rex field=method "(?<verb>\\w+)"`, `${W} | extend verb = extract(@'(?P<verb>\\w+)', 1, method)`],
  // Stages of the shell, of jq, and of pipes in other languages.
  [`${W} | grep error`, `${W} | search "error"`],
  [`${W} | grep -v -i "time out"`, `${W} | search not "time out"`],
  [`${W} | wc -l`, `${W} | count`],
  [`${W} | uniq`, `${W} | distinct *`],
  [`${W} | head -n 5`, `${W} | limit 5`],
  [`${W} | head()`, `${W} | limit 10`],
  [`${W} | tail -5`, `${W} | sort by _time desc | limit 5`],
  [`${W} | select(.status >= 500)`, `${W} | where status >= 500`],
  [`${W} | .status`, `${W} | project status`],
  [`${W} | map(.status)`, `${W} | project status`],
  [`${W} | group_by(.method) | length`, `${W} | summarize count() by method | count`],
  [`${W} | sort_by(.duration)`, `${W} | sort by duration asc`],
  [`${W} | unique_by(.method)`, `${W} | distinct method`],
  [`${W} | keys`, `${W} | getschema`],
  [`${W} | nlargest(10, "duration")`, `${W} | top 10 by duration`],
  [`${W} | agg(avg(duration))`, `${W} | summarize avg(duration)`],
  [`${W} | derive slow = duration > 5`, `${W} | extend slow = duration > 5`],
  [`${W} | order_by duration desc`, `${W} | sort by duration desc`],
  // Lines of the shell.
  ["jq '.[] | select(.status >= 500) | .method' web", "['web'] | where status >= 500 | project method"],
  ['grep -c error web', '[\'web\'] | search "error" | count'],
  ['grep -v "time out" web | wc -l', '[\'web\'] | search not "time out" | count'],
  ['zgrep -i timeout web | head -5', '[\'web\'] | search "timeout" | limit 5'],
  ['df = pd.read_csv("web logs.csv")', '%import "web logs.csv"'],
  // Operators.
  [`${W} | status >= 500`, `${W} | where status >= 500`],
  [`${W} | status:500 AND duration > 5`, `${W} | where status ==500 and duration > 5`],
  [`${W} | let x = 5`, `${W} | extend x = 5`],
  [`${W} | groupby status`, `${W} | summarize count() by status`],
  [`${W} | summarize count() per status`, `${W} | summarize count() by status`],
  [
    `${W} | summarize count() by status having count_ > 5`,
    `${W} | summarize count() by status | where count_ > 5`,
  ],
  [`${W} | sort duration desc`, `${W} | sort by duration desc`],
  [`${W} | sort -duration`, `${W} | sort by duration desc`],
  [`${W} | top 10 status`, `${W} | top 10 by status`],
  [`${W} | project * except method, status`, `${W} | project-away method, status`],
  // Lines of Python and of consoles.
  [`${W}.where(status == toint("500"))`, `${W} | where status == toint("500")`],
  ['web.head()', "['web'] | limit 5"],
  ['web[web.status == 500]', "['web'] | where status == 500"],
  ['web?', '%schema web'],
  ['help("where")', '%help where'],
  ['1 + 1', 'print 1 + 1'],
])('%s becomes a query', (typed, query) => {
  expect(errorsOf(typed)).not.toEqual([]);
  expect(fixed(typed)).toBe(query);
  expect(errorsOf(query).map(({ message }) => message)).toEqual([]);
});

/** Where nothing can be written for them: the place, and what to do. */
test.each([
  [`${W} | where status == 5xx`, '5xx', 'startswith "5"'],
  [`${W} | where _time > ago(1M)`, '1M', '30d'],
  [`${W} | where _time > datetime(1/2/2026)`, '1/2/2026', 'datetime(2026-01-02) or datetime(2026-02-01)'],
  [`${W} | extend x = f"{method}"`, '"{method}"', 'strcat('],
  [`${W} | project -method`, 'method', 'project-away'],
  [`${W} | parse method "(?<x>.)"`, '"(?<x>.)"', 'with "before "'],
  [`${W} | plot status`, 'plot', 'render linechart'],
  [`${W} | status = 500`, 'status', '`where status == …`'],
  [`${W} | where status in (400..499, 500)`, '..', 'between (500 .. 599)'],
  [`${W} | egrep "a|b"`, 'egrep', '| search'],
  ['message:"refused"~2', 'message:"refused"~2', 'similar'],
  ['for x in web: print(x)', 'for x in web: print(x)', 'notebook of Python'],
  ['echo hello', 'echo hello', 'terminal'],
  [`${W} | where method == 'it's'`, 's', "\\'"],
  [`${W} | where method.contains("G")`, '(', 'no methods'],
  [`${W} | where @timestamp > ago(1h)`, '@', '`_time`'],
  [`${W} | extend x = status as int`, 'as', 'toint(…)'],
  [`${W} | summarize by status count()`, 'count', 'before them'],
  [`${W} | jq .status`, 'jq', 'parse_json(field).key'],
  [`${W}, web | count`, ',', 'union a, b'],
  [`let x = 5\n${W} | count`, '[', 'ends a `let`'],
  [`${W} | count\n%time last 1h`, '%time last 1h', 'a cell of its own'],
  ['sum:http.requests{service:web}.as_count()', 'sum:http.requests{service:web}.as_count()', "['logs']"],
  ['{"query": {"match_all": {}}}', '{"query": {"match_all": {}}}', "['logs']"],
  ['GET /logs/_search', 'GET /logs/_search', "['logs']"],
])('%s is explained at its place', (typed, place, hint) => {
  const [found] = errorsOf(typed);
  expect(typed.slice(found?.from, found?.to)).toBe(place);
  expect(found?.hint).toContain(hint);
  expect(found?.instead).toBeUndefined();
});
