/** The language as the kernel, the local service and an editor use it: plain functions over text; no input or output. */
export type { Diagnostic, Query, Severity, Span } from './ast.js';
export { type BoundQuery, bind } from './bind.js';
export {
  type Cell,
  type CellQuery,
  type CellStatement,
  completeness,
  type MagicLine,
  parseCell,
  splitCell,
  toCellOffset,
} from './cell.js';
export {
  type CompletionItem,
  type CompletionKind,
  type Completions,
  complete,
  type EditorEnvironment,
  writtenName,
} from './complete.js';
export { type Cursor, cursorAt, type Slot } from './cursor.js';
export { definition, type Renaming, references, rename } from './definition.js';
export { describedNames, describeName } from './describe.js';
export { format } from './format.js';
export { type Hover, hover, type SignatureHelp, signatureHelp } from './hover.js';
export { typeNamed } from './literals.js';
export { type Parsed, parseQuery } from './parse.js';
export type { BindEnvironment, DatasetSchema, FieldSchema, Plan } from './plan.js';
export { visitQuery } from './walk.js';
