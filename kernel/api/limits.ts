import { formatCount } from '../text.js';
import { formatTime, SECOND } from '../time.js';
import { headerText, type Refusal } from './failure.js';

/** The query limit is near when this share of it, or less, is left. */
const nearShare = 0.1;

/** Returns what to say of the query limit of the plan when little of it is left; undefined when it is not near, or not in the headers. */
export function nearLimit(headers: Refusal['headers']): string | undefined {
  const number = (member: string) => wholeNumber(headerText(headers, `x-querylimit-${member}`));
  const [limit, remaining, reset] = [number('limit'), number('remaining'), number('reset')];
  if (limit === undefined || remaining === undefined || remaining > limit * nearShare) return undefined;
  const left = `Only ${formatCount(remaining)} of ${formatCount(limit)} GB·ms of the query limit of the plan are left`;
  const until = resetText(reset);
  return until === undefined ? `${left}.` : `${left}; it resets at ${until}.`;
}

/** Anything else in a header, which a proxy may have written, is no number. */
function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The time of so many seconds since 1970; undefined when it has no year of four digits. */
function resetText(seconds: number | undefined): string | undefined {
  if (seconds === undefined || seconds === 0 || seconds >= 9_000_000_000) return undefined;
  return formatTime(BigInt(seconds) * SECOND, 'fewest');
}
