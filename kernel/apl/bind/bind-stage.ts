import { present } from '../../present.js';
import type { Column, Computed, Relation, Scalar } from '../plan/plan.js';
import { reference } from '../plan/scalars.js';
import type { Binder } from './binder.js';

/** State of a pipeline after some of its operators. */
export interface Stage {
  readonly relation: Relation;
  /** Unknown fields are null. */
  readonly open: boolean;
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  readonly groups: readonly string[];
  readonly bucket?: { readonly field: string; readonly size: bigint | number };
  /** Set right after a summarize, so that a limit can count its groups. */
  readonly summary?: Summary;
  readonly bounded: boolean;
  /** The name of the table that holds just these rows, for `withsource`. */
  readonly table?: string;
}

export interface Summary {
  /** The time bin, if the first key is one. */
  readonly bin?: Column;
  /** The other keys. */
  readonly groups: readonly Column[];
  readonly aggregates: readonly Column[];
}

/** Returns a stage that starts with `relation`, without order or groups. */
export function freshStage(relation: Relation, open: boolean): Stage {
  return { relation, open, order: [], groups: [], bounded: false };
}

/** Returns `stage` with another relation of the same columns: order and groups stay, the summary does not. */
export function withRelation(stage: Stage, relation: Relation): Stage {
  const { summary: _, ...rest } = stage;
  return { ...rest, relation };
}

/** Returns a projection; repeated names get a number. */
export function project(stage: Stage, items: readonly Computed[]): Stage {
  const unique = uniqueNames(items.map(item => item.column));
  const renamed = items.map((item, index) => {
    const column = unique[index] ?? item.column;
    return column === item.column ? item : { ...item, column };
  });
  return projectUnique(stage, renamed);
}

/** Returns a projection whose names are known to differ. */
function projectUnique(stage: Stage, items: readonly Computed[]): Stage {
  const columns = items.map(item => item.column);
  const relation: Relation = { kind: 'project', input: stage.relation, items, columns };
  const isKept = (name: string): boolean => columns.some(column => column.name === name);
  const { bucket, ...rest } = withRelation(stage, relation);
  return {
    ...rest,
    order: stage.order.filter(key => isKept(key.field)),
    ...present({ bucket: bucket !== undefined && isKept(bucket.field) ? bucket : undefined }),
  };
}

/** Cached by column, as wide tables pass the same columns through every stage. */
const kept = new WeakMap<Column, Computed>();

/** Returns a column passed through unchanged. */
export function keep(column: Column): Computed {
  const known = kept.get(column);
  if (known !== undefined) return known;
  const fresh = { column, value: reference(column) };
  kept.set(column, fresh);
  return fresh;
}

/** Returns a relation with additional columns that cannot be referenced by name. */
export function withHidden(input: Relation, items: readonly Computed[]): Relation {
  const columns = [...input.columns, ...items.map(item => item.column)];
  return { kind: 'project', input, items: [...input.columns.map(keep), ...items], columns };
}

export function uniqueNames(columns: readonly Column[]): Column[] {
  const used = new Set<string>();
  /** Next number for each name: a name can occur thousands of times. */
  const numbers = new Map<string, number>();
  return columns.map(column => {
    let name = column.name;
    let number = numbers.get(name) ?? 1;
    for (; used.has(name); number += 1) name = `${column.name}${number}`;
    numbers.set(column.name, number);
    used.add(name);
    return name === column.name ? column : { ...column, name };
  });
}

/** Returns a new column; a field that is only renamed keeps its unit and description. */
export function columnFor(
  binder: Binder,
  name: string,
  value: Scalar,
  inputs: readonly Column[],
  same = false,
): Column {
  const source = value.kind === 'column' ? inputs.find(column => column.id === value.id) : undefined;
  if (source === undefined) return binder.column(name, value.type);
  if (same && source.name === name) return source;
  const { id: _, name: __, type: ___, table: ____, role: _____, ...rest } = source;
  return binder.column(name, value.type, rest);
}

/** Adds columns; an existing one is replaced and moves to the end. */
export function extend(stage: Stage, items: readonly Computed[]): Stage {
  const names = new Set(items.map(item => item.column.name));
  const kept = stage.relation.columns.filter(column => !names.has(column.name)).map(keep);
  const last = items.filter(
    (item, index) => !items.slice(index + 1).some(later => later.column.name === item.column.name),
  );
  return projectUnique(stage, [...kept, ...last]);
}
