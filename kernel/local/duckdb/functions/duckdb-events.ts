import { eventTimeNs } from '../../functions/event-time.js';
import { dateOrdersOf } from '../../functions/function-date-order.js';
import type { FunctionFamily } from '../duckdb-template.js';

/** JavaScript functions for the import of events: timestamps that the engine cannot parse. */
export const eventFamily: FunctionFamily = {
  setup: [],
  inPlace: true,
  udfs: [
    { name: 'apl_event_time', params: ['VARCHAR', 'BIGINT', 'VARCHAR'], returns: 'BIGINT', run: eventTimeNs },
    { name: 'apl_date_orders', params: ['VARCHAR'], returns: 'BIGINT', run: dateOrdersOf },
  ],
};
