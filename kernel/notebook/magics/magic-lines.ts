/** Effects of a magic's lines on the cells of a notebook; the rest of its row is next to its action, in a family. */
interface LineRow {
  readonly aliases?: readonly string[];
  /** `%%name` applies it to its own cell. */
  readonly perCell?: true;
  /** Whether it applies to the queries below it. */
  readonly sets?: true;
  /** Whether it applies only to the queries of its own cell. */
  readonly ofCell?: true;
  /** Whether it only sets or shows something: a cell of such lines and queries can run any number of times. */
  readonly repeats?: true;
  /** The option that prompts the user for a value: a line with it does not run unattended. */
  readonly prompts?: string;
}

const rows = {
  time: { perCell: true, sets: true, repeats: true },
  limit: { perCell: true, sets: true, repeats: true },
  rows: { perCell: true, sets: true, repeats: true },
  retain: { perCell: true, sets: true, repeats: true },
  request: { perCell: true, sets: true, repeats: true },
  fetch: { perCell: true, ofCell: true, repeats: true },
  param: { sets: true, repeats: true, prompts: 'prompt' },
  params: { repeats: true },
  'show-query': { repeats: true },
  assert: { repeats: true },
  diff: { repeats: true },
  compare: { repeats: true },
  explain: { perCell: true, repeats: true },
  around: { perCell: true, repeats: true },
  patterns: { repeats: true },
  // Adds a cell below.
  investigate: {},
  trace: { repeats: true },
  // Waits until stopped.
  tail: { perCell: true },
  cache: {},
  agents: {},
  history: { repeats: true },
  // The number of a query refers to another query in a different history.
  rerun: {},
  use: { aliases: ['connect', 'on'], perCell: true, sets: true, repeats: true, prompts: 'token' },
  whoami: { repeats: true },
  link: { repeats: true },
  login: {},
  logout: {},
  datasets: { repeats: true },
  schema: { aliases: ['fields'], repeats: true },
  peek: { repeats: true },
  drop: {},
  import: {},
  publish: {},
  export: {},
  results: {},
  viz: { aliases: ['chart'], repeats: true },
  annotate: {},
  star: {},
  stars: { repeats: true },
  run: { repeats: true },
  load: {},
  unstar: {},
  config: {},
  bugreport: {},
  help: { repeats: true },
  lsmagic: { repeats: true },
  version: { repeats: true },
  echo: { repeats: true },
  apl: { perCell: true, repeats: true },
} as const satisfies Readonly<Record<string, LineRow>>;

/** The name of a magic, not an alias. */
export type MagicName = keyof typeof rows;

/** Effects of each magic's lines, by name. Also runs in the browser. */
export const magicLines: Readonly<Record<MagicName, LineRow>> = rows;

const named = new Map(
  Object.entries<LineRow>(rows).flatMap(([name, row]) =>
    [name, ...(row.aliases ?? [])].map(each => [each, name as MagicName] as const),
  ),
);

/** Every name and alias that a magic line may begin with. */
export const magicWords: readonly string[] = [...named.keys()];

/** Returns the name of a magic, given its name or an alias in any case; undefined if there is none. */
export function magicNamed(word: string): MagicName | undefined {
  return named.get(word.toLowerCase());
}
