import type { StarredQuery } from '../../../api/wire.js';
import { inDataDir } from '../../data-layout.js';
import { readWholeStar } from './contents.js';
import { Documents, type Listing, type Stored } from './documents.js';

/**
 * Filter for starred queries. `who`: undefined for one's own, `all` or `team` for everyone's, otherwise a user. `qs` is a search string.
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

  /** `self` is the current user. */
  constructor(dataDir: string, self: string) {
    this.#queries = new Documents(inDataDir(dataDir, 'starred'), {
      name: 'starred query',
      names: 'starred queries',
      prefix: '',
      read: readWholeStar,
      deletedBy: '%unstar',
      unknown: {
        code: 'starred-not-found',
        hint: 'Create a new one with POST or `%star --new`.',
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

  /** Returns a query; throws LocalError (`not-found`) if it does not exist. */
  get(id: string): Promise<Stored<StarredQuery>> {
    return this.#queries.get(id);
  }

  /** Replaces a query; throws LocalError (`not-found`) if it does not exist. */
  replace(id: string, query: StarredQuery): Promise<Stored<StarredQuery>> {
    return this.#queries.replace(id, () => query);
  }

  /** Deletes a query; throws LocalError (`not-found`) if it does not exist. */
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

/** Compares ignoring case first, with the same result on every machine. */
function inOrder(a: string, b: string): number {
  const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()];
  if (lowA !== lowB) return lowA < lowB ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
