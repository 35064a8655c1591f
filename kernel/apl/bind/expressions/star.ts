import type { Column, Scalar } from '../../plan/plan.js';
import { call, condition, constant, joined, reference } from '../../plan/scalars.js';
import type { BinaryOperator } from '../../syntax/ast.js';
import { convertTo } from '../binder.js';

/** Binds `* has "x"`: any field. Non-string fields are read as strings, times are left out. */
export function anyField(operator: BinaryOperator, columns: readonly Column[], text: Scalar): Scalar {
  const negated = operator.startsWith('!');
  if (termOperator.test(operator)) {
    const found = condition(operator, textOfFields(columns), text);
    const term = text.kind === 'constant' && typeof text.value === 'string' ? text.value : '';
    const first = containedIn(columns, term, operator.endsWith('_cs'));
    return first === undefined ? found : call('iff', [first, found, constant('bool', negated)], 'bool');
  }
  const tests = textsOf(columns).map(value => condition(operator, value, text));
  return joined(negated ? 'and' : 'or', tests) ?? constant('bool', negated);
}

/**
 * Returns the text of all fields but times and durations as one string: a term never spans two fields, and a pattern per field would take
 * the engine seconds to plan.
 */
export function textOfFields(columns: readonly Column[]): Scalar {
  const texts = textsOf(columns);
  return texts.length === 0 ? constant('string', '') : call('$joined_text', texts, 'string');
}

/**
 * Returns a test of whether any field contains a term, which rules out most rows before the text of all fields is joined; undefined if so
 * many fields may contain it that this is slower, or if the term may span several.
 */
export function containedIn(
  columns: readonly Column[],
  term: string,
  sensitive: boolean,
): Scalar | undefined {
  const fields = textFields(columns).filter(({ type }) => mayHold(type, term));
  if (term === '' || /[\n\uffff]/.test(term) || fields.length > mostFields) return undefined;
  const operator = sensitive ? 'contains_cs' : 'contains';
  const tests = fields.map(field => condition(operator, textOf(field), constant('string', term)));
  return joined('or', tests) ?? constant('bool', false);
}

const mostFields = 64;

/** Characters that the text of each type consists of, in lower case. */
const characters: Readonly<Partial<Record<Column['type'], RegExp>>> = {
  bool: /^[truefals]*$/,
  long: /^[-0-9]*$/,
  real: /^[-+.0-9einfa]*$/,
};

function mayHold(type: Column['type'], term: string): boolean {
  return characters[type]?.test(term.toLowerCase()) ?? true;
}

const termOperator = /^!?has/;

function textFields(columns: readonly Column[]): readonly Column[] {
  return columns.filter(
    ({ type, name }) => type !== 'datetime' && type !== 'timespan' && !name.startsWith('$'),
  );
}

function textOf(column: Column): Scalar {
  return convertTo(reference(column), 'string');
}

function textsOf(columns: readonly Column[]): Scalar[] {
  return textFields(columns).map(textOf);
}
