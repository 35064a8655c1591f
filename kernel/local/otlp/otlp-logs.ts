import { type Cell, cellOf, idOf, type OtlpEvent, textCell, timeOf } from './otlp-cells.js';
import { cellsOf, sharedCells } from './otlp-fields.js';
import type { LogRecord, Sourced } from './otlp-protocol.js';

/** Four numbers each, from 1 on. */
const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** Returns a log record as an event; one without a time has that of when it was observed. */
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

/** In JSON, the number may be a name such as `SEVERITY_NUMBER_INFO2`. */
function severityOf(value: number | string | undefined): string | undefined {
  if (typeof value === 'string') return /[A-Z]+(?=\d?$)/.exec(value)?.[0];
  return severities[Math.floor(((value ?? 0) - 1) / 4)];
}

function numberCell(value: number | string | undefined): Cell | undefined {
  return typeof value === 'number' && value > 0 ? cellOf({ intValue: value }) : undefined;
}
