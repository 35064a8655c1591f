import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { readStarredQuery, type StarredQuery } from '../../api/wire.js';
import { ServiceError } from '../http/service-error.js';
import { emptyWhenMissing, removeLeftovers, replaceFile } from './files.js';

/** A starred query as it is stored: always with an id. */
export type StoredQuery = StarredQuery & { readonly id: string };

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

/** The starred queries under `<dataDir>/starred`: one JSON file each, replaced as a whole, so that they can be reviewed and committed. */
export class StarredStore {
  readonly #directory: string;
  readonly #self: string;

  /** `self` is the user whose queries are "one's own". */
  constructor(dataDir: string, self: string) {
    this.#directory = path.join(dataDir, 'starred');
    this.#self = self;
  }

  /** Returns the queries that pass the filter, sorted by name. */
  async list(filter: StarredFilter): Promise<StoredQuery[]> {
    await removeLeftovers(this.#directory);
    const names = await readdir(this.#directory).catch(emptyWhenMissing);
    const ids = names.flatMap(name => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []));
    const queries = await Promise.all(ids.filter(isId).map(id => this.#read(id)));
    return queries
      .filter(query => query !== undefined)
      .filter(query => this.#passes(query, filter))
      .sort((a, b) => inOrder(a.name, b.name) || inOrder(a.id, b.id))
      .slice(filter.offset, filter.offset + filter.limit);
  }

  /** Stores a query under a new id. */
  async create(query: StarredQuery): Promise<StoredQuery> {
    return this.#write(crypto.randomUUID().replaceAll('-', ''), query);
  }

  /** Returns one query; throws ServiceError (404) when there is none. */
  async get(id: string): Promise<StoredQuery> {
    const query = isId(id) ? await this.#read(id) : undefined;
    if (!query) throw unknownQuery(id);
    return query;
  }

  /** Replaces a query; throws ServiceError (404) when there is none. */
  async replace(id: string, query: StarredQuery): Promise<StoredQuery> {
    await this.get(id);
    return this.#write(id, query);
  }

  /** Deletes a query; throws ServiceError (404) when there is none. */
  async remove(id: string): Promise<void> {
    await this.get(id);
    await rm(this.#file(id), { force: true });
  }

  #passes(query: StoredQuery, { dataset, who, qs }: StarredFilter): boolean {
    const owner = who === undefined || who === '' ? this.#self : who;
    const everyone = owner === 'all' || owner === 'team';
    const text = `${query.name}\n${query.query.apl}`.toLowerCase();
    return (
      (everyone || query.who === owner || query.who === '') &&
      (dataset === undefined || query.dataset === dataset) &&
      (qs === undefined || text.includes(qs.toLowerCase()))
    );
  }

  async #read(id: string): Promise<StoredQuery | undefined> {
    try {
      return { ...readStarredQuery(JSON.parse(await readFile(this.#file(id), 'utf8'))), id };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new ServiceError(
        500,
        'starred-unreadable',
        `The starred query ${id} cannot be read: ${this.#file(id)}`,
        {
          hint: 'Repair the file or delete it.',
          cause: error,
        },
      );
    }
  }

  async #write(id: string, query: StarredQuery): Promise<StoredQuery> {
    const stored = { ...query, id };
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await replaceFile(this.#file(id), `${JSON.stringify(stored, null, 2)}\n`);
    return stored;
  }

  #file(id: string): string {
    return path.join(this.#directory, `${id}.json`);
  }
}

/** An id is a file name and nothing else. */
function isId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id);
}

function unknownQuery(id: string): ServiceError {
  return new ServiceError(404, 'starred-not-found', `There is no starred query ${JSON.stringify(id)}.`, {
    hint: 'A new one is created with POST, or `%star --new`.',
  });
}

/** Letters of either case together, the same on every machine. */
function inOrder(a: string, b: string): number {
  const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()];
  if (lowA !== lowB) return lowA < lowB ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
