import { eventTimeNs } from '../../functions/event-time.js';
import type { FunctionFamily } from '../template.js';

/** The JavaScript functions for the import of events: times that the engine cannot read. */
export const eventFamily: FunctionFamily = {
  setup: [],
  inPlace: true,
  udfs: [{ name: 'apl_event_time', params: ['VARCHAR', 'BIGINT'], returns: 'BIGINT', run: eventTimeNs }],
};
