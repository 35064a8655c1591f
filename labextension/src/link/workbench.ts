import type { EditorView } from '@codemirror/view';
import type { IConsoleTracker } from '@jupyterlab/console';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { EditorEnvironment } from '../../../kernel/apl/editor/completion/complete.js';
import {
  environmentOf,
  type KernelFacts,
  parameterLines,
  resultNames,
  withNames,
  withParameters,
} from '../../../kernel/apl/editor/known.js';
import { fileCellAt } from '../../../kernel/apl/syntax/syntax-file.js';
import { KernelLink } from './kernel.js';

/** Trackers of the documents with editors; each may be missing in a front end. */
export interface Trackers {
  readonly notebooks: INotebookTracker | null;
  readonly consoles: IConsoleTracker | null;
  readonly files: IEditorTracker | null;
}

/** The input of the editor services: a cell, and its offset in the editor. */
export interface CellText {
  readonly text: string;
  readonly from: number;
}

/** Looks up the kernel of an editor, and the facts about its session. */
export class Workbench {
  readonly #trackers: Trackers;
  /** The last environment of each editor, with its inputs. */
  readonly #environments = new WeakMap<
    EditorView,
    { readonly from: readonly unknown[]; readonly made: EditorEnvironment }
  >();
  readonly #links = new WeakMap<Kernel.IKernelConnection, KernelLink>();

  constructor(trackers: Trackers) {
    this.#trackers = trackers;
  }

  /** Returns the link to the kernel of a notebook or console, or of the console created for a file. */
  linkOf(view: EditorView): KernelLink | undefined {
    return this.linkTo(this.#sessionOf(view)?.session?.kernel);
  }

  /** Returns the link to a kernel, shared by every editor, toolbar and panel. */
  linkTo(kernel: Kernel.IKernelConnection | null | undefined): KernelLink | undefined {
    if (kernel === undefined || kernel === null) return undefined;
    const known = this.#links.get(kernel);
    if (known !== undefined) return known;
    const link = new KernelLink(kernel);
    this.#links.set(kernel, link);
    return link;
  }

  factsOf(view: EditorView): KernelFacts | undefined {
    return this.linkOf(view)?.facts;
  }

  /**
   * Returns the environment for the services of an editor; results and parameters named by other cells of the notebook count as known.
   * It is the same object until any of its inputs changes.
   */
  environmentOf(view: EditorView): EditorEnvironment {
    const link = this.linkOf(view);
    const sources = this.#cellSources(view);
    const named = new Set(sources.flatMap(resultNames));
    const settings = parameterLines(...sources);
    const from = [link, link?.version, [...named].join(), settings];
    const known = this.#environments.get(view);
    if (known?.from.every((each, index) => each === from[index])) return known.made;
    const made = this.#make(link, settings, named);
    this.#environments.set(view, { from, made });
    return made;
  }

  /** Returns the environment for a text outside of the notebook's editors, such as a query to be saved. */
  environmentIn(panel: NotebookPanel): EditorEnvironment {
    const sources = codeSources(panel);
    const link = this.linkTo(panel.sessionContext.session?.kernel);
    return this.#make(link, parameterLines(...sources), new Set(sources.flatMap(resultNames)));
  }

  #make(link: KernelLink | undefined, settings: string, named: ReadonlySet<string>): EditorEnvironment {
    const knowledge = link?.knowledge() ?? { fields: () => undefined, now: 0n };
    return withNames(named, withParameters(settings, environmentOf(knowledge)));
  }

  #consoleOf(path: string | undefined) {
    return this.#trackers.consoles?.find(({ sessionContext }) => sessionContext.path === path);
  }

  /** Returns true in a notebook in which nothing has been written or run yet. */
  isFresh(view: EditorView): boolean {
    const panel = this.#trackers.notebooks?.find(each => each.node.contains(view.dom));
    const cells = [...(panel?.content.model?.cells ?? [])];
    return (
      cells.length > 0 &&
      cells.every(({ sharedModel }) => sharedModel.getSource() === '' && !hasRun(sharedModel))
    );
  }

  /** Returns true in a file, in which `// %%` lines separate cells. */
  isFile(view: EditorView): boolean {
    return view.dom.closest('.jp-FileEditor') !== null;
  }

  /** Returns the cell around `position` of an editor. */
  cellAt(view: EditorView, position: number): CellText {
    return this.cellIn(view, view.state.doc.toString(), position);
  }

  /** Like `cellAt`, for the text that the editor is about to have. */
  cellIn(view: EditorView, source: string, position: number): CellText {
    if (!this.isFile(view)) return { text: source, from: 0 };
    const { body, to } = fileCellAt(source, position);
    return { text: source.slice(body, to), from: body };
  }

  #sessionOf(view: EditorView) {
    const { notebooks, consoles, files } = this.#trackers;
    const holds = (widget: { readonly node: HTMLElement }): boolean => widget.node.contains(view.dom);
    const panel = notebooks?.find(holds) ?? consoles?.find(holds);
    if (panel !== undefined) return panel.sessionContext;
    const path = files?.find(holds)?.context.path;
    return path === undefined ? undefined : this.#consoleOf(path)?.sessionContext;
  }

  /** Returns the source of the notebook's code cells. */
  #cellSources(view: EditorView): readonly string[] {
    return codeSources(this.#trackers.notebooks?.find(each => each.node.contains(view.dom)));
  }
}

/** Returns true for a cell with an execution count. */
function hasRun(cell: object): boolean {
  return 'execution_count' in cell && cell.execution_count !== null;
}

function codeSources(panel: NotebookPanel | undefined): readonly string[] {
  const cells = panel?.content.model?.sharedModel.cells ?? [];
  return cells.filter(cell => cell.cell_type === 'code').map(cell => cell.source);
}
