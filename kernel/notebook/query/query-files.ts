import type { QueryText } from '../../apl/syntax/parse.js';
import { visitQuery } from '../../apl/syntax/syntax-walk.js';
import { UsageError } from '../../errors.js';

/** Throws UsageError for a query that reads files, which an agent misled by its input must not get. */
export function refuseFiles({ tree }: QueryText): void {
  visitQuery(tree, {
    source: source => {
      if (source.kind !== 'externaldata') return;
      throw new UsageError('option-invalid', '`externaldata` reads files, which agents may not do', {
        hint: 'import the file into a dataset with `apl-kernel import`',
      });
    },
  });
}
