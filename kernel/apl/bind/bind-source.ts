import { present } from '../../present.js';
import type { TypeName } from '../catalog/entry.js';
import { optionsOf } from '../operators/operator-rows.js';
import { mostSequenceRows } from '../plan/effort.js';
import type { Column, DatasetSchema, ExternalFormat, Relation, Scalar } from '../plan/plan.js';
import { call, constant, reference } from '../plan/scalars.js';
import type {
  Assignment,
  Expr,
  FieldPattern,
  Identifier,
  Literal,
  OperatorOf,
  Source,
  SourceOf,
  Span,
} from '../syntax/ast.js';
import { dataset, identifier } from '../syntax/nodes.js';
import { optionText } from '../syntax/readers/read-options.js';
import { withVirtualFields } from './bind-fields.js';
import { defaultName, givenName, resultNamed } from './bind-names.js';
import { matchesPattern } from './bind-pattern.js';
import { bindPipeline } from './bind-pipeline.js';
import { bindSearchFilter } from './bind-search.js';
import { freshStage, type Stage, uniqueNames } from './bind-stage.js';
import { type Binder, commonType, convertTo, isNull, isNumber, shorten, unbound } from './binder.js';
import { bindExpression } from './expressions/bind-expression.js';
import { constantInteger } from './expressions/constant.js';
import { warnOfBareStep } from './expressions/duration.js';

const noScope = { columns: [], open: false };

/** Binds the source of the rows. */
export function bindSource(binder: Binder, written: Source): Stage {
  const source = resolved(binder, written);
  if (isInline(source) && !binder.count('tables', source)) return nowhere();
  switch (source.kind) {
    case 'dataset':
      return { ...bindDataset(binder, source), table: source.name.name };
    case 'pattern':
      return unionOf(binder, matching(binder, source.pattern), undefined);
    case 'datatable':
      return bindDatatable(binder, source);
    case 'print':
      return bindPrint(binder, source.items);
    case 'range':
      return bindRange(binder, source);
    case 'externaldata':
      return bindExternalData(binder, source);
    case 'union':
      return bindUnion(binder, source, undefined);
    case 'search':
      return bindSearchSource(binder, source);
    case 'paren':
      return bindPipeline(binder, source.pipeline);
    case 'given':
      return givenRows(binder, source);
    case 'missing':
      return nowhere();
  }
}

/** Returns the rows that an operator passes to its inner pipeline. */
function givenRows(binder: Binder, source: Source): Stage {
  const given = binder.given.get(source);
  return given === undefined ? nowhere() : freshStage(given.relation, given.open);
}

/** Resolves `table(name)` for a string variable: returns the dataset that the string names. */
function resolved(binder: Binder, source: Source): Source {
  if (source.kind !== 'dataset' || source.held !== true) return source;
  const definition = binder.definitions.get(source.name.name);
  const value = definition?.kind === 'scalar' ? definition.value : undefined;
  if (definition === undefined || value?.kind !== 'constant' || typeof value.value !== 'string')
    return source;
  definition.used = true;
  return dataset(identifier(value.value, true, source), source);
}

/** True for a table made by the query itself; other sources are datasets, which are counted when read. */
function isInline({ kind }: Source): boolean {
  return kind === 'datatable' || kind === 'print' || kind === 'range' || kind === 'externaldata';
}

/** Binds `union T1, T2` over the stage before it, if any: columns by name, with nulls for those that a table lacks. */
export function bindUnion(
  binder: Binder,
  { tables: given, options }: OperatorOf<'union'> | SourceOf<'union'>,
  before: Stage | undefined,
): Stage {
  const names = before === undefined ? [] : [named(before, 0)];
  const isFuzzy = optionText(options, 'isfuzzy', optionsOf('union')) === 'true';
  const tables = given.flatMap((written, index) => {
    const table = resolved(binder, written);
    const pattern = patternOf(binder, table);
    if (isFuzzy && pattern === undefined && warnsOfMissing(binder, table)) return [];
    return pattern === undefined
      ? [named(bindSource(binder, table), names.length + index)]
      : matching(binder, pattern);
  });
  const withSource = optionText(options, 'withsource', optionsOf('union'));
  const at = options.find(({ name }) => name.name === 'withsource');
  const source = withSource === undefined || at === undefined ? undefined : { name: withSource, at };
  return unionOf(binder, [...names, ...tables], source);
}

/** Warns about a dataset that does not exist, which `isfuzzy=true` leaves out. Returns true if it does not exist. */
function warnsOfMissing(binder: Binder, table: Source): boolean {
  if (table.kind !== 'dataset' || isKnown(binder, table.name)) return false;
  const message = `dataset \`${table.name.name}\` does not exist and is skipped`;
  binder.report('warning', 'unknown-dataset', table, message);
  return true;
}

function isKnown({ definitions, environment }: Binder, name: Identifier): boolean {
  const isDefined = definitions.has(name.name) || resultNamed(environment, name) !== undefined;
  return isDefined || environment.schema(name.name) !== undefined;
}

/** Returns the pattern of `github*`, also if quoted, unless a dataset has exactly that name. */
function patternOf(binder: Binder, table: Source): FieldPattern | undefined {
  if (table.kind === 'pattern') return table.pattern;
  if (table.kind !== 'dataset' || !table.name.quoted || !table.name.name.includes('*')) return undefined;
  if (binder.environment.schema(table.name.name) !== undefined) return undefined;
  return { parts: table.name.name.split('*'), exact: false, from: table.from, to: table.to };
}

/** Names an unnamed table by its position in the union. */
function named(stage: Stage, place: number): { name: string; stage: Stage } {
  return { name: stage.table ?? `union_arg${place}`, stage };
}

function bindDataset(binder: Binder, source: SourceOf<'dataset'>): Stage {
  const { name } = source.name;
  const definition = binder.definitions.get(name);
  if (definition?.kind === 'table') {
    definition.used = true;
    const { relation, open } = definition.bind();
    return freshStage(relation, open);
  }
  if (definition?.kind === 'scalar') {
    if (definition.value === unbound) return nowhere();
    binder.error(
      'value-as-table',
      source,
      `\`${name}\` is a value, not a table`,
      `Write \`print ${name}\` to see it.`,
    );
    return nowhere();
  }
  const result = resultNamed(binder.environment, source.name);
  if (result !== undefined)
    return binder.count('tables', source) ? bounded(scanOf(binder, result)) : nowhere();
  const schema = binder.environment.schema(name);
  if (schema !== undefined) return binder.count('tables', source) ? scan(binder, name, source) : nowhere();
  if (name === '') {
    binder.error(
      'unknown-dataset',
      source,
      'the name of the dataset is empty',
      'Pass it in quotes, `table("logs")`, or as a parameter with a value.',
    );
    return nowhere();
  }
  const known = [
    ...binder.environment.datasets(),
    ...(binder.environment.results?.keys() ?? []),
    ...binder.definitions.keys(),
  ];
  binder.unknown(
    'dataset',
    name,
    source,
    known,
    known.length === 0 ? 'There are no datasets yet.' : `Datasets here: ${known.slice(0, 10).join(', ')}.`,
  );
  return nowhere();
}

function scan(binder: Binder, name: string, span: Span): Stage {
  binder.datasets.add(name);
  const schema = binder.environment.schema(name) ?? { name, fields: [], open: false };
  return withVirtualFields(binder, scanOf(binder, schema), schema, span);
}

function scanOf(binder: Binder, { name, fields, open }: DatasetSchema): Stage {
  const { start, end } = binder.environment;
  const columns = ofOneTable(
    fields.map(field => {
      const meta = present({ unit: field.unit, description: field.description });
      return binder.column(field.name, field.type, meta);
    }),
  );
  const relation: Relation = {
    kind: 'scan',
    dataset: name,
    fields: fields.map(field => field.name),
    start,
    end,
    columns,
  };
  return freshStage(relation, open);
}

function ofOneTable(columns: readonly Column[]): readonly Column[] {
  return columns.map(column => ({ ...column, ...present({ table: columns[0]?.id }) }));
}

/** Returns the datasets that match a pattern such as `github*`. */
function matching(binder: Binder, pattern: FieldPattern): { name: string; stage: Stage }[] {
  const names = binder.environment.datasets().filter(name => matchesPattern(pattern, name));
  // If the datasets are unknown, any name is valid.
  const unknown = binder.environment.schema(pattern.parts.join('*'));
  if (names.length === 0 && unknown !== undefined)
    return [{ name: unknown.name, stage: scanOf(binder, unknown) }];
  if (names.length === 0)
    binder.error(
      'no-match',
      pattern,
      `no dataset matches \`${pattern.parts.join('*')}\``,
      `Datasets here: ${binder.environment.datasets().slice(0, 10).join(', ')}.`,
    );
  if (!binder.count('tables', pattern, names.length)) return [];
  return names.map(name => ({ name, stage: scan(binder, name, pattern) }));
}

function unionOf(
  binder: Binder,
  tables: readonly { name: string; stage: Stage }[],
  withSource: { readonly name: string; readonly at: Span } | undefined,
): Stage {
  const [only] = tables;
  if (only !== undefined && tables.length === 1 && withSource === undefined) return only.stage;
  const names = new Map<string, Column[]>();
  for (const { stage } of tables)
    for (const column of stage.relation.columns)
      names.set(column.name, [...(names.get(column.name) ?? []), column]);
  const outputs = ofOneTable([...names].map(([name, sources]) => mergeColumns(binder, name, sources)));
  const source = withSource === undefined ? [] : [binder.column(withSource.name, 'string')];
  const columns = uniqueNames([...source, ...outputs]);
  if (withSource !== undefined) warnOfTaken(binder, withSource, outputs, columns.slice(1));
  const inputs = tables.map(({ name, stage }) => ({
    relation: stage.relation,
    values: [
      ...source.map((): Scalar => constant('string', name)),
      ...outputs.map(output => sourceOf(stage, output)),
    ],
  }));
  return freshStage(
    { kind: 'union', inputs, columns },
    tables.some(table => table.stage.open),
  );
}

/** Warns that the requested name of a field is taken, and a different one is used. */
function warnOfTaken(
  binder: Binder,
  { name, at }: { readonly name: string; readonly at: Span },
  fields: readonly Column[],
  columns: readonly Column[],
): void {
  const place = fields.findIndex(field => field.name === name);
  const column = columns[place];
  if (column === undefined) return;
  const message = `\`${name}\` is also a field of the tables, renamed to \`${column.name}\` here`;
  binder.report('warning', 'replaced-field', at, message, 'Use another field for the table names.');
}

function mergeColumns(binder: Binder, name: string, sources: readonly Column[]): Column {
  const type = commonType(sources.map(reference));
  const { unit, description } = sources[0] ?? {};
  return binder.column(name, type, {
    ...present({ unit, description }),
  });
}

function sourceOf(stage: Stage, output: Column): Scalar {
  const column = stage.relation.columns.find(candidate => candidate.name === output.name);
  if (column === undefined) return constant(output.type, null);
  return convertTo(reference(column), output.type);
}

function bindDatatable(binder: Binder, source: SourceOf<'datatable'>): Stage {
  const columns = uniqueNames(source.columns.map(column => binder.column(column.name.name, column.type)));
  const width = columns.length;
  if (width > 0 && source.values.length % width !== 0) {
    const count = source.values.length;
    binder.error(
      'datatable-shape',
      source,
      `${count} values do not fill rows of ${width} columns`,
      `${count % width} left over: add ${width - (count % width)} or remove ${count % width}.`,
    );
  }
  const rows: Scalar[][] = [];
  for (let at = 0; width > 0 && at + width <= source.values.length; at += width) {
    const values = source.values.slice(at, at + width);
    rows.push(
      columns.flatMap((column, index) =>
        values.slice(index, index + 1).map(value => tableValue(binder, value, column)),
      ),
    );
  }
  return bounded(freshStage({ kind: 'values', rows, columns }, false));
}

function tableValue(binder: Binder, expr: Expr, column: Column): Scalar {
  const value = bindExpression(binder, expr, noScope);
  if (column.type === value.type || value.type === 'dynamic' || column.type === 'dynamic')
    return convertTo(value, column.type);
  const numeric =
    (column.type === 'real' || column.type === 'long' || column.type === 'timespan') &&
    (value.type === 'long' || value.type === 'real');
  if (numeric) return convertTo(value, column.type);
  warnOfText(binder, expr, value, column);
  const conversion = conversionTo[column.type];
  return conversion === undefined ? convertTo(value, column.type) : call(conversion, [value], column.type);
}

/** Warns about a string that is not a number and becomes a null: as in pasted CSV, it would go unnoticed among the others. */
function warnOfText(binder: Binder, expr: Expr, value: Scalar, { name, type }: Column): void {
  if (value.kind !== 'constant' || typeof value.value !== 'string') return;
  if (value.value === '' || (type !== 'long' && type !== 'real') || NUMBERS[type].test(value.value)) return;
  binder.report(
    'warning',
    'datatable-value',
    expr,
    `\`${shorten(binder.text(expr))}\` is not a ${type}: it is null in \`${name}\``,
  );
}

/** Number formats that the conversions accept. */
const NUMBERS = {
  long: /^[+-]?\d+$/,
  real: /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?|[+-]?nan)$/i,
};

const conversionTo: Readonly<Partial<Record<string, string>>> = {
  string: 'tostring',
  long: 'toint',
  real: 'todouble',
  bool: 'tobool',
  datetime: 'todatetime',
  timespan: 'totimespan',
};

function bindPrint(binder: Binder, items: readonly Assignment[]): Stage {
  const row = items.map(item => bindExpression(binder, item.value, noScope));
  const columns = uniqueNames(
    items.map((item, index) =>
      binder.column(
        givenName(binder, item) ?? defaultName(binder, item.value, index, 'print_'),
        row[index]?.type ?? 'dynamic',
      ),
    ),
  );
  return bounded(freshStage({ kind: 'values', rows: [row], columns }, false));
}

function bindRange(binder: Binder, source: SourceOf<'range'>): Stage {
  const start = bindExpression(binder, source.start, noScope);
  const end = bindExpression(binder, source.end, noScope);
  const step = bindExpression(binder, source.step, noScope);
  const type = rangeType(start, end, step);
  if (type === undefined) {
    binder.error(
      'range-types',
      source,
      '`range` takes numbers, datetimes or timespans',
      'For example: range x from 1 to 10 step 1, range t from ago(1h) to now() step 5m.',
    );
    return empty([binder.column(source.name.name, 'long')]);
  }
  if (type !== 'long' && type !== 'real') warnOfBareStep(binder, { expr: source.step, value: step }, type);
  checkLength(binder, source, start, end, step);
  const column = binder.column(source.name.name, type);
  const relation: Relation = {
    kind: 'sequence',
    start: convertTo(start, type),
    end: convertTo(end, type),
    step: convertTo(step, type === 'datetime' ? 'timespan' : type),
    columns: [column],
  };
  return bounded(freshStage(relation, false));
}

/** Returns the type of a range's values, or undefined if they cannot be counted. */
function rangeType(start: Scalar, end: Scalar, step: Scalar): TypeName | undefined {
  const counted = (value: Scalar): boolean => isNumber(value.type) || isNull(value);
  if (counted(start) && counted(end) && counted(step)) {
    const type = commonType([start, end, step]);
    return type === 'dynamic' ? 'long' : type;
  }
  const wide = (value: Scalar): boolean =>
    value.type === 'timespan' || value.type === 'long' || isNull(value);
  if (start.type === 'datetime' && (end.type === 'datetime' || isNull(end)) && wide(step)) return 'datetime';
  return start.type === 'timespan' && wide(end) && wide(step) ? 'timespan' : undefined;
}

function checkLength(binder: Binder, span: Span, start: Scalar, end: Scalar, step: Scalar): void {
  const known = (bound: Scalar): number =>
    bound.kind === 'constant' && typeof bound.value === 'number'
      ? bound.value
      : Number(constantInteger(binder, bound) ?? Number.NaN);
  const rows = Math.floor((known(end) - known(start)) / known(step)) + 1;
  if (!(rows > mostSequenceRows) || known(step) === 0) return;
  binder.error(
    'range-too-long',
    span,
    `the range would have ${Number.isFinite(rows) ? rows : 'endless'} rows, more than ${mostSequenceRows}`,
    'Use a larger step or a shorter range.',
  );
}

type ExternalData = SourceOf<'externaldata'>;

/** Reads files by URL, after the environment has checked each URL. */
function bindExternalData(binder: Binder, source: ExternalData): Stage {
  const columns = uniqueNames(source.columns.map(column => binder.column(column.name.name, column.type)));
  const files = source.urls.flatMap(url => externalFile(binder, source, url));
  const skipFirst = ['ignoreFirstRecord', 'skipFirstRow'].some(
    name => optionText(source.options, name, optionsOf('externaldata')) === 'true',
  );
  const format = externalFormat(source);
  return bounded(freshStage({ kind: 'external', files, format, skipFirst, columns }, false));
}

function externalFile(binder: Binder, source: ExternalData, url: Literal): readonly string[] {
  const found = binder.environment.external?.(String(url.value));
  if (found?.ok) return [found.path];
  if (found === undefined)
    binder.error(
      'unavailable',
      source,
      '`externaldata` is not available here',
      'Import the file with `%import`.',
    );
  else binder.error('unavailable', url, `\`externaldata\` cannot read this: ${found.problem}`, found.hint);
  return [];
}

/** Returns the specified format, else that of the first file's extension, else CSV. */
function externalFormat({ options, urls }: ExternalData): ExternalFormat {
  const ending = /\.([a-z]+)$/i.exec(String(urls[0]?.value ?? ''))?.[1] ?? 'csv';
  const name = optionText(options, 'format', optionsOf('externaldata')) ?? ending;
  return externalFormats[name.toLowerCase()] ?? 'csv';
}

/** Formats by file extension and by values of `format`. */
const externalFormats: Readonly<Record<string, ExternalFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  psv: 'psv',
  scsv: 'scsv',
  json: 'json',
  multijson: 'json',
  ndjson: 'json',
  jsonl: 'json',
  raw: 'raw',
  txt: 'txt',
};

function bindSearchSource(binder: Binder, source: SourceOf<'search'>): Stage {
  const { tables } = source;
  const every = (): { name: string; stage: Stage }[] =>
    everyDataset(binder, source).map(name => ({ name, stage: scan(binder, name, source) }));
  const stages =
    tables.length === 0
      ? every()
      : tables.flatMap(table =>
          table.kind === 'pattern'
            ? matching(binder, table.pattern)
            : [
                {
                  name: table.kind === 'dataset' ? table.name.name : binder.text(table),
                  stage: bindSource(binder, table),
                },
              ],
        );
  return bindSearchFilter(binder, source, unionOf(binder, stages, { name: '$table', at: source }));
}

function everyDataset(binder: Binder, span: Span): readonly string[] {
  const names = binder.environment.datasets();
  return binder.count('tables', span, names.length) ? names : [];
}

/** Returns a stand-in for a table that could not be bound: its fields are unknown. */
function nowhere(): Stage {
  return { ...empty([]), open: true };
}

function empty(columns: readonly Column[]): Stage {
  return bounded(freshStage({ kind: 'values', rows: [], columns }, false));
}

/** Marks an inline table as complete: no implicit limit or order applies. */
function bounded(stage: Stage): Stage {
  return { ...stage, bounded: true };
}
