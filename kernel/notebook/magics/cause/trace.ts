import { writtenName } from '../../../apl/catalog/catalog-written.js';
import { spanField, traceField } from '../../../apl/editor/editor-events.js';
import { writtenText } from '../../../apl/syntax/tokens/quote.js';
import { present } from '../../../present.js';
import type { Column } from '../../../result/beside.js';
import type { QueryResult } from '../../../result/result.js';
import {
  TRACE_MIME,
  type TraceLogs,
  type TraceReference,
  traceTitle,
} from '../../../result/trace/trace-reference.js';
import { SPAN_FIELDS, spansOf } from '../../../result/trace/trace-spans.js';
import { traceOf } from '../../../result/trace/trace-tree.js';
import { waterfallHtml, waterfallText } from '../../../result/trace/waterfall.js';
import { oneLine, plural } from '../../../text.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say } from '../output.js';
import { showServices } from './cause-services.js';
import {
  columnOf,
  datasetsOfSpans,
  fieldsOf,
  holdsSpans,
  namesOf,
  type SpanDataset,
  source,
  sourceOf,
} from './span-datasets.js';

/** The magic that draws a trace. */
export const traceMagics: readonly Magic[] = [
  {
    name: 'trace',
    usage: "%trace ID [ID] [['DATASET']]; %trace slowest|services [['DATASET']] [| where CONDITION]",
    options: [],
    summary: 'draw the spans of a trace as a waterfall',
    help: [
      'Draws the spans of a trace in the time range, callers above callees, with the time of each, the critical path and the failures. Notes above it report missing parents, cycles, duplicate ids, gaps and clock skew. The table below has the spans with all of their fields, and becomes the last result. In JupyterLab, the trace is a tree that you can fold, search and zoom, and a span leads to its log lines.',
      '',
      '- `%trace 5b8efff798038103d269b633813fc60c`: from the first dataset of spans that has it, trying the samples last',
      "- `%trace 5b8efff798038103d269b633813fc60c ['otel-demo-traces']`: from that dataset",
      '- `%trace slowest`: the trace of the slowest span',
      '- `%trace slowest [\'otel-demo-traces\'] | where ["service.name"] == "payment"`: the trace of the slowest span that meets the condition',
      '- `%trace 5b8efff798038103d269b633813fc60c 4bf92f3577b34da6a3ce929d0e0e4736`: two traces, side by side if there is room; the second becomes the last result',
      '- `%trace services`: a map of the services in the range, and a table of the calls between them: requests, failures and durations',
      '',
      'A dataset contains spans if it has the fields `_time`, `trace_id`, `span_id` and `duration`; it may have `parent_span_id`, `service.name`, `name`, `kind`, `error`, `status.code`, `status.message`, `events` and `links`.',
    ].join('\n'),
    arity: [1, 1],
    effects: ['query'],
    verbatim: true,
    run: trace,
  },
];

/** Maximum spans to read for one trace. */
const MOST = 20_000;

async function trace({ raw, magic }: MagicCall, host: MagicHost): Promise<void> {
  const [, word = '', rest = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(raw) ?? [];
  if (word === '') throw usageError(magic, 'give the id of a trace, or the word slowest');
  const isSlowest = word === 'slowest';
  const isMap = word === 'services';
  const [second, after] = isSlowest || isMap ? [undefined, rest] : secondId(rest);
  const { dataset, filters } = sourceOf(after, magic);
  if (!isSlowest && !isMap && filters !== '')
    throw usageError(magic, 'a condition goes with slowest or services, not with an id');
  const datasets = dataset === undefined ? await datasetsOfSpans(host) : [await fieldsOf(dataset, host)];
  if (isSlowest) {
    const found = await slowest(datasets, filters, host);
    return draw(found.id, await spansIn(found.from, found.id, host), found.from, host);
  }
  if (isMap) return showServices(datasets, filters, host);
  if (second === undefined) return drawById(word, datasets, host);
  await drawById(word, datasets, host, 1);
  return drawById(second, datasets, host, 2);
}

/** Returns the id of another trace, and the text after it. */
function secondId(rest: string): readonly [string | undefined, string] {
  const [whole = '', id] = /^(["']?[0-9A-Fa-f-]{16,64}["']?)(?=\s|$)\s*/.exec(rest) ?? [];
  return [id, rest.slice(whole.length)];
}

async function drawById(
  word: string,
  datasets: readonly SpanDataset[],
  host: MagicHost,
  column?: Column,
): Promise<void> {
  const id = word.replace(/^(["'])(.*)\1$/, '$2');
  for (const from of datasets) {
    const result = await spansIn(from, id, host);
    if ((result.tables[0]?.data.numRows ?? 0) > 0) return draw(id, result, from, host, column);
  }
  throw new MagicError(
    `%trace: no span of the trace ${oneLine(id, 80)} is in ${namesOf(datasets)} in this range`,
    'Set a range that includes it with %time, or name its dataset.',
  );
}

async function slowest(
  datasets: readonly SpanDataset[],
  filters: string,
  host: MagicHost,
): Promise<{ readonly from: SpanDataset; readonly id: string }> {
  for (const from of datasets) {
    const query = `${source(from)}${filters === '' ? '' : `\n${filters}`}\n| where isnotempty(trace_id)\n| top 1 by duration\n| project trace_id`;
    const [id] = columnOf(await host.run(query));
    if (id !== undefined) return { from, id };
  }
  throw new MagicError(
    `%trace: no span in ${namesOf(datasets)} ${filters === '' ? 'is in this range' : 'in this range meets the condition'}`,
    'Set another range with %time.',
  );
}

async function spansIn(from: SpanDataset, id: string, { run }: MagicHost): Promise<QueryResult> {
  const fields = SPAN_FIELDS.filter(each => from.fields.includes(each)).map(each => writtenName(each));
  return run(
    `${source(from)}\n| where trace_id == ${writtenText(id)}\n| project-reorder ${fields.join(', ')}\n| sort by _time asc\n| limit ${MOST}`,
    { rowLimit: MOST },
  );
}

async function draw(
  id: string,
  result: QueryResult,
  from: SpanDataset,
  host: MagicHost,
  column?: Column,
): Promise<void> {
  const [table] = result.tables;
  if (table === undefined) return;
  const { spans, without } = spansOf(table);
  const tree = traceOf(spans);
  if (table.data.numRows === MOST)
    say(host.io, `The first ${plural(MOST, 'span')} of the trace were read; there may be more.`);
  if (without > 0) say(host.io, `${plural(without, 'row')} without a time or a span id left out.`);
  if (host.plan.retains) {
    const title = traceTitle(id, from.name);
    host.io.display({
      data: {
        [TRACE_MIME]: await referenceTo(id, result, from, host),
        'text/html': waterfallHtml(title, tree, column),
        'text/plain': waterfallText(title, tree),
      },
      metadata: column === undefined ? {} : { apl: { beside: column } },
    });
  } else say(host.io, 'The trace is not drawn, because outputs include no data: `%retain on` allows it.');
  await host.showResult(result);
}

/** Caches the result before front ends learn of it. */
async function referenceTo(
  trace: string,
  result: QueryResult,
  from: SpanDataset,
  host: MagicHost,
): Promise<TraceReference> {
  const { id } = await host.keepLast(result);
  const { query, startTime, endTime, profile } = result.provenance;
  const { numRows: rows, numCols: columns } = result.tables[0]?.data ?? { numRows: 0, numCols: 0 };
  return {
    ...{ trace, dataset: from.name, query, startTime, endTime, profile },
    result: { id, rows, columns },
    logs: await logsBeside(from, host),
  };
}

/** How long a trace waits for the datasets of logs before it is drawn without them, in milliseconds. */
const LOGS_TIMEOUT_MS = 1_000;

/** Returns the datasets whose lines name traces; samples come first if the spans are from a sample, else last. */
async function logsBeside(from: SpanDataset, { session }: MagicHost): Promise<readonly TraceLogs[]> {
  const items = await session.schema.knownDatasets(LOGS_TIMEOUT_MS);
  const isSample = (name: string) => items.find(each => each.name === name)?.rows === undefined;
  const near = items.toSorted(
    (a, b) =>
      Number(isSample(a.name) !== isSample(from.name)) - Number(isSample(b.name) !== isSample(from.name)),
  );
  const found = await Promise.all(
    near.map(async ({ name }) => {
      const known = await session.schema.knownFields(name, LOGS_TIMEOUT_MS);
      const fields = known.map(each => each.name);
      const [trace, span] = [traceField(fields), spanField(fields)];
      if (trace === undefined || holdsSpans({ name, fields })) return [];
      return [{ dataset: name, trace, ...present({ span }) }];
    }),
  );
  return found.flat().slice(0, MOST_LOGS);
}

/** Maximum log datasets offered by a trace. */
const MOST_LOGS = 8;
