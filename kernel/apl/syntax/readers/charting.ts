/** Chart options in the source of a cell: comments above a query, such as `// @viz bar`, and `| render bar` at the end of a query. */
import { present } from '../../../present.js';
import { type ChartOptions, chartKinds, drawing, renderings } from '../../operators/drawing.js';
import type { Diagnostic, OperatorOf, Span } from '../ast.js';
import { finding } from '../diagnostics.js';
import { nearest } from '../nearest.js';
import { type Parsed, QueryText } from '../parse.js';
import { tokenize } from '../tokens/lexer.js';
import { optionText } from './read-options.js';

/** A word after `@` at the top of a cell, with its value. */
export interface Directive extends Span {
  readonly name: Span;
  readonly value: Span;
}

/** Directives with their documentation, which the editor uses for completion and hovers. */
export const directives: Readonly<Record<DirectiveName, DirectiveRow>> = {
  viz: {
    values: chartKinds,
    argument: 'KIND',
    wanted: 'a chart type',
    unknown: 'unknown chart type',
    known: `Chart types: ${chartKinds.join(', ')}.`,
    doc: 'Chart type for the results of the cell.',
  },
  stack: { values: [], doc: 'Stacks the groups.' },
  log: { values: [], doc: 'Uses a logarithmic value axis.' },
  unit: {
    values: undefined,
    argument: 'UNIT',
    doc: 'Unit of the measures, such as `ms`, `bytes` or `MiBy/s`.',
  },
  annotations: {
    values: ['on', 'off'],
    argument: 'on|off',
    wanted: '`on` or `off`',
    unknown: '`@annotations` must be `on` or `off`, not',
    known: 'Write `// @annotations off` for charts without them.',
    doc: 'Whether time charts show annotations.',
  },
  beside: {
    values: [],
    doc: 'Shows two results of the cell, or a chart and its table, side by side if there is room.',
  },
};

interface DirectiveRow {
  /** Empty for a directive without a value, undefined for one that accepts any. */
  readonly values: readonly string[] | undefined;
  readonly doc: string;
  /** Name of its value; absent for a directive without one. */
  readonly argument?: string;
  /** Messages for a missing value and an unknown one, and the list of known values. */
  readonly wanted?: string;
  readonly unknown?: string;
  readonly known?: string;
}

type DirectiveName = 'viz' | 'stack' | 'log' | 'unit' | 'annotations' | 'beside';

const names = Object.keys(directives);

/** Returns the directives at the top of a source, before its first line of APL. */
export function directivesIn(source: string): readonly Directive[] {
  return written(source).above;
}

/** Returns a source without its directive lines. */
export function withoutDirectives(source: string): string {
  const lines = directivesIn(source).map(({ from }) => source.slice(0, from).split('\n').length - 1);
  return source
    .split('\n')
    .filter((_, line) => !lines.includes(line))
    .join('\n');
}

/** Returns the directives above the first line of APL, and those below it, which have no effect. */
function written(source: string): {
  readonly above: readonly Directive[];
  readonly below: readonly Directive[];
} {
  const above: Directive[] = [];
  const below: Directive[] = [];
  let [found, at, isQuoted] = [above, 0, false];
  for (const line of source.split('\n')) {
    const start = at;
    at += line.length + 1;
    const text = line.trimStart();
    if (text !== '' && !text.startsWith('//') && !/^%%?[A-Za-z_]/.test(text)) found = below;
    if (line.split('```').length % 2 === 0) isQuoted = !isQuoted;
    if (isQuoted) continue;
    const match = /^(\s*\/\/\s*)@(\w+)(\s*)(.*)$/.exec(line.trimEnd());
    if (match === null) continue;
    const [, before = '', name = '', space = '', value = ''] = match;
    const from = start + before.length;
    const nameEnd = from + 1 + name.length;
    const valueFrom = nameEnd + space.length;
    const [to, valueTo] = [valueFrom + value.length, valueFrom + value.length];
    if (!isDirective(name) && nearest(name, names) === undefined) continue;
    found.push({ from, to, name: { from: from + 1, to: nameEnd }, value: { from: valueFrom, to: valueTo } });
  }
  return { above, below };
}

/** Returns the options set by the directives at the top of a source, and their errors; other comments are ignored. */
export function readDirectives(source: string): {
  readonly chart: ChartOptions;
  readonly diagnostics: readonly Diagnostic[];
} {
  const diagnostics: Diagnostic[] = [];
  let chart: ChartOptions = {};
  const { above, below } = written(source);
  for (const directive of below) {
    const name = source.slice(directive.name.from, directive.name.to);
    const message = `\`@${name}\` has no effect here`;
    if (isDirective(name))
      diagnostics.push(finding('warning', 'directive', directive, message, 'Move it above the query.'));
  }
  for (const directive of above) {
    const name = source.slice(directive.name.from, directive.name.to);
    const value = source.slice(directive.value.from, directive.value.to);
    const problem = isDirective(name) ? problemOf(name, value, directive) : unknown(name, directive.name);
    if (problem !== undefined) diagnostics.push(problem);
    else chart = { ...chart, ...meaningOf(name, value) };
  }
  return { chart, diagnostics };
}

/**
 * Returns a query without its final `| render …`, which is only for the front end, and the options that it sets. If it has an error, it
 * stays in the query for the service to reject.
 */
export function withoutRender(query: QueryText): { readonly query: QueryText; readonly chart: ChartOptions } {
  const { text } = query;
  if (!/\brender\b/.test(text)) return { query, chart: {} };
  const last = query.pipeline?.operators.at(-1);
  if (last?.kind !== 'render') return { query, chart: {} };
  if (query.diagnostics.some(({ severity, to }) => severity === 'error' && to >= last.from))
    return { query, chart: {} };
  const pipe = tokenize(text).findLast(token => token.text === '|' && token.to <= last.from);
  const rest = text.slice(0, pipe?.from ?? last.from).trimEnd() + text.slice(last.to);
  return { query: new QueryText(rest, withoutLast(query)), chart: renderingOf(last) };
}

/** Returns the tree without the last operator: earlier positions are unchanged. */
function withoutLast({ tree, diagnostics }: QueryText): Parsed {
  const statements = tree.statements.map(each =>
    each.kind === 'query'
      ? { ...each, pipeline: { ...each.pipeline, operators: each.pipeline.operators.slice(0, -1) } }
      : each,
  );
  return { query: { ...tree, statements }, diagnostics };
}

function renderingOf({ chart, options }: OperatorOf<'render'>): ChartOptions {
  const known = drawing.render.clauses[1].options;
  const named = Object.hasOwn(renderings, chart.name) ? renderings[chart.name] : undefined;
  const asked = named ?? { kind: chartKinds.find(kind => kind === chart.name) };
  const form = optionText(options, 'kind', known);
  const [axis, legend] = ['yaxis', 'legend'].map(name => optionText(options, name, known));
  return {
    ...present({
      kind: asked.kind,
      stack:
        form === 'stacked' || ('stack' in asked && form !== 'unstacked')
          ? true
          : form === 'unstacked'
            ? false
            : undefined,
      log: axis === 'log' ? true : undefined,
      title: optionText(options, 'title', known),
      legend: legend === 'hidden' ? false : undefined,
    }),
  };
}

function isDirective(name: string): name is DirectiveName {
  return Object.hasOwn(directives, name);
}

function problemOf(name: DirectiveName, value: string, directive: Directive): Diagnostic | undefined {
  const row = directives[name];
  if (row.values === undefined) {
    if (value !== '') return undefined;
    return finding(
      'error',
      'directive',
      directive,
      `\`@${name}\` needs a unit`,
      'For example: `// @unit ms`.',
    );
  }
  if (row.values.length === 0)
    return value === ''
      ? undefined
      : finding(
          'error',
          'directive',
          directive.value,
          `\`@${name}\` takes no value`,
          `Write \`// @${name}\` without a value.`,
          '',
        );
  if (row.values.includes(value)) return undefined;
  const near = nearest(value.toLowerCase(), row.values);
  const { wanted = '', unknown = '', known = '' } = row;
  const place = value === '' ? directive : directive.value;
  const message = value === '' ? `\`@${name}\` requires ${wanted}` : `${unknown} \`${value}\``;
  return finding(
    'error',
    'directive',
    place,
    message,
    near === undefined ? known : `Did you mean \`${near}\`? ${known}`,
    value === '' ? undefined : near,
  );
}

function unknown(name: string, span: Span): Diagnostic {
  const near = nearest(name, names);
  return finding(
    'error',
    'directive',
    span,
    `unknown directive \`@${name}\``,
    `Did you mean \`@${near}\`?`,
    near,
  );
}

function meaningOf(name: string, value: string): ChartOptions {
  switch (name) {
    case 'viz':
      return present({ kind: chartKinds.find(kind => kind === value) });
    case 'unit':
      return { unit: value };
    case 'annotations':
      return { annotations: value === 'on' };
    case 'stack':
      return { stack: true };
    case 'beside':
      return { beside: true };
    default:
      return { log: true };
  }
}
