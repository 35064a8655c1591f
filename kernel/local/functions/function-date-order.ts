import { dateOrders } from '../../time.js';
import { timeNs } from './time-text.js';

/** Bits for the date order of a string: the orders that yield a time, whether it has dots, and whether these times differ. */
export const orderBits = { dmy: 1, mdy: 2, ymd: 4, any: 7, dots: 8, differ: 16 } as const;

const numbered = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;

/** Returns whether a string begins with a date whose order is ambiguous without other dates. */
export function isNumbered(text: string): boolean {
  return numbered.test(text);
}

/** Parses a string that begins with a numeric date to nanoseconds since 1970; null if the order does not fit. */
export function orderedNs(text: string, order: string): bigint | null {
  const [date, first = '', , second = '', third = ''] = numbered.exec(text) ?? [];
  if (date === undefined) return null;
  const parts = [first, second, third];
  const part = (name: string) => parts[order.indexOf(name)] ?? '';
  if (part('y').length === 1 || part('d').length > 2) return null;
  const iso = `${fullYear(part('y'))}-${part('m').padStart(2, '0')}-${part('d').padStart(2, '0')}`;
  // cPanel writes a colon before the time of day.
  return timeNs(`${iso}${text.slice(date.length).replace(/^:/, ' ')}`);
}

/** Returns the {@link orderBits} of a string; 0 if it is not a valid numeric date. */
export function dateOrdersOf(text: string): bigint {
  const bare = bareTime(text);
  const times = dateOrders.flatMap(order => {
    const ns = orderedNs(bare, order);
    return ns === null ? [] : [{ bit: orderBits[order], ns }];
  });
  if (times.length === 0) return 0n;
  const dots = /^\d+\./.test(bare) ? orderBits.dots : 0;
  const differ = new Set(times.map(({ ns }) => ns)).size > 1 ? orderBits.differ : 0;
  return BigInt(times.reduce((bits, { bit }) => bits | bit, dots | differ));
}

/** Returns a timestamp without surrounding blanks and brackets. */
export function bareTime(text: string): string {
  return text.trim().replace(/^\[(.*)\]$/, '$1');
}

/** Expands two digits as in POSIX: 69 to 99 are 19xx. */
function fullYear(text: string): string {
  if (text.length !== 2) return text;
  return Number(text) < 69 ? `20${text}` : `19${text}`;
}
