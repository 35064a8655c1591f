import type {
  AggregateCall,
  Aggregated,
  Column,
  Columns,
  Computed,
  OrderKey,
  Relation,
  Scalar,
} from '../../apl/plan/plan.js';
import { idsIn, inputsOf } from '../../apl/plan/plan-walk.js';
import { conditionsOf, constant, reference } from '../../apl/plan/scalars.js';
import type { BinaryOperator } from '../../apl/syntax/ast.js';
import { present } from '../../present.js';
import type { DatasetCatalog, ScanFilter } from './compiled-query.js';
import type { Dialect } from './dialect.js';
import { keyOf, withoutTies } from './rewrite/ordering.js';
import { rewritten } from './rewrite/rewrite-list.js';
import {
  aggregateParts,
  aggregatesSql,
  argument,
  type ExpressionContext,
  expressionSql,
  pathsSql,
  textListOf,
} from './sql-expression.js';
import { lookupsIn } from './sql-lookups.js';
import { seriesParts } from './sql-series.js';
import { located, type SqlArg, type SqlContext } from './sql-template.js';

/** The datasets of a query, with members of a catalog. */
export type Source = Required<
  Pick<DatasetCatalog, 'scan' | 'rowGroups' | 'rowCount' | 'textLists' | 'bounds'>
>;

/** A source that can be scanned, but about which nothing else is known. */
export const nothingKnown: Omit<Source, 'scan'> = {
  rowGroups: () => [],
  rowCount: () => undefined,
  textLists: () => new Set(),
  bounds: () => undefined,
};

/** Returns one SELECT for these columns of a relation, by default all; they are named c0, c1, … by their ids, in order. */
export function relationSql(
  relation: Relation,
  context: SqlContext,
  source: Source,
  dialect: Dialect,
  made: Columns,
  shown: readonly Column[] = relation.columns,
): string {
  const calls = new Set<string>();
  const writer = new SqlWriter({ ...context, dialect, calls, bounded: new Set() }, source, made);
  const pruned = writer.prepared(relation);
  const name = writer.write(pruned);
  const columns = shown.map(column => `c${column.id}`).join(', ');
  const order = dialect.keepsOrder ? writer.orderAfter(pruned) : writer.orderOf(pruned);
  return dialect.statement({
    stages: writer.stages(),
    select: `SELECT ${columns} FROM ${name}${order}`,
    calls,
  });
}

/** A stage of a query; `limits`: it takes the first rows of another. */
interface WrittenStage {
  readonly name: string;
  readonly body: string;
  readonly materialized: boolean;
  readonly limits: boolean;
}

/** Writes a query: one stage of a WITH clause per operator, inlined by the engine. */
class SqlWriter {
  readonly #context: ExpressionContext;
  readonly #dialect: Dialect;
  readonly #source: Source;
  readonly #columns: Columns;
  readonly #written: WrittenStage[] = [];
  /** Relations whose columns are all read for every row. */
  readonly #whole = new Set<Relation>();
  #joins: boolean;

  /** `joins`: the query is itself one side of a join, like the query of an `in`. */
  constructor(context: Omit<ExpressionContext, 'subquery'>, source: Source, columns: Columns, joins = false) {
    this.#columns = columns;
    this.#dialect = context.dialect;
    this.#source = source;
    this.#joins = joins;
    this.#context = { ...context, subquery: query => this.#subquery(query) };
  }

  /**
   * Returns the stages of the WITH clause. Next to a join, a limit is materialized: the engine would otherwise apply the join's keys before
   * it counts the rows of the limit.
   */
  stages(): string[] {
    const last = this.#written.length - 1;
    return this.#written.map(({ name, body, materialized, limits }, at) =>
      this.#dialect.stage(name, body, materialized || (limits && this.#joins && at < last)),
    );
  }

  /** Returns a relation after all rewrites; columns that its scans bound stay bounded wherever they are read. */
  prepared(relation: Relation): Relation {
    const prepared = this.#rewritten(relation);
    this.#bound(prepared);
    return prepared;
  }

  #bound(relation: Relation): void {
    const { bounded } = this.#context;
    for (const input of inputsOf(relation)) this.#bound(input);
    if (relation.kind === 'scan') {
      const names = this.#source.bounds(relation.dataset)?.bounded;
      for (const [index, { id }] of relation.columns.entries())
        if (names?.has(relation.fields[index] ?? '')) bounded.add(id);
    }
    if (relation.kind === 'project')
      // A column that keeps its id may have a new value.
      for (const { column, value } of relation.items)
        if (value.kind === 'column' && bounded.has(value.id)) bounded.add(column.id);
        else bounded.delete(column.id);
  }

  #rewritten(relation: Relation): Relation {
    return rewritten(relation, {
      now: this.#context.now,
      columns: this.#columns,
      rowGroups: this.#source.rowGroups,
      rowCount: this.#source.rowCount,
      keepsOrder: this.#dialect.keepsOrder,
      functions: {
        isTextList: ({ name }) => this.#dialect.textLists?.of(name) !== undefined,
        documents: this.#dialect.documents,
        textLists: this.#source.textLists,
        stored: name => this.#source.bounds(name)?.stored ?? new Set(),
      },
    });
  }

  /** Writes a relation and its inputs; returns the name of its stage. */
  write(relation: Relation): string {
    return this.#stage(this.#body(relation), false, relation.kind === 'limit');
  }

  #stage(body: string, materialized = false, limits = false): string {
    const name = `s${this.#written.length}`;
    this.#written.push({ name, body, materialized, limits });
    return name;
  }

  #expression(value: Scalar, predicate = false): string {
    return expressionSql(value, this.#context, predicate);
  }

  #argument(value: Scalar): SqlArg {
    return argument(value, this.#context);
  }

  #computed(item: Computed, sql = this.#expression(item.value)): string {
    const name = `c${item.column.id}`;
    return sql === name ? name : `${sql} AS ${name}`;
  }

  #orderBy(keys: readonly OrderKey[]): string {
    // A constant orders nothing, and the engine would read a number as a column position.
    const telling = keys.filter(key => key.value.kind !== 'constant');
    const list = telling.map(key =>
      this.#dialect.orderKey(this.#argument(key.value), key.descending, key.nullsFirst),
    );
    return list.length === 0 ? '' : ` ORDER BY ${list.join(', ')}`;
  }

  /** Returns the ORDER BY of a relation's rows: the keys of its last sort, if their columns still exist. */
  orderOf(relation: Relation): string {
    return this.#orderBy(withoutTies(sortKeys(relation), relation));
  }

  /** Returns the ORDER BY that a written relation still needs: none if it ends with that sort. */
  orderAfter(relation: Relation): string {
    const order = this.orderOf(relation);
    const last = relation.kind === 'limit' ? relation.input : relation;
    return last.kind === 'sort' && this.orderOf(last) === order ? '' : order;
  }

  #subquery(relation: Relation): string {
    const [first] = relation.columns;
    if (first === undefined) return this.#dialect.nothing('NULL AS value');
    this.#joins = true;
    const inner = new SqlWriter(this.#context, this.#source, this.#columns, true);
    const name = inner.write(
      inner.prepared({
        kind: 'project',
        input: relation,
        items: [{ column: first, value: reference(first) }],
        columns: [first],
      }),
    );
    return this.#dialect.statement({
      stages: inner.stages(),
      select: `SELECT c${first.id} AS value FROM ${name}`,
      calls: new Set(),
    });
  }

  #body(relation: Relation): string {
    switch (relation.kind) {
      case 'scan':
        return this.#scanSql(relation);
      case 'values':
        return this.#valuesSql(relation);
      case 'external':
        return this.#dialect.external(relation);
      case 'sequence':
        return this.#sequenceSql(relation);
      case 'filter':
        return this.#filterSql(relation);
      case 'project':
        return `SELECT ${this.#list(relation.items, this.#whole.has(relation))} FROM ${this.write(relation.input)}`;
      case 'aggregate':
        this.#whole.add(relation.input);
        return this.#aggregateBody(relation);
      case 'topk':
        return this.#topkSql(relation);
      case 'sort':
        return `SELECT * FROM ${this.write(relation.input)}${this.#isInOrder(relation) ? '' : this.orderOf(relation)}`;
      case 'limit':
        return this.#limitSql(relation);
      case 'top-groups':
        return this.#topGroupsSql(relation);
      case 'distinct':
        return `SELECT DISTINCT * FROM ${this.write(relation.input)}`;
      case 'sample':
        return `SELECT * FROM ${this.write(relation.input)} WHERE ${this.#dialect.sample(this.#expression(relation.proportion))}`;
      case 'join':
        return this.#joinSql(relation);
      case 'union':
        return this.#unionSql(relation);
      case 'expand':
        return this.#expandSql(relation);
      case 'neighbors':
        return this.#neighborsSql(relation);
      case 'series':
        return this.#seriesSql(relation);
    }
  }

  /** Writes a repeated column once: some engines could not tell the copies apart. */
  #list(items: readonly Computed[], whole: boolean): string {
    const values = whole ? items.map(({ value }) => value) : [];
    const together = pathsSql(values, this.#context);
    const written = new Set(items.map(item => this.#computed(item, together.get(item.value))));
    return written.size === 0 ? 'NULL AS none' : [...written].join(', ');
  }

  /** Conditions directly above a scan are pushed into it, so the engine applies them while reading. */
  #filterSql(relation: Extract<Relation, { kind: 'filter' }>): string {
    const predicates = [relation.predicate];
    let input = relation.input;
    for (; input.kind === 'filter'; input = input.input) predicates.unshift(input.predicate);
    if (input.kind === 'scan') return this.#scanSql(input, predicates);
    const conditions = predicates.map(predicate => this.#expression(predicate, true));
    return `SELECT * FROM ${this.write(input)} WHERE ${conditions.join(' AND ')}`;
  }

  #scanSql(relation: Extract<Relation, { kind: 'scan' }>, predicates: readonly Scalar[] = []): string {
    if (relation.columns.length === 0) return this.#dialect.nothing('NULL AS none');
    const columns = relation.columns.map((column, index) => `f${index} AS c${column.id}`).join(', ');
    const filter = predicates.length === 0 ? undefined : this.#scanFilter(relation, predicates);
    return `SELECT ${columns} FROM (${this.#source.scan(relation.dataset, relation.fields, relation.start, relation.end, filter)})`;
  }

  #scanFilter(
    { dataset, columns, fields }: Extract<Relation, { kind: 'scan' }>,
    predicates: readonly Scalar[],
  ): ScanFilter {
    const sql: ScanFilter['sql'] = (values, apart) => {
      const names = new Map(columns.map((column, index) => [column.id, values[index] ?? 'NULL']));
      const known = this.#source.bounds(dataset)?.filled;
      const filled = new Set(
        columns.flatMap(({ id }, index) => (known?.has(fields[index] ?? '') ? [id] : [])),
      );
      const context = { ...this.#context, columns: names, filled };
      const write = (predicate: Scalar): string => expressionSql(predicate, context, true);
      if (apart === undefined) return predicates.map(write).join(' AND ');
      const conditions = predicates.flatMap(conditionsOf).flatMap(predicate => {
        const wider = containing(predicate);
        return wider === undefined ? [write(predicate)] : [write(wider), apart(write(predicate))];
      });
      return conditions.join(' AND ');
    };
    const nameOf = (id: number) => fields[columns.findIndex(column => column.id === id)];
    return { sql, lookups: predicates.flatMap(conditionsOf).flatMap(each => lookupsIn(each, nameOf)) };
  }

  #valuesSql(relation: Extract<Relation, { kind: 'values' }>): string {
    const { columns, rows } = relation;
    const empty = columns
      .map(column => `${this.#dialect.literal(column.type, null)} AS c${column.id}`)
      .join(', ');
    if (rows.length === 0) return this.#dialect.nothing(empty === '' ? 'NULL AS none' : empty);
    const texts = rows.map(row => row.map(value => this.#expression(value)));
    return this.#dialect.values(
      texts,
      columns.map(column => `c${column.id}`),
    );
  }

  #sequenceSql(relation: Extract<Relation, { kind: 'sequence' }>): string {
    const [column] = relation.columns as [Column];
    const [start, end, step] = [relation.start, relation.end, relation.step].map(value =>
      this.#argument(value),
    ) as [SqlArg, SqlArg, SqlArg];
    return this.#dialect.sequence(`c${column.id}`, start, end, step);
  }

  #aggregateBody(relation: Extract<Relation, { kind: 'aggregate' }>): string {
    const input = this.write(relation.input);
    const [apart, plain] = partition(relation.aggregates, ({ call }) => this.#isApart(call));
    const body = this.#aggregateSelect(relation, plain, input);
    if (apart.length === 0) return body;
    const names = relation.keys.map(key => `c${key.column.id}`);
    const others = apart.map(({ call }) =>
      this.#stage(
        call.name === 'spotlight'
          ? this.#spotlightSql(call, relation.keys, input)
          : this.#histogramSql(call, relation, input),
      ),
    );
    const stages = plain.length === 0 ? others : [this.#stage(body), ...others];
    const base = stages[0] ?? '';
    const from = stages.reduce((left, right) => {
      const on = names.map(name => this.#dialect.same(`${base}.${name}`, `${right}.${name}`));
      return this.#dialect.join('inner', left, right, on.join(' AND ') || 'true');
    });
    const values = apart.map(({ column }, index) => `${others[index]}.value AS c${column.id}`);
    const columns = [...relation.keys, ...plain].map(({ column }) => `${base}.c${column.id}`);
    return `SELECT ${[...columns, ...values].join(', ')} FROM ${from}`;
  }

  /** Returns whether an aggregate reads its rows several times, which takes a separate query with a row per group. */
  #isApart({ name }: AggregateCall): boolean {
    return name === 'spotlight' || (name === 'histogram' && this.#dialect.histogram !== undefined);
  }

  #histogramSql(
    call: AggregateCall,
    { input: relation, keys }: Extract<Relation, { kind: 'aggregate' }>,
    input: string,
  ): string {
    const parts = {
      ...aggregateParts(call, this.#context),
      keys: keys.map(key => ({ name: `c${key.column.id}`, arg: this.#argument(key.value) })),
    };
    const computed =
      relation.kind !== 'scan' ||
      this.#source
        .rowGroups(relation.dataset, relation.start, relation.end)
        .some(group => group.computed === true);
    const write = () =>
      this.#dialect.histogram?.({ ...parts, input, computed }, (body, materialized) =>
        this.#stage(body, materialized),
      ) ?? '';
    return located(call.at, write);
  }

  #spotlightSql(call: AggregateCall, keys: readonly Computed[], input: string): string {
    const [selected, ...fields] = call.args;
    return this.#dialect.spotlight(
      {
        input,
        keys: keys.map(key => ({ name: `c${key.column.id}`, sql: this.#expression(key.value) })),
        selected: this.#argument(selected ?? constant('bool', false)),
        fields: fields.map((field, index) => ({
          label: call.labels?.[index] ?? '',
          arg: this.#argument(field),
        })),
        omitted: call.omitted ?? [],
      },
      (body, materialized) => this.#stage(body, materialized),
    );
  }

  #aggregateSelect(
    relation: Extract<Relation, { kind: 'aggregate' }>,
    found: readonly Aggregated[],
    input: string,
  ): string {
    const order = this.orderOf(relation.input);
    const keys = relation.keys.map(key => this.#computed(key));
    const calls = found.map(({ call }) => call);
    const written = aggregatesSql(calls, this.#context, order);
    const aggregates = found.map(({ column }, index) => `${written[index]} AS c${column.id}`);
    const select = [...keys, ...aggregates];
    if (select.length === 0) return `SELECT NULL AS none FROM ${input}${this.#dialect.limit('1', 0)}`;
    if (keys.length === 0) return `SELECT ${select.join(', ')} FROM ${input}`;
    return `SELECT ${select.join(', ')} FROM ${input} GROUP BY ${keys.map((_, index) => index + 1).join(', ')}`;
  }

  #topkSql(relation: Extract<Relation, { kind: 'topk' }>): string {
    const filter = relation.filter === undefined ? '' : ` WHERE ${this.#expression(relation.filter, true)}`;
    const { value, frequency } = relation;
    const keys = relation.keys.map(key => this.#computed(key));
    const counted = [...keys, this.#computed(value), `count(*) AS c${frequency.id}`];
    const groups = [...keys, ''].map((_, index) => index + 1).join(', ');
    const stage = this.#stage(
      `SELECT ${counted.join(', ')} FROM ${this.write(relation.input)}${filter} GROUP BY ${groups}`,
    );
    const where = `c${value.column.id} IS NOT NULL`;
    const order = `c${frequency.id} DESC, c${value.column.id}`;
    const rows = relation.count.kind === 'constant' ? relation.count.value : null;
    // Without keys this is a limit, for which the engine holds no more rows than requested.
    if (keys.length === 0 && typeof rows === 'bigint' && rows >= 0n)
      return `SELECT * FROM ${stage} WHERE ${where} ORDER BY ${order}${this.#dialect.limit(String(rows), 0)}`;
    return this.#dialect.firstOfEach(
      stage,
      where,
      relation.keys.map(key => `c${key.column.id}`),
      order,
      this.#expression(relation.count),
    );
  }

  #limitSql(relation: Extract<Relation, { kind: 'limit' }>): string {
    const { input } = relation;
    const limit = this.#dialect.limit(rowCount(relation.count, this.#context), relation.skip ?? 0);
    if (input.kind === 'sort')
      return `SELECT * FROM ${this.write(input.input)}${this.orderOf(input)}${limit}`;
    const order = this.#dialect.keepsOrder ? '' : this.orderOf(input);
    return `SELECT * FROM ${this.write(input)}${order}${limit}`;
  }

  /** Returns the groups with the largest totals, each with all of its bins. */
  #topGroupsSql(relation: Extract<Relation, { kind: 'top-groups' }>): string {
    const input = this.#stage(this.#body(relation.input), true);
    const keys = relation.groups.map(column => `c${column.id}`);
    const rank = relation.rank.map(
      key =>
        `sum(${this.#dialect.withoutNaN(this.#argument(key.value))}) ${key.descending ? 'DESC' : 'ASC'} NULLS LAST`,
    );
    const order = [...rank, ...keys].join(', ');
    const chosen = this.#stage(
      `SELECT ${keys.join(', ')} FROM ${input} GROUP BY ${keys.join(', ')} ORDER BY ${order}${this.#dialect.limit(this.#expression(relation.count), 0)}`,
      true,
    );
    const same = keys.map(key => this.#dialect.same(`${input}.${key}`, `${chosen}.${key}`)).join(' AND ');
    return `SELECT ${input}.* FROM ${this.#dialect.join('leftsemi', input, chosen, same)}`;
  }

  #joinSql(written: Join): string {
    this.#joins = true;
    const relation = written.join === 'innerunique' ? firstOfEachKey(written, this.#columns) : written;
    const left = this.write(relation.left);
    const right = this.write(relation.right);
    const on =
      relation.on
        .map(({ left: a, right: b }) =>
          [a, b].map(key => this.#dialect.joinKey(this.#argument(key))).join(' = '),
        )
        .join(' AND ') || 'true';
    return `SELECT * FROM ${this.#dialect.join(relation.join, left, right, on)}`;
  }

  #unionSql(relation: Extract<Relation, { kind: 'union' }>): string {
    if (relation.columns.length === 0) return this.#dialect.nothing('NULL AS none');
    const items = (values: readonly Scalar[]): string =>
      relation.columns
        .map(({ id, type }, index) => {
          const value = this.#argument(values[index] ?? constant(type, null));
          return `${this.#dialect.unionItem(value)} AS c${id}`;
        })
        .join(', ');
    if (relation.inputs.length === 0) return this.#dialect.nothing(items([]));
    const selects = relation.inputs.map(
      input => `SELECT ${items(input.values)} FROM ${this.write(input.relation)}`,
    );
    return selects.join(' UNION ALL ');
  }

  #expandSql(relation: Extract<Relation, { kind: 'expand' }>): string {
    const items = relation.items.map(({ column, value }) => ({
      name: `c${column.id}`,
      value: this.#argument(value),
      as: column.type === 'string' ? ('text' as const) : ('dynamic' as const),
      ...present({ list: textListOf(value, this.#context) }),
    }));
    const parts = {
      items,
      input: this.write(relation.input),
      bag: relation.bag,
      limit: relation.limit === undefined ? undefined : this.#expression(relation.limit),
      columns: relation.columns.map(column => `c${column.id}`),
      index: relation.index === undefined ? undefined : `c${relation.index.id}`,
      place: relation.place && {
        column: `c${relation.place.column.id}`,
        order: this.#orderBy(relation.place.keys),
      },
    };
    return this.#dialect.expand(parts, (body, materialized) => this.#stage(body, materialized));
  }

  /** Positions are numbered once, so all functions see equal rows in the same order. */
  #neighborsSql(relation: Neighbors): string {
    const { input, place, items, within = [] } = relation;
    const written = this.write(input);
    const names = within.map(({ id }) => `c${id}`).join(', ');
    const apart = names === '' ? '' : `PARTITION BY ${names} `;
    const streams = this.#isStreamed(relation);
    const numbered = `row_number() OVER (${streams ? '' : apart + this.orderOf(input).trim()}) AS c${place.id}`;
    const stage = this.#stage(`SELECT *, ${numbered} FROM ${written}`);
    const values = items.map(({ column, name, args }) => {
      const sql = this.#dialect.neighbor(
        name,
        args.map(each => this.#argument(each)),
        streams ? '' : `${apart}ORDER BY c${place.id}`,
        `c${place.id}`,
      );
      return `${sql} AS c${column.id}`;
    });
    return `SELECT ${['*', ...values].join(', ')} FROM ${stage}`;
  }

  /** Returns whether all values from neighboring rows are found while these are read in order. */
  #isStreamed({ input, items, within = [] }: Neighbors): boolean {
    if (!this.#dialect.keepsOrder || within.length > 0 || !isSorted(input)) return false;
    return items.every(({ name, args }) =>
      this.#dialect.isStreamed(
        name,
        args.map(each => this.#argument(each)),
      ),
    );
  }

  /** Returns whether the rows below a sort are written in its order. */
  #isInOrder({ input, keys: [key, ...more] }: Extract<Relation, { kind: 'sort' }>): boolean {
    if (input.kind !== 'neighbors' || more.length > 0 || key?.descending !== false) return false;
    return key.value.kind === 'column' && key.value.id === input.place.id && this.#isStreamed(input);
  }

  #seriesSql(relation: Extract<Relation, { kind: 'series' }>): string {
    const parts = seriesParts(relation, this.#context, this.write(relation.input));
    return this.#dialect.series(parts, (body, materialized) => this.#stage(body, materialized));
  }
}

/** Constants are written bare: only then does the engine plan for them. */
function rowCount(count: Scalar, context: ExpressionContext): string {
  return count.kind === 'constant' ? String(count.value) : expressionSql(count, context);
}

type Join = Extract<Relation, { kind: 'join' }>;
type Neighbors = Extract<Relation, { kind: 'neighbors' }>;

/** Returns whether a relation is written in the order of a sort. */
function isSorted(relation: Relation): boolean {
  if (relation.kind === 'sort') return true;
  const passes = relation.kind === 'filter' || relation.kind === 'project' || relation.kind === 'limit';
  return passes && isSorted(relation.input);
}

/** Returns a join with only the first right row per key; a key that is computed becomes a column of its own. */
function firstOfEachKey(relation: Join, made: Columns): Join {
  const { columns } = relation.right;
  const keys = relation.on.map(({ left, right }) => {
    const own = right.kind === 'column' ? columns.find(({ id }) => id === right.id) : undefined;
    return { left, column: own ?? made.hidden(right.type), value: right };
  });
  const rest = columns.filter(column => !keys.some(key => key.column.id === column.id));
  const right: Relation = {
    kind: 'aggregate',
    input: relation.right,
    keys: keys.filter(({ column }, at) => keys.findIndex(key => key.column.id === column.id) === at),
    aggregates: rest.map(column => ({
      column,
      call: { name: 'take_first', args: [reference(column)], type: column.type },
    })),
    columns: [...new Set([...keys.map(key => key.column), ...rest])],
  };
  return { ...relation, right, on: keys.map(({ left, column }) => ({ left, right: reference(column) })) };
}

/** Returns the sort keys of a relation's rows; none if any of their columns is gone. */
function sortKeys(relation: Relation): readonly OrderKey[] {
  const ids = new Set(relation.columns.map(column => column.id));
  const keys = lastSort(relation);
  const alive = keys.findIndex(key => !usesOnly(key.value, ids));
  // The rows follow the whole sort; sorting again by only some of its keys would lose the order among ties.
  return alive < 0 ? keys : [];
}

function lastSort(relation: Relation): readonly OrderKey[] {
  switch (relation.kind) {
    case 'sort':
      return relation.keys;
    case 'filter':
    case 'project':
    case 'limit':
    case 'top-groups':
      return lastSort(relation.input);
    case 'expand':
      return relation.place === undefined || relation.index === undefined
        ? []
        : [keyOf(relation.place.column, false), keyOf(relation.index, false)];
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'neighbors':
    case 'series':
      return [];
  }
}

function usesOnly(value: Scalar, ids: ReadonlySet<number>): boolean {
  return [...idsIn(value)].every(id => ids.has(id));
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): readonly [T[], T[]] {
  return [items.filter(test), items.filter(item => !test(item))];
}

/** Returns a substring test passed by all strings that match a constant term; undefined for other conditions. */
function containing(predicate: Scalar): Scalar | undefined {
  if (predicate.kind !== 'binary' || predicate.right.kind !== 'constant' || predicate.left.type !== 'string')
    return undefined;
  const [operator, { value }] = [containingTerm[predicate.operator], predicate.right];
  // Engines differ in how they fold the case of other letters.
  const isPlain = typeof value === 'string' && /^[\x20-\x7e]+$/.test(value);
  return operator === undefined || !isPlain ? undefined : { ...predicate, operator };
}

const containingTerm: { readonly [operator in BinaryOperator]?: BinaryOperator } = {
  ...{ has: 'contains', hasprefix: 'contains', hassuffix: 'contains' },
  ...{ has_cs: 'contains_cs', hasprefix_cs: 'contains_cs', hassuffix_cs: 'contains_cs' },
};
