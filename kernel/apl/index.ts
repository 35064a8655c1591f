/** The language as the kernel, the local service and an editor use it: plain functions over text; no input or output. */

export { type BoundQuery, bind } from './bind/bind.js';
export {
  type CompletionItem,
  type CompletionKind,
  type Completions,
  complete,
  type EditorEnvironment,
  writtenName,
} from './editor/complete.js';
export { type Cursor, cursorAt, type Slot } from './editor/cursor.js';
export { definition, type Renaming, references, rename } from './editor/definition.js';
export { describedNames, describeName } from './editor/describe.js';
export { format } from './editor/format.js';
export { type Hover, hover, type SignatureHelp, signatureHelp } from './editor/hover.js';
export type { BindEnvironment, DatasetSchema, FieldSchema, Plan } from './plan/plan.js';
export type { Diagnostic, Query, Severity, Span } from './syntax/ast.js';
export {
  type Cell,
  type CellQuery,
  type CellStatement,
  completeness,
  type MagicLine,
  parseCell,
  splitCell,
  toCellOffset,
} from './syntax/cell.js';
export { typeNamed } from './syntax/literals.js';
export { type Parsed, parseQuery } from './syntax/parse.js';
export { visitQuery } from './syntax/walk.js';
