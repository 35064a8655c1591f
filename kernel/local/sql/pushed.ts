import type { Column, Columns, Relation } from '../../apl/plan/plan.js';
import { mapInputs } from '../../apl/plan/plan-walk.js';
import { present } from '../../present.js';
import type { FarSource } from './compiled-query.js';
import type { Dialect } from './dialect.js';
import { nothingKnown, relationSql, type Source } from './relation.js';
import {
  type FarAbility,
  type FarRelation,
  firstOfMost,
  narrowed,
  rowsAtMost,
  split,
} from './rewrite/split.js';
import { type SqlContext, TemplateError } from './sql-template.js';

/** The target of a statement. */
export interface StatementTarget {
  readonly window: SqlContext;
  readonly source: Source;
  readonly dialect: Dialect;
  readonly columns: Columns;
  /** The external engine that stores some of the datasets. */
  readonly far?: FarSource;
}

/** Returns the SELECT of a statement, over the parts that a far engine computes. Repeated calls return the same SQL. */
export function statementSql(
  relation: Relation,
  target: StatementTarget,
  shown: readonly Column[] = relation.columns,
): string {
  const { window, source, dialect, far } = target;
  const made = target.columns.fork();
  if (far === undefined) return relationSql(relation, window, source, dialect, made, shown);
  const { rest, rows } = pushed(relation, { ...target, columns: made, far });
  const scan: Source['scan'] = (name, fields, start, end, filter) =>
    rows.get(name)?.(fields, filter) ?? source.scan(name, fields, start, end, filter);
  const own = (name: string): boolean => rows.has(name);
  return relationSql(
    rest,
    window,
    {
      scan,
      rowGroups: (name, ...range) => (own(name) ? [] : source.rowGroups(name, ...range)),
      rowCount: (name, ...range) => (own(name) ? undefined : source.rowCount(name, ...range)),
      textLists: name => (own(name) ? new Set() : source.textLists(name)),
      bounds: name => (own(name) ? undefined : source.bounds(name)),
    },
    dialect,
    made,
    shown,
  );
}

type FarTarget = Required<StatementTarget>;

interface PushedQuery {
  readonly rest: Relation;
  /** Scans the rows of each part, by the name under which the rest reads them. */
  readonly rows: ReadonlyMap<string, ReturnType<FarSource['rows']>>;
}

/**
 * Writes the parts for the far engine. A part that it refuses as a whole, despite having SQL for each of its relations, is made smaller.
 */
function pushed(relation: Relation, target: FarTarget): PushedQuery {
  const { columns, far } = target;
  const query = narrowed(relation, columns);
  const ability = abilityOf(target);
  const kept = new Set<Relation>();
  for (;;) {
    const { rest, parts } = split(query, ability, columns, kept);
    const written = parts.map(part => [part, partSql(part, target)] as const);
    const refused = written.find(([, sql]) => sql instanceof TemplateError);
    if (refused === undefined) {
      const rows = written.map(([part, sql]) => {
        const { name, because } = part;
        const fields = part.relation.columns.map(({ id, type }) => ({ name: `c${id}`, type }));
        const mostRows = rowsAtMost(part.relation, far.mostRows);
        return [name, far.rows({ sql: String(sql), fields, mostRows, ...present({ because }) })] as const;
      });
      return { rest, rows: new Map(rows) };
    }
    const [{ top }, error] = refused;
    if (top === undefined || kept.has(top)) throw error;
    kept.add(top);
  }
}

function partSql(
  { relation }: FarRelation,
  { window, source, columns, far }: FarTarget,
): string | TemplateError {
  const scan: Source['scan'] = (name, fields, start, end, filter) =>
    far.scan?.(name, fields, filter) ?? source.scan(name, fields, start, end, filter);
  try {
    return relationSql(
      firstOfMost(relation, far.mostRows),
      window,
      { ...source, scan },
      far.dialect,
      columns.fork(),
      relation.columns,
    );
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

function abilityOf({ window, far, columns }: FarTarget): FarAbility {
  return {
    sideOf: leaf => far.sideOf(leaf),
    refusal: relation => {
      const alone = mapInputs(relation, standIn);
      try {
        relationSql(alone, window, anything, far.dialect, columns.fork());
      } catch (error) {
        if (error instanceof TemplateError) return notHere.exec(error.message)?.[1] ?? '';
        throw error;
      }
      return undefined;
    },
  };
}

/** Start of a dialect's message about a feature that its engine lacks. */
const notHere = /^(.+?) is not available (?:here|on)\b/;

/** Returns a placeholder for an input, to test which relations the engine has SQL for. */
function standIn({ columns }: Relation): Relation {
  const fields = columns.map(({ id }) => `c${id}`);
  return { kind: 'scan', dataset: '', fields, start: 0n, end: 0n, columns };
}

const anything: Source = {
  ...nothingKnown,
  scan: (_name, fields, _start, _end, filter) => {
    filter?.sql(fields);
    return 'SELECT NULL';
  },
};
