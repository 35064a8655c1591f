import type { Column, Relation, Scalar } from '../../../../kernel/apl/plan/plan.js';
import { inputsOf, partsOf } from '../../../../kernel/apl/plan/plan-walk.js';

/** Returns a plan as text: one line per relation, with its inputs indented below it. */
export function planText(relation: Relation, indent = ''): string {
  const { kind, columns, ...members } = relation;
  const inputs = new Set<unknown>(inputsOf(relation));
  const own = Object.entries(members).filter(([, value]) => !inputs.has(value));
  const said = own.map(([name, value]) => ` ${name}=${valueText(value)}`).join('');
  const line = `${indent}${kind}${said} -> ${columns.map(columnText).join(' ')}`.trimEnd();
  return [line, ...inputsOf(relation).map(input => planText(input, `${indent}  `))].join('\n');
}

function columnText({ id, name, type, role }: Column): string {
  return `#${id}:${name}:${type}${role === undefined ? '' : `:${role}`}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if ('id' in value && 'name' in value) return columnText(value as Column);
  if ('columns' in value) return '<input>';
  if ('kind' in value) return scalarText(value as Scalar);
  const members = Object.entries(value).filter(([name]) => name !== 'at');
  return `{${members.map(([name, each]) => `${name}: ${valueText(each)}`).join(', ')}}`;
}

function scalarText(value: Scalar): string {
  if (value.kind === 'column') return `#${value.id}`;
  if (value.kind === 'constant') return valueText(value.value);
  const name = value.kind === 'call' ? value.name : 'operator' in value ? value.operator : value.kind;
  const type = value.kind === 'convert' ? ` ${value.type}` : '';
  return `${name}${type}(${partsOf(value).map(scalarText).join(', ')})`;
}
