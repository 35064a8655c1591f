import { writtenName } from '../../../apl/catalog/catalog-written.js';
import {
  type Calls,
  type Figures,
  mapHtml,
  mapSentences,
  mapSvg,
  mapText,
  type Service,
} from '../../../result/display/display-services.js';
import { rowTexts } from '../../../result/display/display-text.js';
import { nanosIn } from '../../../result/trace/trace-spans.js';
import { shortDuration } from '../../../result/trace/waterfall.js';
import { formatCount } from '../../../text.js';
import { parseTime, SECOND } from '../../../time.js';
import type { MagicHost } from '../magic.js';
import { MagicError } from '../magic-arguments.js';
import { say } from '../output.js';
import { namesOf, type SpanDataset, source } from './span-datasets.js';

/** Maximum kinds of calls to read, those with the most requests. */
const MOST = 1_000;

/** Shows a map of the services in the first dataset that has any in the range, and a table of their calls. */
export async function showServices(
  datasets: readonly SpanDataset[],
  filters: string,
  host: MagicHost,
): Promise<void> {
  for (const from of datasets.filter(({ fields }) => fields.includes(SERVICE))) {
    const called = callsOf(from, filters);
    const settings = { rowLimit: MOST };
    const all = await host.run(`${called}\n| ${summarized('caller, service')}`, settings);
    if ((all.tables[0]?.data.numRows ?? 0) === 0) continue;
    const { startTime, endTime } = all.provenance;
    const length = (parseTime(endTime) ?? 0n) - (parseTime(startTime) ?? 0n);
    const seconds = Math.max(1, Number(length / SECOND));
    const calls = rowTexts(all.tables[0]).map(
      ([caller, service, ...figures]): Calls => ({
        caller: caller === null || caller === '' ? undefined : caller,
        service: service ?? '',
        figures: figuresOf(figures, seconds),
      }),
    );
    const each = await host.run(`${called}\n| ${summarized('service')}`, settings);
    const services = rowTexts(each.tables[0]).map(
      ([name, ...figures]): Service => ({
        name: name ?? '',
        figures: figuresOf(figures, seconds),
      }),
    );
    for (const sentence of mapSentences(services, calls)) say(host.io, sentence);
    if (Math.max(services.length, calls.length) === MOST)
      say(host.io, `The first ${formatCount(MOST)} by requests were read; there may be more.`);
    const title = `Services of ${from.name}`;
    if (host.plan.retains)
      host.io.display({
        data: {
          'text/html': mapHtml(title, services, calls),
          'image/svg+xml': mapSvg(title, services, calls),
          'text/plain': mapText(title, services, calls),
        },
        metadata: {},
      });
    return host.showResult(all);
  }
  throw new MagicError(
    `%trace: no service span ${filters === '' ? 'found' : 'meets the condition'} in ${namesOf(datasets)} in this range`,
    'Set another range with %time.',
  );
}

const SERVICE = 'service.name';

/** Returns the query for the spans of a service that are caused by another service or an outside request. */
function callsOf(from: SpanDataset, filters: string): string {
  const has = (field: string) => from.fields.includes(field);
  const service = writtenName(SERVICE);
  const failed = has('error')
    ? 'error == true'
    : has('status.code')
      ? `${writtenName('status.code')} =~ "ERROR"`
      : 'false';
  const parent = has('parent_span_id') ? 'tostring(parent_span_id)' : '""';
  return [
    source(from),
    ...(filters === '' ? [] : [filters]),
    `| project trace_id = tostring(trace_id), caller_id = ${parent}, service = tostring(${service}), is_failed = ${failed}, duration`,
    `| join kind=leftouter (${source(from)} | project trace_id = tostring(trace_id), caller_id = tostring(span_id), caller = tostring(${service})) on trace_id, caller_id`,
    '| where isempty(caller) or caller != service',
  ].join('\n');
}

function summarized(keys: string): string {
  const order = keys.split(', ').map(key => `${key} asc`);
  return `summarize requests = count(), failed = countif(is_failed), p50 = percentile(duration, 50), p95 = percentile(duration, 95) by ${keys}\n| sort by requests desc, ${order.join(', ')}\n| limit ${MOST}`;
}

function figuresOf(
  [requests, failed, p50, p95]: readonly (string | null | undefined)[],
  seconds: number,
): Figures {
  const calls = Number(requests);
  return {
    ...{ calls, failed: Number(failed) / Math.max(calls, 1), rate: calls / seconds },
    ...{ p50: durationText(p50), p95: durationText(p95) },
  };
}

function durationText(text: string | null | undefined): string {
  if (text === null || text === undefined) return '?';
  const nanos = nanosIn(text);
  return nanos === undefined ? text : shortDuration(nanos);
}
