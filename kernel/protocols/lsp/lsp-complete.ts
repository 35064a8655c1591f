import {
  type CompletionItem,
  CompletionItemKind,
  type CompletionList,
  InsertTextFormat,
  MarkupKind,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { CompletionKind, CompletionItem as Offer } from '../../apl/editor/completion/complete.js';
import { completeCell } from '../../apl/editor/editor-cell.js';
import { describeName } from '../../apl/editor/help/help-describe.js';
import { visible, visibleLines } from '../../text.js';
import type { Known } from './knowledge.js';
import { type CellText, rangeOf } from './lsp-cells.js';

const kinds: Readonly<Record<CompletionKind, CompletionItemKind>> = {
  operator: CompletionItemKind.Keyword,
  function: CompletionItemKind.Function,
  aggregate: CompletionItemKind.Function,
  dataset: CompletionItemKind.Class,
  field: CompletionItemKind.Field,
  keyword: CompletionItemKind.Keyword,
  value: CompletionItemKind.Value,
  let: CompletionItemKind.Variable,
  type: CompletionItemKind.TypeParameter,
  snippet: CompletionItemKind.Snippet,
  option: CompletionItemKind.EnumMember,
};

/** Returns the completions at an offset of a cell, best first; `snippets` says whether the editor supports them. */
export function completionsAt(
  document: TextDocument,
  { text, from }: CellText,
  offset: number,
  { environment }: Known,
  snippets: boolean,
): CompletionList {
  const found = completeCell(text, offset - from, environment);
  const range = rangeOf(document, found, from);
  const typed = text.slice(found.from, offset - from);
  const isCalled = text[found.to] === '(';
  const items = found.items.map((offer, index) => {
    const { label, kind, insert } = offer;
    const written = insertion(offer, isCalled, snippets);
    return {
      label: visible(label),
      kind: kinds[kind],
      detail: detailOf(offer),
      // Editors match the replaced text against this, which begins the same.
      filterText: /^[[('"]/.test(typed) ? insert : label,
      sortText: String(index).padStart(5, '0'),
      textEdit: { range, newText: written.text },
      insertTextFormat: written.format,
      data: { kind, label },
      ...documentation(offer),
    };
  });
  // The order depends on the typed text, so each keystroke requests again.
  return { isIncomplete: true, items };
}

/** Returns an item with its documentation, which is generated on demand for elements of the language. */
export function described(item: CompletionItem): CompletionItem {
  const { kind, label } = (item.data ?? {}) as { readonly kind?: string; readonly label?: string };
  if (!['function', 'aggregate', 'operator', 'keyword'].includes(kind ?? '')) return item;
  const value = describeName(label ?? '');
  return value === undefined ? item : { ...item, documentation: { kind: MarkupKind.Markdown, value } };
}

/** Returns the documentation of an item; descriptions of fields and datasets come from data, and are not Markdown. */
function documentation({ doc, kind }: Offer): Pick<CompletionItem, 'documentation'> {
  if (doc === undefined || kind === 'function' || kind === 'aggregate') return {};
  return { documentation: { kind: MarkupKind.PlainText, value: visibleLines(doc) } };
}

function detailOf({ signature, type, unit, kind }: Offer): string {
  const known = signature ?? [type, unit].filter(each => each !== undefined && each !== '').join(', ');
  return visible(known === '' ? kind : known);
}

function insertion(
  { insert, kind }: Offer,
  isCalled: boolean,
  snippets: boolean,
): { readonly text: string; readonly format: InsertTextFormat } {
  const plain = (text: string) => ({ text, format: InsertTextFormat.PlainText });
  if (kind === 'snippet') {
    let place = 0;
    const named = insert.replace(/#\{(\w+)\}/g, '$1');
    const numbered = escapeSnippet(insert).replace(/#\{(\w+)\\\}/g, (_, name) => `\${${++place}:${name}}`);
    return snippets ? { text: numbered, format: InsertTextFormat.Snippet } : plain(named);
  }
  const isCall = insert.endsWith('(') || kind === 'function' || kind === 'aggregate';
  if (!isCall) return plain(insert);
  const name = insert.replace(/\($/, '');
  if (isCalled) return plain(name);
  return snippets
    ? { text: `${escapeSnippet(name)}($0)`, format: InsertTextFormat.Snippet }
    : plain(`${name}(`);
}

/** Escapes a string so that an editor finds no placeholders in it. */
function escapeSnippet(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}
