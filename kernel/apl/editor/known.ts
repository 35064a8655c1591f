import { present } from '../../present.js';
import { bind } from '../bind/bind.js';
import type { BindEnvironment, DatasetSchema, FieldSchema } from '../plan/plan.js';
import { type CellQuery, parseCell } from '../syntax/cell.js';
import { parseQuery } from '../syntax/parse.js';
import type { MagicSyntax } from '../syntax/syntax-magic.js';
import { readParamLine } from '../syntax/syntax-parameters.js';
import type { EditorEnvironment } from './completion/complete.js';

/** The facts about a magic that an editor needs. */
export interface MagicFacts extends MagicSyntax {
  readonly aliases: readonly string[];
  /** Markdown. */
  readonly help: string;
  readonly perCell?: boolean;
  readonly verbatim?: boolean;
}

/** Facts about its session that a kernel sends to an editor: plain data, as transmitted. */
export interface KernelFacts {
  readonly profile: string;
  /** True if every field is known, so an unknown one is an error. */
  readonly exact: boolean;
  readonly datasets: readonly string[];
  readonly results: readonly { readonly name: string; readonly fields: readonly FieldSchema[] }[];
  /** Parameters of the notebook: values as JSON, null if not yet set; `tables` names those that are tables. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly tables: readonly string[];
  readonly magics: readonly MagicFacts[];
}

/** An editor's knowledge at one time; without `facts` there is no kernel, and any name may be valid. */
export interface Knowledge extends Pick<EditorEnvironment, 'mapKeys' | 'values'> {
  readonly facts?: KernelFacts;
  /** Returns the fields of a dataset; undefined until they are known. */
  readonly fields: (dataset: string) => readonly FieldSchema[] | undefined;
  /** Nanoseconds since 1970. */
  readonly now: bigint;
}

/**
 * Returns the environment for binding and completion. The fields of a stored result are from its last run; since a cell above may have
 * changed, unknown ones are not errors.
 */
export function environmentOf({ facts, fields, now, mapKeys, values }: Knowledge): EditorEnvironment {
  const datasets = facts?.datasets ?? [];
  const results = new Map(
    (facts?.results ?? []).map(({ name, fields: known }) => [name, someFields(name, known)]),
  );
  if (facts !== undefined && !results.has('_')) results.set('_', anyFields('_'));
  const schema = (name: string): DatasetSchema | undefined => {
    if (facts === undefined) return anyFields(name);
    if (datasets.includes(name)) {
      const known = fields(name);
      return known === undefined ? anyFields(name) : { name, fields: known, open: !facts.exact };
    }
    return facts.tables.includes(name) ? anyFields(name) : undefined;
  };
  return {
    schema,
    datasets: () => datasets,
    results,
    ...{ now, start: now, end: now, variables: facts?.variables ?? {}, autoBin: 1n },
    // Only the local service knows every field of its datasets.
    hasAllFunctions: facts?.exact !== true,
    external: () => ({ ok: true, path: '' }),
    ...present({ mapKeys, values }),
  };
}

/** Returns a dataset known only by name. */
export function anyFields(name: string): DatasetSchema {
  return someFields(name, []);
}

function someFields(name: string, fields: readonly FieldSchema[]): DatasetSchema {
  return { name, fields, open: true };
}

/** Returns the environment with results known only by name. */
export function withNames<T extends BindEnvironment>(names: Iterable<string>, environment: T): T {
  const unknown = [...names].map(name => [name, anyFields(name)] as const);
  return { ...environment, results: new Map([...unknown, ...(environment.results ?? [])]) };
}

/** Returns the environment with the parameters that a cell sets, or declares for the cells after it. */
export function withParameters<T extends BindEnvironment>(cell: string, environment: T): T {
  const names = parameterNames(cell).filter(name => !Object.hasOwn(environment.variables, name));
  if (names.length === 0) return environment;
  const unknown = Object.fromEntries(names.map(name => [name, null]));
  return { ...environment, variables: { ...unknown, ...environment.variables } };
}

/** Returns the result names in a source, as in `name << query`. */
export function resultNames(source: string): readonly string[] {
  return [...source.matchAll(/^\s*([A-Za-z_]\w*)\s*<</gm)].map(match => match[1] ?? '');
}

/** Returns the lines that name parameters, joined by line breaks. */
export function parameterLines(...sources: readonly string[]): string {
  return sources.flatMap(source => source.match(/^[ \t]*%%?param.*/gm) ?? []).join('\n');
}

/** Returns the parameter names in a source: `%param name = … other = …`. */
function parameterNames(cell: string): readonly string[] {
  return [...cell.matchAll(/^[ \t]*%%?param[ \t]+(.*)$/gm)].flatMap(([, args = '']) =>
    readParamLine(args).assignments.map(({ name }) => name),
  );
}

/** Returns the environment with the results named by the queries of a cell: `name << query`. */
export function withResults<T extends BindEnvironment>(cell: string, environment: T): T {
  const named = new Map<string, CellQuery>();
  for (const query of parseCell(cell).queries) if (query.name !== undefined) named.set(query.name, query);
  if (named.size === 0) return environment;
  const results = new Outputs(environment.results ?? new Map(), query => outputOf(query, extended));
  for (const [name, query] of named) results.add(name, query);
  const extended = { ...environment, results };
  return extended;
}

/** Results by name; results of queries are bound on first use. */
class Outputs extends Map<string, DatasetSchema> {
  readonly #pending = new Map<string, CellQuery>();
  readonly #bind: (query: CellQuery) => DatasetSchema;

  constructor(known: ReadonlyMap<string, DatasetSchema>, bindQuery: (query: CellQuery) => DatasetSchema) {
    super(known);
    this.#bind = bindQuery;
  }

  add(name: string, query: CellQuery): void {
    this.#pending.set(name, query);
    // While a query that reads itself is being bound, only its name is known.
    this.set(name, anyFields(name));
  }

  override get(name: string): DatasetSchema | undefined {
    const query = this.#pending.get(name);
    if (query !== undefined) {
      this.#pending.delete(name);
      this.set(name, this.#bind(query));
    }
    return super.get(name);
  }
}

/** Returns the result of a named query, as a dataset. */
function outputOf({ name = '', text }: CellQuery, environment: BindEnvironment): DatasetSchema {
  const { plan } = bind(parseQuery(text).query, text, environment);
  if (plan === undefined) return anyFields(name);
  const fields = plan.relation.columns.map(({ name: field, type, unit, description }) => ({
    ...{ name: field, type },
    ...present({ unit, description }),
  }));
  return { name, fields, open: false };
}
