/** Fixes for argument counts that have a meaning in other languages. */
export const countFixes: Readonly<Record<string, (args: readonly string[]) => string | undefined>> = {
  bin: ([size = '', ...rest]) => (rest.length === 0 && /^\d/.test(size) ? `bin(_time, ${size})` : undefined),
  bin_auto: args => (args.length === 0 ? 'bin_auto(_time)' : undefined),
  isnull: ([value = '', other = '', ...rest]) =>
    rest.length === 0 && other !== '' ? `coalesce(${value}, ${other})` : undefined,
  topk: ([value = '', ...rest]) => (value !== '' && rest.length === 0 ? `topk(${value}, 10)` : undefined),
  count: ([condition = '', ...rest]) =>
    rest.length === 0 && /^(?:1|\*)$/.test(condition)
      ? 'count()'
      : rest.length === 0 && /[=<>]| (?:and|or|has|in|contains|startswith) /.test(condition)
        ? `countif(${condition})`
        : undefined,
};

/** Hints for argument counts that have a meaning in other languages. */
export const countHints: Readonly<Record<string, (count: number) => string | undefined>> = {
  bin: count => (count === 1 ? 'Write bin(_time, 5m): the value to round comes first.' : undefined),
  bin_auto: count => (count === 2 ? 'Write bin(_time, 5m) for a custom width.' : undefined),
  count: () => '`countif(condition)` counts matching rows, and `dcount(field)` counts distinct values.',
  split: count => (count === 3 ? 'Write split(text, delimiter)[0] for one part.' : undefined),
  countof: count => (count === 3 ? 'countof_regex(regex, text) counts the matches of a pattern.' : undefined),
  extract: count => (count === 4 ? 'Convert the result: toint(extract(regex, 1, text)).' : undefined),
  format_ipv4: count => (count === 2 ? 'Write format_ipv4_mask(ip, prefix).' : undefined),
  percentile: count => (count > 2 ? 'Write percentiles_array(x, 50, 95) for several.' : undefined),
};

/** Returns `percentile(x, 95)` for `percentile(95, x)`, also for a fraction; undefined for any other call. */
export function swappedPercentile(name: string, [first = '', second = '', ...rest]: readonly string[]) {
  if (!name.startsWith('percentile') || rest.length > 0 || !/^\d*\.?\d+$/.test(first)) return undefined;
  const percent = Number(first) < 1 ? Number((Number(first) * 100).toPrecision(12)) : first;
  return `${name}(${second}, ${percent})`;
}
