/** Reason for a value or a name that differs from a page: a part of the page's name, the column if it is one of several, the reason. */
interface Reason {
  readonly page: string;
  readonly column?: string;
  readonly why: string;
}

const wrong = 'the printed value does not follow from the printed input';

const ofValues: readonly Reason[] = [
  { page: 'array-functions/bag-keys', why: 'the page prints a map without quotes' },
  { page: 'datetime-functions/endofday', why: 'the page counts whole seconds' },
  { page: 'mathematical-functions/isfinite', why: 'D-number-3' },
  { page: 'mathematical-functions/set-difference', why: 'D-array-1' },
  { page: 'string-functions/gettype', why: 'the field is a real in the sample' },
  {
    page: 'string-functions/trim-start',
    why: 'the text of the page: a set of characters; the printed value keeps two of them',
  },
  {
    page: 'string-functions/replace',
    why: 'the text of the page: all matches; the printed value replaces one',
  },
  {
    page: 'string-functions/extract-all',
    why: 'the text of the page: all matches; the printed value leaves one out',
  },
  { page: 'time-series/series-fir', why: 'D-series-7' },
  { page: 'time-series/series-iir', why: 'D-series-8' },
  {
    page: 'time-series/series-equals',
    why: 'the durations of the query are nanoseconds, the printed ones milliseconds',
  },
  {
    page: 'time-series/series-fill-backward',
    why: 'the text of the page: the next value; the printed one is the value before',
  },
  ...[
    'mathematical-functions/loggamma',
    'string-functions/countof',
    'string-functions/indexof',
    'string-functions/isnotempty',
    'string-functions/parse-urlquery',
    'string-functions/string-size',
    'string-functions/strrep',
    'string-functions/substring',
    'time-series/series-acos',
    'time-series/series-cos',
    'time-series/series-pow',
    'time-series/series-sin',
    'time-series/series-tan',
  ].map(page => ({ page, why: wrong })),
];

const ofNames: readonly Reason[] = [
  {
    page: 'aggregation-function/histogram',
    why: 'the page prints the table that the console makes of a histogram',
  },
  { page: 'aggregation-function/percentiles-array', why: 'D-operator-48' },
  { page: 'aggregation-function/phrases', why: 'D-operator-49' },
  { page: 'tabular-operators/make-series', why: 'D-operator-18' },
  { page: 'aggregation-function/', why: 'D-operator-9' },
  { page: '', column: 'count', why: 'D-operator-9' },
];

/** Returns why a printed value differs; undefined if no reason is recorded. */
export function reasonOfValue(page: string): string | undefined {
  return ofValues.find(each => page.includes(each.page))?.why;
}

/** Returns why a printed column has another name. */
export function reasonOfName(page: string, column: string): string {
  const found = ofNames.find(
    each => page.includes(each.page) && (each.column === undefined || each.column === column),
  );
  return found?.why ?? 'the query on the page does not produce it';
}

/** Returns why an example is refused: the message, or that it is only part of a query. */
export function reasonOfRefusal(message: string): string {
  return /^(unknown field|the query starts with an operator|expected|unknown operator)/.test(message)
    ? 'a part of a query, or a sketch of one'
    : message;
}
