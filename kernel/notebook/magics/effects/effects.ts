/** One kind of effect that a magic has beyond its own notebook. */
interface EffectRow {
  /** Whether the user is asked the first time. */
  readonly asks: boolean;
  /** Completes "a magic …". */
  readonly does: string;
  /** Whether cells added by agents may have it. */
  readonly forAgents?: true;
}

/** Everything that a notebook may do beyond showing results. */
export const effects = {
  query: {
    asks: false,
    does: 'sends queries and metadata requests to the service of the current profile',
    forAgents: true,
  },
  profile: {
    asks: true,
    does: 'sends queries to a service other than the one the session started on, with your token for it; every result names the profile',
  },
  login: {
    asks: false,
    does: 'shows the sign-in page of a service, and stores its token on this machine for your kernels',
  },
  logout: { asks: true, does: 'signs out of a service that no cell of the session signed in to' },
  history: { asks: false, does: 'shows queries of other notebooks on this machine' },
  read: {
    asks: false,
    does: 'imports a file into a dataset, but never a hidden file, a file in a hidden directory, a key or a token',
  },
  download: {
    asks: true,
    does: 'downloads a file of at most 2 GB from an https address, and from no other host',
  },
  bucket: {
    asks: true,
    does: 'creates a dataset from a bucket, which queries then read with your credentials and at your cost',
  },
  publish: {
    asks: true,
    does: 'writes the rows of a dataset to a bucket, with your credentials and at your cost',
  },
  write: {
    asks: false,
    does: 'writes a new file, or adds a dataset, a starred query or an annotation on this machine',
  },
  overwrite: {
    asks: true,
    does: 'replaces a file, a recording or a starred query that no cell of the session wrote, or writes into a hidden directory',
  },
  config: { asks: true, does: 'changes settings of other notebooks' },
  drop: {
    asks: true,
    does: 'deletes a dataset or its rows, a starred query or an annotation that no cell of the session created',
  },
  agents: {
    asks: true,
    does: 'lets agents on this machine add read-only cells to the notebook and receive their results',
  },
  send: {
    asks: true,
    does: 'stores a query or an annotation on a hosted service, visible to the whole organization',
  },
} as const satisfies Readonly<Record<string, EffectRow>>;

export type Effect = keyof typeof effects;

/** The name of an effect that needs consent. */
export type AskedEffect = {
  readonly [Name in Effect]: (typeof effects)[Name]['asks'] extends true ? Name : never;
}[Effect];

/** The effects that need consent, in the order of the table. */
export const askedEffects: readonly AskedEffect[] = (Object.keys(effects) as Effect[]).filter(isAsked);

function isAsked(name: Effect): name is AskedEffect {
  return effects[name].asks;
}

/** Parses a list of effects such as `overwrite,drop`; `unknown` is the first name that is not one. */
export function readEffects(text: string): {
  readonly named: readonly AskedEffect[];
  readonly unknown?: string;
} {
  const words = text.split(',').map(word => word.trim());
  const named = askedEffects.filter(name => words.includes(name));
  const unknown = words.find(word => word !== '' && !named.some(name => name === word));
  return unknown === undefined ? { named } : { named, unknown };
}

/** Reports a name in `APL_KERNEL_ALLOW` that is not an effect; the remaining ones are allowed. */
export function unknownAllowed(name: string): string {
  return `APL_KERNEL_ALLOW: ${name} is not an effect that can be allowed; the effects are ${askedEffects.join(', ')}.`;
}

/** Returns a Markdown table of what a notebook may do: each effect, whether it needs consent, and the magics that have it. */
export function effectReference(
  magics: readonly { readonly name: string; readonly effects: readonly Effect[] }[],
): string {
  const rows = (Object.keys(effects) as Effect[]).map(name => {
    const those = magics.filter(magic => magic.effects.includes(name)).map(magic => `\`%${magic.name}\``);
    const { asks, does } = effects[name];
    return `| \`${name}\` | ${does} | ${asks ? 'asks' : ''} | ${those.join(', ')} |`;
  });
  return ['| effect | description | consent | magics |', '|---|---|---|---|', ...rows].join('\n');
}
