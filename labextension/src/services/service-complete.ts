import {
  acceptCompletion,
  autocompletion,
  type Completion,
  CompletionContext,
  type CompletionResult,
  closeCompletion,
  completionStatus,
  insertCompletionText,
  moveCompletionSelection,
  pickedCompletion,
  selectedCompletion,
  selectedCompletionIndex,
  snippet,
  startCompletion,
} from '@codemirror/autocomplete';
import { type EditorState, type Extension, Prec } from '@codemirror/state';
import { EditorView, keymap, type Rect } from '@codemirror/view';
import type { CompletionItem } from '../../../kernel/apl/editor/completion/complete.js';
import { completeCell } from '../../../kernel/apl/editor/editor-cell.js';
import { describeName } from '../../../kernel/apl/editor/help/help-describe.js';
import { visible, visibleLines } from '../../../kernel/text.js';
import { updateEffect, viewOf } from '../link/peer.js';
import type { Workbench } from '../link/workbench.js';
import { markdownNode } from './markdown.js';
import { completeMagic, isMagicLine } from './service-magic.js';

/** Offers completions, while typing if enabled, from data the kernel has already sent: no keystroke waits for it. */
export function completions(workbench: Workbench, whileTyping: boolean): Extension {
  return [
    autocompletion({
      override: [context => offers(context, workbench)],
      activateOnTyping: whileTyping,
      activateOnTypingDelay: 0,
      defaultKeymap: false,
      interactionDelay: 0,
      tooltipClass: () => 'apl-completions',
      positionInfo: (_, list, option, info, space) => placeOfInfo(list, option, info, space),
    }),
    keymap.of([{ key: 'Ctrl-Space', run: view => open(view, true) }]),
    // Before the editor's own key bindings, which leave the cell at its edges.
    Prec.highest(EditorView.domEventHandlers({ keydown: (event, view) => onKey(event, view) })),
    EditorView.updateListener.of(update => {
      const isOutdated = update.transactions.some(each =>
        each.effects.some(effect => effect.is(updateEffect)),
      );
      if (isOutdated) queueMicrotask(() => askAgain(update.view));
    }),
  ];
}

/**
 * Positions the documentation of an option beside the list, or if there is no room, below or above the whole list: the editor's default
 * position covers the next options.
 */
function placeOfInfo(list: Rect, option: Rect, info: Rect, space: Rect): { style: string; class: string } {
  const [width, height] = [info.right - info.left, info.bottom - info.top];
  const [left, right] = [list.left - space.left, space.right - list.right];
  if (width <= Math.max(left, right)) {
    const top = Math.max(space.top, Math.min(option.top, space.bottom - height)) - list.top;
    return { style: `top: ${top}px`, class: `cm-completionInfo-${width <= right ? 'right' : 'left'}` };
  }
  const isBelow = space.bottom - list.bottom >= Math.min(height, list.top - space.top);
  return {
    style: `${isBelow ? 'top' : 'bottom'}: ${list.bottom - list.top}px; max-width: ${space.right - list.left - MARGIN}px`,
    class: 'cm-completionInfo-right-narrow',
  };
}

/** Left offset of such documentation, and some space on its right, in pixels. */
const MARGIN = 40;

/** Completes at the cursor like Tab: several options are shown; a single one that begins with the typed word is inserted. */
export function completeNow(view: EditorView, workbench: Workbench): boolean {
  if (completionStatus(view.state) === 'active') return acceptCompletion(view);
  const { head } = view.state.selection.main;
  openedAgain.delete(view);
  const found = offers(new CompletionContext(view.state, head, true), workbench);
  if (found === null || found instanceof Promise) return open(view, true);
  const typed = view.state.sliceDoc(found.from, head);
  const [only, another] = found.options.filter(({ label }) => startsWith(label, typed));
  if (another !== undefined || typeof only?.apply !== 'function') return open(view, true);
  only.apply(view, only, found.from, found.to ?? head);
  return true;
}

function startsWith(label: string, typed: string): boolean {
  return label.toLowerCase().startsWith(typed.replace(/^\[?['"]?/, '').toLowerCase());
}

/** Opens the list, on request, or again after it opened automatically. */
function open(view: EditorView, isAsked: boolean): boolean {
  if (isAsked) openedAgain.delete(view);
  else openedAgain.add(view);
  return startCompletion(view);
}

/** Views whose automatically opened list was opened again: to the editor it looks requested. */
const openedAgain = new WeakSet<EditorView>();

/** Position of the last list that was incomplete because the kernel had to be queried. */
let waiting:
  | { readonly view: EditorView; readonly state: EditorState; readonly isAsked: boolean }
  | undefined;

function askAgain(view: EditorView): void {
  const asked = waiting;
  if (asked?.view !== view || !asked.state.doc.eq(view.state.doc)) return;
  const isSamePlace = asked.state.selection.main.head === view.state.selection.main.head;
  waiting = undefined;
  if (isSamePlace && view.hasFocus) open(view, asked.isAsked);
}

type Offer = CompletionResult | null | Promise<CompletionResult | null>;

function offers({ state, pos, explicit }: CompletionContext, workbench: Workbench): Offer {
  const view = viewOf(state);
  if (view === undefined) return null;
  const cell = workbench.cellIn(view, state.doc.toString(), pos);
  const offset = pos - cell.from;
  const link = workbench.linkOf(view);
  if (isMagicLine(cell.text, offset)) return completeMagic(cell, offset, link?.kernel);
  const { from, to, items } = completeCell(cell.text, offset, workbench.environmentOf(view));
  const typed = cell.text.slice(from, offset);
  const before = cell.text.slice(0, offset);
  const isAsked = explicit && !openedAgain.has(view);
  if (link?.isAsking === true && (isAsked || mayOpen(before, typed))) waiting = { view, state, isAsked };
  const shown = isAsked ? items : unasked(items, before, typed);
  if (shown.length === 0) return null;
  return {
    from: cell.from + from,
    to: cell.from + to,
    options: shown.map(toOption),
    filter: false,
    getMatch: option => matchOf(visible(option.label), typed),
  };
}

/** Returns the items of an automatic list: those that begin with the typed word, unless the only one is the word itself. */
function unasked(items: readonly CompletionItem[], before: string, typed: string): readonly CompletionItem[] {
  if (!mayOpen(before, typed)) return [];
  const exact = items.filter(item => item.rank < 10);
  const shown = exact.length > 0 || typed.length < 3 ? exact : items;
  return shown.length === 1 && shown[0]?.insert === typed ? [] : shown;
}

/** Returns whether a list may open: in a word, after an opening quote or bracket of a name or value, and after a pipe. */
function mayOpen(before: string, typed: string): boolean {
  return typed !== '' || /(?:[['"]|\w\.|\|[ \t]*)$/.test(before);
}

function matchOf(label: string, typed: string): readonly number[] {
  const wanted = typed.replace(/^\[?['"]?/, '').toLowerCase();
  const at = wanted === '' ? -1 : label.toLowerCase().indexOf(wanted);
  return at < 0 ? [] : [at, at + wanted.length];
}

function toOption(item: CompletionItem): Completion {
  const { label, kind } = item;
  const detail = detailOf(item);
  return {
    label,
    displayLabel: visible(label),
    type: kind,
    ...(detail === '' ? {} : { detail }),
    info: () => infoOf(item),
    apply: (view, completion, from, to) => insert(view, completion, item, from, to),
  };
}

function detailOf({ label, signature, type, unit }: CompletionItem): string {
  if (signature !== undefined) return signature.startsWith(`${label}(`) ? signature.slice(label.length) : '';
  return visible([type, unit].filter(each => each !== undefined && each !== '').join(', '));
}

const described = new Set(['function', 'aggregate', 'operator', 'keyword']);

/** Returns the documentation next to the list; names and descriptions in it come from data. */
function infoOf({ label, kind, insert: text, doc, type, unit }: CompletionItem): Node | null {
  const about = described.has(kind) ? describeName(label) : undefined;
  if (about !== undefined) return markdownNode(about);
  const node = document.createElement('div');
  node.className = 'apl-doc';
  const title = node.appendChild(document.createElement('p'));
  title.append(
    visible(`${kind} ${label}${type === undefined ? '' : `: ${type}`}${unit ? `, in ${unit}` : ''}`),
  );
  if (doc !== undefined) node.appendChild(document.createElement('p')).append(visibleLines(doc));
  if (kind === 'snippet')
    node.appendChild(document.createElement('pre')).append(text.replace(/#\{(\w+)\}/g, '$1'));
  return node;
}

function insert(
  view: EditorView,
  completion: Completion,
  { insert: text, kind }: CompletionItem,
  from: number,
  to: number,
): void {
  if (kind === 'snippet' && text.includes('#{')) {
    snippet(text)(view, completion, from, to);
    return;
  }
  const isCalled = view.state.sliceDoc(to, to + 1) === '(';
  const isCall = text.endsWith('(') || kind === 'function' || kind === 'aggregate';
  const annotations = pickedCompletion.of(completion);
  if (!isCall) {
    view.dispatch({ ...insertCompletionText(view.state, text, from, to), annotations });
    return;
  }
  const name = text.replace(/\($/, '');
  view.dispatch({
    changes: { from, to, insert: isCalled ? name : `${name}()` },
    selection: { anchor: from + name.length + 1 },
    userEvent: 'input.complete',
    annotations,
  });
}

/** Returns whether Enter accepts the item: if it was selected, or completes a partial word; otherwise Enter breaks the line. */
function acceptsEnter(state: EditorState): boolean {
  const chosen = selectedCompletion(state);
  if (chosen === null || completionStatus(state) !== 'active') return false;
  if ((selectedCompletionIndex(state) ?? 0) > 0) return true;
  const { head } = state.selection.main;
  const word = /[^\s|,(]*$/.exec(state.sliceDoc(Math.max(0, head - 200), head))?.[0] ?? '';
  return word !== '' && word !== chosen.label;
}

const moves: Readonly<Record<string, (view: EditorView) => boolean>> = {
  ArrowDown: moveCompletionSelection(true),
  ArrowUp: moveCompletionSelection(false),
  PageDown: moveCompletionSelection(true, 'page'),
  PageUp: moveCompletionSelection(false, 'page'),
};

function onKey(event: KeyboardEvent, view: EditorView): boolean {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false;
  if (completionStatus(view.state) !== 'active') return false;
  if (event.key === 'Enter') {
    if (acceptsEnter(view.state)) return acceptCompletion(view);
    closeCompletion(view);
    return false;
  }
  return moves[event.key]?.(view) ?? false;
}
