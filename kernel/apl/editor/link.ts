import type { FieldSchema } from '../plan/plan.js';
import type { KernelFacts } from './known.js';

/** The comm target of the kernel's end. */
export const editorTarget = 'apl.editor';

/** What an editor asks; answers about data depend on the session's profile and time range. */
export type EditorQuestion =
  | { readonly ask: 'fields'; readonly dataset: string }
  /** The most frequent values of a text field. */
  | { readonly ask: 'values'; readonly field: string; readonly dataset: string }
  /** The keys of a map; `path` is the field and the keys that lead to it. */
  | { readonly ask: 'keys'; readonly path: string[]; readonly dataset: string };

/** What a kernel sends: facts, when the comm opens and after each cell, and answers. */
export type EditorNews =
  | { readonly tell: 'facts'; readonly facts: KernelFacts }
  | {
      readonly tell: 'fields';
      readonly question: EditorQuestion;
      readonly fields: readonly FieldSchema[];
    }
  | { readonly tell: 'texts'; readonly question: EditorQuestion; readonly texts: readonly string[] };

/** Returns a message of an editor, or undefined for anything else. */
export function readQuestion(data: unknown): EditorQuestion | undefined {
  const { ask, dataset, field, path } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof dataset !== 'string') return undefined;
  if (ask === 'fields') return { ask, dataset };
  if (ask === 'values' && typeof field === 'string') return { ask, dataset, field };
  if (ask === 'keys' && Array.isArray(path) && path.every(part => typeof part === 'string'))
    return { ask, dataset, path };
  return undefined;
}
