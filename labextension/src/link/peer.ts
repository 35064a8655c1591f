import { diagnosticCount } from '@codemirror/lint';
import { type EditorState, Facet, StateEffect, StateField } from '@codemirror/state';
import { type EditorView, type PluginValue, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import type { KernelLink } from './kernel.js';
import type { Workbench } from './workbench.js';

/** Signals updates from the kernel: anything computed from its facts is out of date. */
export const updateEffect = StateEffect.define<null>();

/** The workbench of an editor. */
export const workbenchOf = Facet.define<Workbench, Workbench | undefined>({ combine: ([first]) => first });

/** Holds the view of a state, for sources that only get the state. */
const viewHolder = StateField.define<{ view: EditorView | undefined }>({
  create: () => ({ view: undefined }),
  update: held => held,
});

/** Returns the view that shows a state. */
export function viewOf(state: EditorState): EditorView | undefined {
  return state.field(viewHolder, false)?.view;
}

let focused: EditorView | undefined;

/** Returns the APL editor that has or last had the focus, unless it is gone. */
export function focusedEditor(): EditorView | undefined {
  return focused?.dom.isConnected === true ? focused : undefined;
}

/**
 * Connects an editor to its kernel once it has the focus, and passes on the kernel's updates. An editor that never had the focus gets
 * them while it has errors: the cell above may have created what was missing.
 */
export function peerOf(workbench: Workbench) {
  class Peer implements PluginValue {
    readonly #view: EditorView;
    readonly #onUpdate = (): void => {
      if (focused === this.#view || diagnosticCount(this.#view.state) > 0)
        this.#view.dispatch({ effects: updateEffect.of(null) });
    };
    readonly #onFocus = (): void => this.#attach();
    #link: KernelLink | undefined;
    #isDestroyed = false;

    constructor(view: EditorView) {
      this.#view = view;
      view.state.field(viewHolder).view = view;
      view.contentDOM.addEventListener('focus', this.#onFocus);
      if (view.hasFocus) queueMicrotask(this.#onFocus);
    }

    /** Reconnects: the kernel of an editor may start, or change, while it has the focus. */
    update({ docChanged, view }: ViewUpdate): void {
      const isAlone = this.#link === undefined || this.#link.kernel.isDisposed;
      if (docChanged && isAlone && view.hasFocus) queueMicrotask(this.#onFocus);
      else if (isAlone && diagnosticCount(view.state) > 0) queueMicrotask(() => this.#listen());
    }

    destroy(): void {
      this.#isDestroyed = true;
      this.#view.contentDOM.removeEventListener('focus', this.#onFocus);
      this.#link?.changed.disconnect(this.#onUpdate);
      if (focused === this.#view) focused = undefined;
    }

    #attach(): void {
      focused = this.#view;
      const link = this.#listen();
      link?.connect();
      if (link?.facts !== undefined) link.renew();
    }

    #listen(): KernelLink | undefined {
      if (this.#isDestroyed) return undefined;
      const link = workbench.linkOf(this.#view);
      if (link !== this.#link) {
        this.#link?.changed.disconnect(this.#onUpdate);
        this.#link = link;
        link?.changed.connect(this.#onUpdate);
        // Another kernel has other facts.
        queueMicrotask(this.#onUpdate);
      }
      return link;
    }
  }
  return [workbenchOf.of(workbench), viewHolder, ViewPlugin.define(view => new Peer(view))];
}
