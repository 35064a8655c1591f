import type { Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';
import { writtenName } from '../../../kernel/apl/catalog/catalog-written.js';
import type { Workbench } from '../link/workbench.js';

/** Shows what to write in each cell of a notebook without any source, until something is written. */
export function welcome(workbench: Workbench): Extension {
  class Welcome {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = marks(view, workbench);
    }

    update({ view }: ViewUpdate): void {
      this.decorations = marks(view, workbench);
    }
  }
  return [
    ViewPlugin.fromClass(Welcome, { decorations: ({ decorations }) => decorations }),
    EditorView.contentAttributes.of(view => {
      const text = textFor(view, workbench);
      return text === undefined ? null : { 'aria-placeholder': text };
    }),
    style,
  ];
}

function marks(view: EditorView, workbench: Workbench): DecorationSet {
  const text = textFor(view, workbench);
  if (text === undefined) return Decoration.none;
  return Decoration.set(Decoration.widget({ widget: new Text(text), side: 1 }).range(0));
}

function textFor(view: EditorView, workbench: Workbench): string | undefined {
  if (view.state.doc.length > 0 || !workbench.isFresh(view)) return undefined;
  const dataset = workbench.factsOf(view)?.datasets[0] ?? 'sample-http-logs';
  return [
    `Try  ${writtenName(dataset)} | limit 10`,
    'or   %datasets      to see the data',
    '     %import FILE   to add a file',
    '     %help          for everything else',
  ].join('\n');
}

class Text extends WidgetType {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override eq(other: Text): boolean {
    return other.#text === this.#text;
  }

  toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.className = 'apl-welcome';
    node.setAttribute('aria-hidden', 'true');
    node.textContent = this.#text;
    return node;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

const style = EditorView.theme({
  '.apl-welcome': {
    color: 'var(--jp-content-font-color2)',
    pointerEvents: 'none',
    display: 'inline-block',
    verticalAlign: 'top',
    whiteSpace: 'pre',
  },
});
