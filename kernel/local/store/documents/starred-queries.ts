import type { StarredQuery } from '../../../api/wire.js';
import { inDataDir } from '../../data-layout.js';
import { readWholeStar } from './contents.js';
import { Documents, type Listing, type Stored } from './documents.js';

/**
 * Which starred queries to list. `who`: one's own when absent, everyone's for `all` and `team`, else those of that user. `qs` is
 * a search text.
 */
export interface StarredFilter {
  readonly limit: number;
  readonly offset: number;
  readonly dataset?: string;
  readonly who?: string;
  readonly qs?: string;
}

/** The starred queries under `<dataDir>/starred`. */
export class StarredStore {
  readonly #queries: Documents<StarredQuery>;
  readonly #self: string;

  /** `self` is the user whose queries are "one's own". */
  constructor(dataDir: string, self: string) {
    this.#queries = new Documents(inDataDir(dataDir, 'starred'), {
      name: 'starred query',
      names: 'starred queries',
      prefix: '',
      read: readWholeStar,
      deletedBy: '%unstar',
      unknown: {
        code: 'starred-not-found',
        hint: 'A new one is created with POST, or `%star --new`.',
      },
      unreadable: 'starred-unreadable',
    });
    this.#self = self;
  }

  /** Returns the queries that pass the filter, sorted by name. */
  async list(filter: StarredFilter): Promise<Listing<StarredQuery>> {
    const { documents, damages } = await this.#queries.list();
    const found = documents
      .filter(query => this.#passes(query, filter))
      .sort((a, b) => inOrder(a.name, b.name) || inOrder(a.id, b.id))
      .slice(filter.offset, filter.offset + filter.limit);
    return { documents: found, damages };
  }

  /** Stores a query under a new id. */
  create(query: StarredQuery): Promise<Stored<StarredQuery>> {
    return this.#queries.create(query);
  }

  /** Returns one query; throws LocalError (`not-found`) when there is none. */
  get(id: string): Promise<Stored<StarredQuery>> {
    return this.#queries.get(id);
  }

  /** Replaces a query; throws LocalError (`not-found`) when there is none. */
  replace(id: string, query: StarredQuery): Promise<Stored<StarredQuery>> {
    return this.#queries.replace(id, () => query);
  }

  /** Deletes a query; throws LocalError (`not-found`) when there is none. */
  remove(id: string): Promise<void> {
    return this.#queries.remove(id);
  }

  #passes(query: StarredQuery, { dataset, who, qs }: StarredFilter): boolean {
    const owner = who === undefined || who === '' ? this.#self : who;
    const everyone = owner === 'all' || owner === 'team';
    const text = `${query.name}\n${query.query.apl}`.toLowerCase();
    return (
      (everyone || query.who === owner || query.who === '') &&
      (dataset === undefined || query.dataset === dataset) &&
      (qs === undefined || text.includes(qs.toLowerCase()))
    );
  }
}

/** Letters of either case together, the same on every machine. */
function inOrder(a: string, b: string): number {
  const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()];
  if (lowA !== lowB) return lowA < lowB ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
