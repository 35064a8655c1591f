import { own } from '../../../present.js';
import { visible } from '../../../text.js';
import { aggregates } from '../../catalog/aggregates.js';
import { aggregateNamed, everyFunction, functionNamed } from '../../catalog/all-functions.js';
import type { ElementEntry, Example, FunctionEntry, Param } from '../../catalog/entry.js';
import { elementNamed, elements } from '../../catalog/operator-entries.js';

/** Returns `percentile(field: number, percentile: number) -> real`. */
export function signatureOf({ name, params, returns }: FunctionEntry): string {
  return `${name}(${params.map(parameterText).join(', ')}) -> ${returns}`;
}

/** Returns `text: string`, `[limit: long]`, `...more: any`. */
export function parameterText({ name, type, optional, rest }: Param): string {
  const text = `${rest ? '...' : ''}${name}: ${type}`;
  return optional ? `[${text}]` : text;
}

/** Returns Markdown about a function or an aggregate: signature, description, parameters, an example with its result. */
export function describeFunction(entry: FunctionEntry): string {
  const parameters = entry.params
    .filter(each => each.doc !== undefined)
    .map(each => `- \`${each.name}\`: ${each.doc}`);
  return [
    code(signatureOf(entry)),
    entry.doc,
    ...(parameters.length === 0 ? [] : [parameters.join('\n')]),
    ...aliasesOf(entry),
    ...(entry.unavailable === undefined ? [] : [`Not available in the local service: ${entry.unavailable}`]),
    exampleOf(entry.example),
    ...nullsOf(entry),
  ].join('\n\n');
}

/** Returns Markdown about an operator, a source, a statement or a piece of syntax. */
export function describeElement(entry: ElementEntry): string {
  return [
    entry.usage.map(code).join('  \n'),
    entry.doc,
    ...aliasesOf(entry),
    ...(entry.example === undefined ? [] : [exampleOf(entry.example)]),
  ].join('\n\n');
}

/** Returns Markdown about everything with that name: operator, aggregate, function; undefined if there is nothing. */
export function describeName(name: string): string | undefined {
  const listed = own(listings, name.toLowerCase());
  if (listed !== undefined) return listed();
  const element = elementNamed(name);
  const found = [aggregateNamed(name), functionNamed(name)]
    .filter(entry => entry !== undefined)
    .map(describeFunction);
  if (element !== undefined) found.unshift(describeElement(element));
  return found.length === 0 ? undefined : found.join('\n\n---\n\n');
}

/** Returns every name and alias that `describeName` knows. */
export function describedNames(): readonly string[] {
  return [...elements, ...aggregates, ...everyFunction]
    .flatMap((entry: { readonly name: string; readonly aliases?: readonly string[] }) => [
      entry.name,
      ...(entry.aliases ?? []),
    ])
    .concat(Object.keys(listings));
}

/** Returns any string as a Markdown code span. */
export function code(hostile: string): string {
  const text = visible(hostile);
  const runs = text.match(/`+/g) ?? [];
  const fence = '`'.repeat(1 + Math.max(0, ...runs.map(run => run.length)));
  return runs.length === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}

/** Topics that list elements instead of explaining one. */
const listings: Readonly<Record<string, () => string>> = {
  operators: () =>
    [
      section('Tabular operators', of('operator')),
      section('Sources', of('source')),
      section('Statements', of('statement')),
      section('Scalar operators', of('scalar')),
      section('Names and literals', of('syntax')),
    ].join('\n\n'),
  functions: () =>
    [...new Set(everyFunction.map(entry => entry.group))]
      .map(group =>
        section(
          `Functions: ${group}`,
          everyFunction.filter(entry => entry.group === group),
        ),
      )
      .join('\n\n'),
  aggregates: () => section('Aggregates, in summarize and make-series', aggregates),
};

function of(kind: ElementEntry['kind']): readonly ElementEntry[] {
  return elements.filter(entry => entry.kind === kind);
}

function section(title: string, entries: readonly { readonly name: string; readonly doc: string }[]): string {
  const lines = entries.map(({ name, doc }) => `- ${code(name)}: ${firstSentence(doc)}`);
  return `### ${title}\n\n${lines.join('\n')}`;
}

function firstSentence(doc: string): string {
  return /^.*?[.;](?=\s|$)/.exec(doc)?.[0].replace(/;$/, '.') ?? doc;
}

function aliasesOf({ aliases }: { readonly aliases?: readonly string[] }): string[] {
  return aliases === undefined || aliases.length === 0 ? [] : [`Also ${aliases.map(code).join(', ')}.`];
}

/** Returns the non-null results of the example with a null argument. */
export function nullsOf({ nulls }: FunctionEntry): readonly string[] {
  if (nulls === undefined) return [];
  const given = Object.entries(nulls).map(([name, result]) => `${code(result)} for a null ${code(name)}`);
  return [`The example gives ${given.join(', and ')}.`];
}

function exampleOf({ apl, result }: Example): string {
  // Fenced: an indented block after a list would become part of its last item.
  return `\`\`\`\n${apl}\n\`\`\`\n\ngives ${code(result)}`;
}
