import { eventTimeNs } from '../../functions/event-time.js';
import type { FunctionFamily } from '../template.js';

/** What the import of events needs of JavaScript: the times that the engine cannot read. */
export const eventFamily: FunctionFamily = {
  setup: [],
  inPlace: true,
  udfs: [{ name: 'apl_event_time', params: ['VARCHAR', 'BIGINT'], returns: 'BIGINT', run: eventTimeNs }],
};
