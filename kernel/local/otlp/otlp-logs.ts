import { cellOf, idOf, type OtlpEvent, textCell, timeOf } from './otlp-cells.js';
import { cellsOf, sharedCells } from './otlp-fields.js';
import type { LogRecord, Sourced } from './otlp-protocol.js';

/** Each covers four numbers, starting at 1. */
const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** Returns a log record as an event; without a time, it gets the time of observation. */
export function logEvent(record: Sourced<LogRecord>): OtlpEvent {
  const { entry } = record;
  const number = severityNumber(entry.severityNumber);
  const own = cellsOf([
    ['trace_id', textCell(idOf(entry.traceId))],
    ['span_id', textCell(idOf(entry.spanId))],
    ['severity', textCell(entry.severityText) ?? textCell(severities[Math.floor((number - 1) / 4)])],
    ['severity_number', number > 0 ? cellOf({ intValue: number }) : undefined],
    ['body', cellOf(entry.body)],
    ['event_name', textCell(entry.eventName)],
  ]);
  return {
    time: timeOf(entry.timeUnixNano) ?? timeOf(entry.observedTimeUnixNano),
    cells: new Map([...own, ...sharedCells(record, entry.attributes)]),
  };
}

/** Returns a severity from 1 to 24, which in JSON may be a name such as `SEVERITY_NUMBER_INFO2`; 0 for none. */
function severityNumber(value: number | string | undefined): number {
  if (typeof value !== 'string') return value ?? 0;
  const [, name = '', step = '1'] = /_([A-Z]+)([2-4]?)$/.exec(value) ?? [];
  const index = severities.indexOf(name);
  return index < 0 ? 0 : index * 4 + Number(step || 1);
}
