import type { Page } from 'playwright-core';
import { SAMPLES } from './hostile/payloads.js';
import { kernelReady } from './lab.js';

const types = [
  'datatable (_time: datetime, level: string, took: timespan, size: long, share: real, ok: bool, body: dynamic) [',
  '  datetime(2026-11-20T09:00:00.123456789Z), "info", 1500ms, 9223372036854775807, 0.1, true, dynamic({"a": {"b": [1, 2, {"c": null}]}}),',
  '  datetime(1969-12-31T23:59:59Z), "error", 3d, -9223372036854775808, 1e300, false, dynamic([]),',
  '  datetime(null), "", timespan(null), long(null), real(null), bool(null), dynamic(null),',
  '  datetime(2026-11-20T09:00:01Z), "\u65e5\u672c\u8a9e \u{1f469}\u200d\u{1f4bb} caf\u00e9", 1tick, 0, -0.000012345, true, dynamic("text"),',
  `  datetime(2026-11-20T09:00:02Z), "${'a long line of a log that goes on and on, '.repeat(12)}", 2m, 1024, 123456.789, true, dynamic({"k": 9007199254740993})`,
  ']',
].join('\n');

const wide = `print ${Array.from({ length: 1_000 }, (_, index) => `column_${index + 1} = ${index * 1_000_003}`).join(', ')}`;
/** Returns a table with one payload of each class in two columns: one with a plain name, one with this name. */
export const columns = (name: string): string =>
  `datatable (value: string, ['${name}']: string) [${SAMPLES.map(text => `${JSON.stringify(text)}, ${JSON.stringify(text)}`).join(', ')}]`;

const range = '%%time 2026-11-20T00:00:00Z .. 2026-11-20T06:00:00Z\n';
const logs = `${range}['sample-http-logs']\n`;
const spans = `${range}['otel-demo-traces']\n`;

/** Notebooks that show every state of an output, by name, for screenshots and for the accessibility and hostile-input tests. */
export const GALLERY: Readonly<Record<string, readonly string[]>> = {
  tables: [
    types,
    'range n from 1 to 20000 step 1 | extend name = strcat("user ", tostring(n % 10)), x = n / 7.0',
    wide,
    'print answer = 42',
    `${logs}| where status == "500" | limit 50`,
    `${logs}| where method == "PATCHED"`,
    `${range}['otel-demo-logs']\n| limit 60`,
    'print x = 1 | where x > 1',
  ],
  charts: [
    `${logs}| summarize count() by bin_auto(_time)`,
    `${logs}| summarize count(), avg(req_duration_ms) by bin_auto(_time)`,
    `${logs}| summarize count() by bin_auto(_time), status`,
    `${logs}| summarize percentiles_array(req_duration_ms, 50, 90, 99) by bin_auto(_time)`,
    `${logs}| summarize count() by uri | order by count_ desc`,
    `${logs}| summarize histogram(req_duration_ms, 20) by bin_auto(_time)`,
    `${spans}| summarize count() by bin_auto(_time), ['service.name']`,
    `${logs}| summarize events = count(), slowest = max(req_duration_ms), users = dcount(id)`,
    'range n from 1 to 400 step 1 | extend _time = datetime(2026-11-20T00:00:00Z) + n * 1m, g = strcat("\u{1f469}\u200d\u{1f4bb} a long name of a group, number ", tostring(n % 60)) | summarize v = sum(n * 1000000000) by bin(_time, 1h), g',
  ],
  messages: [
    "['sample-http-logs'] | where staus == '500'",
    "['sample-http-log']",
    '| where',
    "['sample-http-logs']\n| where status = 500 and\n| summarise count() by bin(_time, 5x)",
    '%tmie last 1h',
    '%time last fortnight',
    '%assert rows > 0',
    'print f(1)',
  ],
  magics: [
    '%help',
    '%use',
    '%time last 24h',
    '%peek sample-http-logs',
    `errs << ${`${logs}| where status == "500" | limit 50`.slice(range.length)}`,
    '%results',
    '%params',
    '%stars',
    '%history',
    '%show-query',
  ],
  annotations: [
    [
      `%annotate Release 1.2 --type deploy --time 2026-11-20T02:00Z --dataset sample-http-logs --description ${JSON.stringify('it goes on and on, '.repeat(30))}`,
      '%annotate Failover --type incident --time 2026-11-20T03:00Z --end 2026-11-20T04:30Z --dataset sample-http-logs',
      ...SAMPLES.map(
        (text, index) =>
          `%annotate ${JSON.stringify(text)} --time 2026-11-20T01:${index + 10}Z --dataset sample-http-logs`,
      ),
    ].join('\n'),
    `${logs}| summarize count() by bin_auto(_time)`,
    `${range}// @viz heat\n['sample-http-logs']\n| summarize count() by bin_auto(_time), status`,
    `${logs}| summarize count(), avg(req_duration_ms) by bin_auto(_time)`,
  ],
  strangers: [columns('<b onclick="window.pwned=1">name</b>'), `print ${JSON.stringify(SAMPLES[0])}`],
};

const hostileName = SAMPLES[0] ?? '';

const incident = '2026-01-26T15:09Z..2026-01-26T15:36Z';
/** Rows that are distinguished only by right-to-left text, markup and a long value. */
const odd = `range n from 1 to 400 step 1 | extend odd = n % 4 == 0 | extend ['${SAMPLES[0]?.replaceAll(/['\\]/g, '') ?? ''}'] = iff(odd, "\u05e9\u05dc\u05d5\u05dd ${'a long value '.repeat(12)}", "plain"), text = strcat(iff(odd, "\u062e\u0637\u0623 <img src=x> ", "started "), tostring(n % 9), "${' and went on'.repeat(9)}"), n = n * 1000000007`;

/** Notebooks for screenshots of root-cause magics; an investigation writes cells below its own. */
export const CAUSES: Readonly<Record<string, readonly string[]>> = {
  causes: [
    `%time ${incident}`,
    `%explain ['sample-http-logs'] | where status startswith "5"`,
    `odd << ${odd}`,
    '%explain odd where odd',
    '%patterns odd text',
    "%patterns ['otel-demo-logs'] body",
    "['sample-http-logs'] | take 1",
    '%around 2026-01-26T15:24:27Z --within 2s',
    "%trace slowest ['otel-demo-traces'] | where error == true",
    '%trace 0faf448aabe6d219c5e1286c3c379966 9a7b3bcaf27acc77887caa9dd723f2e7',
    "%trace services ['otel-demo-traces']",
    "%tail ['sample-http-logs'] --for 3s",
  ],
  investigation: [`%investigate ${incident} ['sample-http-logs']`],
};

/** Cells of the notebook whose menus, toolbars and panel are checked. */
export const AROUND: readonly string[] = [
  `%param city = "LHR" --choices "LHR", "a, b", ${JSON.stringify(hostileName)}\n${logs}| summarize count() by bin(_time, 1h), status`,
  types,
  columns(`${hostileName} ${'a name of a field that goes on '.repeat(8)}`),
  wide,
  `%star --new ${JSON.stringify(hostileName)}\n${GALLERY.charts?.[4] ?? ''}`,
  `${'long_name_'.repeat(30)} << print n = -9223372036854775808`,
  "['no such dataset'] | count",
];

/** Returns a notebook of these cells, none of them run. */
export function notebookOf(sources: readonly string[]): string {
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'apl', display_name: 'APL (Axiom)', language: 'axiom-apl' } },
    cells: sources.map((source, index) => ({
      cell_type: 'code',
      id: `cell-${index}`,
      metadata: {},
      execution_count: null,
      outputs: [],
      source,
    })),
  });
}

/** Runs each cell of the open notebook, continuing after errors; resolves when the last one has a number. */
export async function runEach(page: Page, from = 0, to = Number.POSITIVE_INFINITY): Promise<void> {
  await kernelReady(page);
  const cells = page.locator('.jp-Notebook .jp-CodeCell');
  const count = await cells.count();
  await cells.nth(from).locator('.jp-InputPrompt').click();
  for (let index = from; index < Math.min(to, count); index += 1) {
    const cell = cells.nth(index);
    // A Markdown cell between two code cells may have the focus.
    const isActive = (await cell.getAttribute('class'))?.includes('jp-mod-active') === true;
    if (!isActive) await cell.locator('.jp-InputPrompt').click();
    await page.keyboard.press('Shift+Enter');
    await cell.locator('.jp-InputPrompt', { hasText: /\[\d+\]/ }).waitFor({ timeout: 60_000 });
  }
}
