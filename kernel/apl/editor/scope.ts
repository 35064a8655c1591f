import { present } from '../../present.js';
import { binderAt } from '../bind/bind.js';
import { bindPipeline } from '../bind/bind-pipeline.js';
import { bindSource } from '../bind/bind-source.js';
import type { Binder, Definition } from '../bind/binder.js';
import { originOf } from '../plan/lineage.js';
import type { BindEnvironment, Column, Relation } from '../plan/plan.js';
import type { Operator, Pipeline, Query } from '../syntax/ast.js';
import { visitQuery } from '../syntax/syntax-walk.js';
import { tokenize } from '../syntax/tokens/lexer.js';

/** The names in scope at an offset of a query. */
export interface NamesAt {
  /** Pipeline and operator around the offset. */
  readonly pipeline?: Pipeline;
  readonly operator?: Operator;
  /** Columns that the operator reads; none in a source. */
  readonly columns: readonly Column[];
  /** Columns of the table that a join or lookup adds. */
  readonly right: readonly Column[];
  /** Names from `let` statements, parameters and variables defined before the offset. */
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Returns the columns that the operator, or the source, outputs. */
  outputs(): readonly Column[];
  /** Returns the dataset that a column of `columns` or `right` comes from unchanged. */
  origin(column: Column): string | undefined;
}

/** Binds the text before `offset` and returns the names in scope there; diagnostics are ignored. */
export function namesAt(query: Query, source: string, environment: BindEnvironment, offset: number): NamesAt {
  const binder = binderAt(query, source, environment, offset);
  const { definitions } = binder;
  const pipeline = pipelineAt(query, source, offset);
  if (pipeline === undefined)
    return { columns: [], right: [], definitions, outputs: () => [], origin: () => undefined };
  // An inner pipeline's rows are known once the pipeline around it is bound.
  if (pipeline.source.kind === 'given') bindAround(binder, query, pipeline);
  const index = pipeline.operators.findLastIndex(operator => operator.word.from <= offset);
  const operator = pipeline.operators[index];
  const upTo = (count: number): Relation =>
    bindPipeline(binder, { ...pipeline, operators: pipeline.operators.slice(0, count) }).relation;
  // Many positions need no names, so the stages before them are bound on demand.
  const input = once(() => (operator === undefined ? undefined : upTo(index)));
  const right = once(() =>
    operator?.kind === 'join' || operator?.kind === 'lookup'
      ? bindSource(binder, operator.right).relation
      : undefined,
  );
  return {
    pipeline,
    ...present({ operator }),
    get columns() {
      return input()?.columns ?? [];
    },
    get right() {
      return right()?.columns ?? [];
    },
    definitions,
    outputs: () => upTo(index + 1).columns,
    origin: column => {
      for (const relation of [input(), right()]) {
        const dataset = relation === undefined ? undefined : originOf(relation, column.id);
        if (dataset !== undefined) return dataset;
      }
      return undefined;
    },
  };
}

/** Returns the innermost pipeline around `offset`; an unclosed one extends to the end. */
function pipelineAt(query: Query, source: string, offset: number): Pipeline | undefined {
  let found: Pipeline | undefined;
  const lastCode = tokenize(source.slice(0, offset)).findLast(token => token.kind !== 'comment');
  visitQuery(query, {
    pipeline: pipeline => {
      const reaches = offset <= pipeline.to || (lastCode?.to ?? 0) <= pipeline.to;
      if (pipeline.from <= offset && reaches) found = pipeline;
    },
  });
  return found;
}

/** Binds the outermost pipeline around another one. */
function bindAround(binder: Binder, query: Query, inner: Pipeline): void {
  let outermost: Pipeline | undefined;
  visitQuery(query, {
    pipeline: pipeline => {
      if (outermost === undefined && pipeline.from <= inner.from && inner.to <= pipeline.to)
        outermost = pipeline;
    },
  });
  if (outermost !== undefined) bindPipeline(binder, outermost);
}

/** Returns a function that computes a value once and caches it. */
function once<T>(compute: () => T): () => T {
  let held: { readonly value: T } | undefined;
  return () => {
    held ??= { value: compute() };
    return held.value;
  };
}
