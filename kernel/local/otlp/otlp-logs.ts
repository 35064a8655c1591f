import { type Cell, cellOf, idOf, type OtlpEvent, textCell, timeOf } from './otlp-cells.js';
import { cellsOf, sharedCells } from './otlp-fields.js';
import type { LogRecord, Sourced } from './otlp-protocol.js';

/** Each covers four numbers, starting at 1. */
const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** Returns a log record as an event; without a time, it gets the time of observation. */
export function logEvent(record: Sourced<LogRecord>): OtlpEvent {
  const { entry } = record;
  const own = cellsOf([
    ['trace_id', textCell(idOf(entry.traceId))],
    ['span_id', textCell(idOf(entry.spanId))],
    ['severity', textCell(entry.severityText) ?? textCell(severityOf(entry.severityNumber))],
    ['severity_number', numberCell(entry.severityNumber)],
    ['body', cellOf(entry.body)],
    ['event_name', textCell(entry.eventName)],
  ]);
  return {
    time: timeOf(entry.timeUnixNano) ?? timeOf(entry.observedTimeUnixNano),
    cells: new Map([...own, ...sharedCells(record, entry.attributes)]),
  };
}

/** Returns the severity of a number, which in JSON may be a name such as `SEVERITY_NUMBER_INFO2`. */
function severityOf(value: number | string | undefined): string | undefined {
  if (typeof value === 'string') return /[A-Z]+(?=\d?$)/.exec(value)?.[0];
  return severities[Math.floor(((value ?? 0) - 1) / 4)];
}

function numberCell(value: number | string | undefined): Cell | undefined {
  return typeof value === 'number' && value > 0 ? cellOf({ intValue: value }) : undefined;
}
