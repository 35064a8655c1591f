import type { Deployment } from '../../kernel/local/trino/protocol/statement.js';

/** A deployment of a cluster at an address, over the tables of its memory. */
export function deploymentAt(url: string, more: Partial<Deployment> = {}): Deployment {
  return {
    profileName: 'lake',
    url,
    engine: {
      name: 'trino',
      user: 'me',
      usesPassword: false,
      catalog: 'memory',
      schema: 'default',
      approximate: false,
    },
    ...more,
  };
}
