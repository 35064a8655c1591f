import { formatCount } from '../../text.js';
import { formatTime } from '../../time.js';
import { headerText, type Refusal } from '../failures/api-failure.js';
import { readReset } from './reset.js';

/** The query limit is near when this share of it, or less, is left. */
const nearShare = 0.1;

/** Returns what to say of the query limit of the plan when little of it is left; undefined when it is not near, or not in the headers. */
export function nearLimit(headers: Refusal['headers']): string | undefined {
  const number = (member: string) => wholeNumber(headerText(headers, `x-querylimit-${member}`));
  const [limit, remaining] = [number('limit'), number('remaining')];
  if (limit === undefined || remaining === undefined || remaining > limit * nearShare) return undefined;
  const left = `Only ${formatCount(remaining)} of ${formatCount(limit)} GB·ms of the query limit of the plan are left`;
  const until = resetText(headers);
  return until === undefined ? `${left}.` : `${left}; it resets at ${until}.`;
}

/** Anything else in a header, which a proxy may have written, is not a number. */
function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** When the limit of an answer is lifted; undefined if it does not say. */
function resetText(headers: Refusal['headers']): string | undefined {
  const reset = readReset(headerText(headers, 'x-querylimit-reset'));
  if (reset === undefined || ('after' in reset && reset.after === 0)) return undefined;
  const at = 'at' in reset ? reset.at : Date.now() + reset.after;
  return formatTime(BigInt(Math.round(at)) * 1_000_000n, 'fewest');
}
