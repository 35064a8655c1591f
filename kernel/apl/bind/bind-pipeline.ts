import { aggregateNamed } from '../catalog/all-functions.js';
import { hintForOperator, sameOperands } from '../hints/hint-operators.js';
import { translatedStage } from '../hints/stages.js';
import { operatorWords } from '../operators/operator-rows.js';
import type { Relation } from '../plan/plan.js';
import { inputsOf } from '../plan/plan-walk.js';
import type { Operator, OperatorOf, Pipeline } from '../syntax/ast.js';
import { nearest } from '../syntax/nearest.js';
import { parseQuery } from '../syntax/parse.js';
import { limits } from '../syntax/syntax-limits.js';
import { operatorBinders } from './bind-operators.js';
import { bindSource } from './bind-source.js';
import { freshStage, type Stage } from './bind-stage.js';
import { type Binder, shorten } from './binder.js';
import { withNeighbors } from './expressions/neighbors.js';

/** Binds a source and its operators. */
export function bindPipeline(binder: Binder, pipeline: Pipeline): Stage {
  if (!binder.enter(pipeline, weightOfPipeline)) return emptyStage();
  let stage = bindSource(binder, pipeline.source);
  for (const [index, operator] of pipeline.operators.entries()) {
    stage = afterOperator(bindOperator(binder, operator, stage), operator);
    if (operator.kind === 'as')
      nameRows(binder, operator, { ...pipeline, operators: pipeline.operators.slice(0, index) });
    if (depthOf(stage.relation) <= mostRelations) continue;
    binder.limit(operator, limits.stages);
    return { ...stage, open: true };
  }
  return stage;
}

/** Removes the name of the table, as an operator has changed its rows; `as` sets a new one. */
function afterOperator({ table: _, ...stage }: Stage, operator: Operator): Stage {
  return operator.kind === 'as' ? { ...stage, table: operator.name.name } : stage;
}

/**
 * Binds `T | as name`: each use of the name is bound again, like a `let` table. Within the named rows, the name keeps its earlier meaning.
 */
function nameRows(binder: Binder, { name: { name }, ...span }: OperatorOf<'as'>, before: Pipeline): void {
  const { definitions } = binder;
  const earlier = definitions.get(name);
  const bind = (): Stage => {
    if (earlier === undefined) definitions.delete(name);
    else definitions.set(name, earlier);
    const stage = bindPipeline(binder, before);
    definitions.set(name, definition);
    return stage;
  };
  const definition = { kind: 'table', bind, span, used: true } as const;
  definitions.set(name, definition);
}

/** Weight of a pipeline against the node limit, counted for each use of a `let` table. */
const weightOfPipeline = { levels: 0, nodes: 10 };

function emptyStage(): Stage {
  return freshStage({ kind: 'values', rows: [], columns: [] }, true);
}

/** An operator expands to one to three relations. */
const mostRelations = limits.stages.most * 2;
const depths = new WeakMap<Relation, number>();

/** Returns how many relations are chained; depths are cached, as every stage asks for them. */
function depthOf(relation: Relation): number {
  const known = depths.get(relation);
  if (known !== undefined) return known;
  const depth = 1 + Math.max(0, ...inputsOf(relation).map(depthOf));
  depths.set(relation, depth);
  return depth;
}

function bindOperator(binder: Binder, operator: Operator, stage: Stage): Stage {
  if (operator.kind !== 'unknown') {
    // The operator's kind selects a binder that accepts this node; the table's type checks this for each kind separately.
    const bindNode = operatorBinders[operator.kind] as (b: Binder, o: Operator, s: Stage) => Stage;
    return withNeighbors(binder, operator, stage, rows => bindNode(binder, operator, rows));
  }
  const word = binder.text(operator.word);
  if (word === '') return stage;
  const foreign = hintForOperator(word, binder.text(operator));
  const translated = stageElsewhere(binder.text(operator), foreign);
  const message = `APL has no operator \`${word}\``;
  if (translated !== undefined) {
    const hint = `Write \`| ${shorten(translated)}\`.`;
    binder.error('unknown-operator', operator, message, hint, translated);
  } else if (foreign !== undefined) {
    binder.error(
      'unknown-operator',
      operator.word,
      message,
      foreign,
      wordElsewhere(binder.text(operator), foreign),
    );
  } else {
    const summarized = summarizedHint(word, binder.text(operator));
    if (summarized !== undefined) {
      const message = `\`${word}\` is an aggregate, not an operator`;
      binder.error('unknown-operator', operator.word, message, summarized, `summarize ${word}`);
      return stage;
    }
    const compared = comparedHint(word, binder.text(operator));
    if (compared !== undefined) {
      const message = `\`${word}\` is not an operator`;
      binder.error('unknown-operator', operator.word, message, compared.hint, compared.instead);
      return stage;
    }
    const guess = nearest(word, operatorWords);
    binder.error(
      'unknown-operator',
      operator.word,
      `unknown operator \`${word}\``,
      guess === undefined ? '`%help operators` lists all operators.' : `Did you mean \`${guess}\`?`,
      guess,
    );
  }
  return stage;
}

/** Returns a stage of another tool as APL, if changing its word is not enough. */
function stageElsewhere(text: string, hint: string | undefined): string | undefined {
  const isPlain =
    hint !== undefined &&
    sameOperands(hint) !== undefined &&
    !/^\w+(?:$|\(|\s*[-+]|\s+\.|\s+distinct\s)|\s(?:over|from|span=)/.test(text);
  const translated = isPlain ? undefined : translatedStage(text);
  if (translated === undefined) return undefined;
  return parseQuery(`x | ${translated}`).diagnostics.some(({ severity }) => severity === 'error')
    ? undefined
    : translated;
}

/** Returns the word that replaces the operator; undefined if its operands are command options, or missing. */
function wordElsewhere(text: string, hint: string): string | undefined {
  if (/^\w+\s+\*$/.test(text) && hint.includes('| project ')) return undefined;
  const isOdd = /^\w+(?:\s+-\w.*|\(.*,.*\))?$/s.test(text);
  return isOdd && /\u2026|N`/.test(hint) ? undefined : sameOperands(hint);
}

/** Returns the fix for a condition in place of an operator, as in `| status == 500`. */
function comparedHint(
  word: string,
  text: string,
): { readonly hint: string; readonly instead?: string } | undefined {
  const rest = text.slice(word.length);
  if (/^(?:[\w.]*)\s*=(?![=~])/.test(rest))
    return { hint: `Write \`where ${word} == …\` to filter, or \`extend ${word} = …\` for a new field.` };
  return /^[\w.]*\s*(?:[!=<>]=|[<>:]|=~|!?(?:contains|has|startswith|endswith|matches|between|in)\b)/.test(
    rest,
  )
    ? { hint: 'Filter rows with `where`.', instead: `where ${word}` }
    : undefined;
}

/** Returns the fix for an aggregate in place of an operator, as in `| avg(x) by y`. */
function summarizedHint(word: string, text: string): string | undefined {
  if (aggregateNamed(word) === undefined || !/^\s*\(/.test(text.slice(word.length))) return undefined;
  return `Write \`${shorten(`summarize ${text}`)}\`.`;
}
