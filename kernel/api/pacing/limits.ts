import { formatCount } from '../../text.js';
import { formatTime } from '../../time.js';
import { headerText, type Refusal } from '../failures/api-failure.js';
import { readReset } from './reset.js';

/** Remaining share of the query limit at which it counts as near. */
const nearShare = 0.1;

/** Returns a notice if the plan's query limit is near; undefined if it is not, or not in the headers. */
export function nearLimit(headers: Refusal['headers']): string | undefined {
  const number = (member: string) => wholeNumber(headerText(headers, `x-querylimit-${member}`));
  const [limit, remaining] = [number('limit'), number('remaining')];
  if (limit === undefined || remaining === undefined || remaining > limit * nearShare) return undefined;
  const left = `Only ${formatCount(remaining)} of ${formatCount(limit)} GB·ms of the query limit of the plan are left`;
  const until = resetText(headers);
  return until === undefined ? `${left}.` : `${left}; it resets at ${until}.`;
}

/** Rejects anything else in a header, which a proxy may have written. */
function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Describes when the limit resets; undefined if the response does not report it. */
function resetText(headers: Refusal['headers']): string | undefined {
  const reset = readReset(headerText(headers, 'x-querylimit-reset'));
  if (reset === undefined || ('after' in reset && reset.after === 0)) return undefined;
  const at = 'at' in reset ? reset.at : Date.now() + reset.after;
  return formatTime(BigInt(Math.round(at)) * 1_000_000n, 'fewest');
}
