import type { Profile } from '../../api/profile.js';
import { AplKernelError } from '../../errors.js';
import { Statements } from './protocol/statement.js';
import { Tables } from './trino-catalog.js';

/** Result of querying a cluster for its tables: their number, or the failure. */
export interface ClusterProbe {
  readonly name: string;
  readonly outcome: { readonly tables: number; readonly place: string } | AplKernelError;
}

/** Queries each cluster among the profiles for its tables, with `limitMs` as the time limit for each. */
export async function probeClusters(
  profiles: readonly Profile[],
  limitMs: number,
): Promise<readonly ClusterProbe[]> {
  const probes = profiles.map(async (profile): Promise<readonly ClusterProbe[]> => {
    if ('refusal' in profile || profile.engine === undefined) return [];
    const { engine, profileName: name } = profile;
    const statements = new Statements({ ...profile, engine }, { retryMs: 10, stallMs: limitMs });
    try {
      const catalog = await new Tables(statements).catalog({ limitMs });
      const place = `${engine.catalog}.${engine.schema}`;
      return [{ name, outcome: { tables: catalog.names().length, place } }];
    } catch (error) {
      if (!(error instanceof AplKernelError)) throw error;
      return [{ name, outcome: error }];
    } finally {
      await statements.close();
    }
  });
  return (await Promise.all(probes)).flat();
}
