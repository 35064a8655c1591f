import { own, present } from '../../present.js';
import { parseTime, parseTimespan } from '../../time.js';
import type { TypeName } from '../catalog/entry.js';
import type { BindEnvironment, Plan, Scalar } from '../plan/plan.js';
import { constant } from '../plan/scalars.js';
import type { Diagnostic, Expr, ParameterDecl, Pipeline, Query, Statement } from '../syntax/ast.js';
import { beyondBounds } from '../syntax/bounds.js';
import { dataset, identifier } from '../syntax/nodes.js';
import { resultNamed } from './bind-names.js';
import { bindPipeline } from './bind-pipeline.js';
import type { Stage } from './bind-stage.js';
import { Binder, convertTo } from './binder.js';
import { bindExpression } from './expressions/bind-expression.js';

export interface BoundQuery {
  /** Absent if there was an error. */
  readonly plan?: Plan;
  readonly diagnostics: readonly Diagnostic[];
}

/** Resolves the names and types of a parsed query against schemas given as data. Never throws for user input. */
export function bind(query: Query, source: string, environment: BindEnvironment): BoundQuery {
  const beyond = beyondBounds(query, source);
  if (beyond !== undefined) return { diagnostics: [beyond] };
  const binder = new Binder(source, environment, bindPipeline);
  defineVariables(binder, environment.variables);
  let stage: Stage | undefined;
  for (const statement of query.statements) {
    const bound = bindStatement(binder, statement, stage !== undefined);
    if (bound !== undefined) stage = bound;
  }
  if (stage === undefined && !binder.failed) {
    binder.error(
      'no-query',
      { from: query.to, to: query.to },
      'there is no query to run',
      "Start with a dataset, such as ['sample-http-logs'].",
    );
  }
  if (stage !== undefined && !binder.failed) reportNothingLeft(binder, query, stage);
  if (!binder.failed) reportUnused(binder);
  if (stage === undefined || binder.failed) return { diagnostics: binder.diagnostics };
  return { plan: toPlan(binder, stage), diagnostics: binder.diagnostics };
}

/** Removes a final `render`, as drawing is not part of the plan. */
function withoutChart(pipeline: Pipeline): Pipeline {
  const isDrawn = pipeline.operators.at(-1)?.kind === 'render';
  return isDrawn ? { ...pipeline, operators: pipeline.operators.slice(0, -1) } : pipeline;
}

/** Binds the statements that end before `offset`, for an editor to find the names in scope; the binder holds the diagnostics. */
export function binderAt(query: Query, source: string, environment: BindEnvironment, offset: number): Binder {
  const binder = new Binder(source, environment, bindPipeline);
  defineVariables(binder, environment.variables);
  for (const statement of query.statements) {
    const ended = source.slice(statement.to, offset).includes(';');
    if (ended && statement.kind !== 'query') bindStatement(binder, statement, false);
  }
  return binder;
}

/** Reports a result without fields. */
function reportNothingLeft(binder: Binder, query: Query, stage: Stage): void {
  if (stage.relation.columns.length > 0 || stage.open) return;
  const last = query.statements.find(statement => statement.kind === 'query')?.pipeline.operators.at(-1);
  binder.error(
    'no-fields',
    last ?? query,
    'no fields are left to return',
    'Keep at least one, or count the rows with `| count`.',
  );
}

function toPlan(binder: Binder, stage: Stage): Plan {
  const { relation, order, groups, bucket, bounded } = stage;
  return {
    relation,
    columns: binder.columns,
    datasets: [...binder.datasets],
    order,
    groups,
    bounded,
    ...present({ bucket }),
  };
}

function bindStatement(binder: Binder, statement: Statement, hasQuery: boolean): Stage | undefined {
  switch (statement.kind) {
    case 'let':
      bindLet(binder, statement);
      return undefined;
    case 'set':
      if (statement.name.name === 'stricttypes') binder.strict = !isFalse(statement.value);
      else {
        binder.report(
          'warning',
          'unknown-option',
          statement,
          `the option \`${statement.name.name}\` is unknown and has no effect`,
          'Options: stricttypes.',
        );
      }
      return undefined;
    case 'parameters':
      for (const param of statement.params) bindParameter(binder, param);
      return undefined;
    case 'query':
      if (!hasQuery) return bindPipeline(binder, withoutChart(statement.pipeline));
      binder.error(
        'several-queries',
        statement,
        'a request can contain only one query',
        'Run them one after the other; in a notebook, separate them with a blank line.',
      );
      return undefined;
  }
}

/** True for `set stricttypes=false`, which turns the option back off. */
function isFalse(value: Expr | undefined): boolean {
  return value?.kind === 'literal' && value.value === false;
}

function bindLet(binder: Binder, statement: Extract<Statement, { kind: 'let' }>): void {
  const { name, value } = statement;
  if (name.name === '') return;
  if ('source' in value) {
    const bound = bindPipeline(binder, value);
    let again = false;
    const bindTable = (): Stage => {
      if (again) return bindPipeline(binder, value);
      again = true;
      return bound;
    };
    binder.definitions.set(name.name, { kind: 'table', bind: bindTable, span: name, used: false });
    return;
  }
  const alias = value.kind === 'name' ? binder.definitions.get(value.name) : undefined;
  if (alias !== undefined) {
    alias.used = true;
    binder.definitions.set(name.name, { ...alias, span: name, used: false });
  } else if (value.kind === 'name' && isTable(binder, value)) {
    const source = dataset(identifier(value.name, value.quoted, value), value);
    const pipeline = { source, operators: [], from: value.from, to: value.to };
    binder.definitions.set(name.name, {
      kind: 'table',
      bind: () => bindPipeline(binder, pipeline),
      span: name,
      used: false,
    });
  } else {
    const scope = { columns: [], open: false };
    binder.definitions.set(name.name, {
      kind: 'scalar',
      ...binder.weigh(() => bindExpression(binder, value, scope)),
      span: name,
      used: false,
    });
  }
}

function isTable({ environment }: Binder, name: Extract<Expr, { kind: 'name' }>): boolean {
  return (resultNamed(environment, name) ?? environment.schema(name.name)) !== undefined;
}

/** Binds `declare query_parameters(name: type = default)`: the request's variable of that name, else the default. */
function bindParameter(binder: Binder, param: ParameterDecl): void {
  const given = own(binder.environment.variables, param.name.name);
  const fallback =
    param.fallback === undefined
      ? undefined
      : bindExpression(binder, param.fallback, { columns: [], open: false });
  const value = given === undefined ? fallback : variableAs(given, param.type);
  if (value === undefined) {
    const why =
      given === undefined
        ? 'has no value and no default'
        : `cannot be ${JSON.stringify(given)}: its type is ${param.type}`;
    binder.error(
      'parameter',
      param,
      `the parameter \`${param.name.name}\` ${why}`,
      'Pass it in the variables of the request, or give it a default: `name: type = value`.',
    );
    // The name is defined anyway, to avoid reporting its uses as well.
    const unknown: Scalar = constant(param.type, null);
    binder.definitions.set(param.name.name, { kind: 'scalar', value: unknown, used: true });
    return;
  }
  binder.definitions.set(param.name.name, {
    kind: 'scalar',
    value: convertTo(value, param.type),
    used: true,
  });
}

function defineVariables(binder: Binder, variables: BindEnvironment['variables']): void {
  for (const [name, value] of Object.entries(variables)) {
    binder.definitions.set(name, { kind: 'scalar', value: variable(value), used: true });
  }
}

/** Returns a JSON value as a constant: whole numbers are long, arrays and objects dynamic. */
function variable(value: unknown): Scalar {
  if (value === null) return constant('dynamic', null);
  if (typeof value === 'string' || typeof value === 'boolean')
    return constant(typeof value === 'string' ? 'string' : 'bool', value);
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? constant('long', BigInt(value)) : constant('real', value);
  return constant('dynamic', JSON.stringify(value));
}

/** Returns the value as `type`, or undefined if it does not convert. */
function variableAs(value: unknown, type: TypeName): Scalar | undefined {
  const bound = variable(value);
  if (bound.kind !== 'constant' || bound.value === null || bound.type === type) return bound;
  if (type === 'real' && bound.type === 'long') return convertTo(bound, 'real');
  if (type === 'dynamic') return constant(type, JSON.stringify(value));
  if (bound.type !== 'string')
    return type === 'timespan' && bound.type === 'long' ? convertTo(bound, type) : undefined;
  return textAs(String(bound.value), type);
}

function textAs(text: string, type: TypeName): Scalar | undefined {
  const parsed =
    type === 'datetime'
      ? parseTime(text)
      : type === 'timespan'
        ? parseTimespan(text)
        : type === 'long' && /^-?\d{1,19}$/.test(text) && fitsLong(BigInt(text))
          ? BigInt(text)
          : undefined;
  return parsed === undefined ? undefined : constant(type, parsed);
}

function fitsLong(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

function reportUnused(binder: Binder): void {
  for (const [name, definition] of binder.definitions) {
    if (definition.used || definition.span === undefined) continue;
    binder.report('hint', 'unused-let', definition.span, `\`${name}\` is never used`);
  }
}
