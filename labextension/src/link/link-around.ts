import type { NotebookPanel } from '@jupyterlab/notebook';
import { type ISignal, Signal } from '@lumino/signaling';
import type { EditorEnvironment } from '../../../kernel/apl/editor/completion/complete.js';
import { type CodeCell, quoted, recordSetting, type Setting } from '../cell/cell-lines.js';
import { recordParameter } from '../cell/cell-parameters.js';
import { addLast } from '../cell/cell-run.js';
import { writeBelow } from '../cell/cell-written.js';
import { mimeType } from '../language-names.js';
import type { KernelLink } from './kernel.js';
import { type MagicOutcome, runLines } from './link-magic.js';
import { changeZone, type Zone, zoneOf } from './link-zone.js';
import { rewrite } from './undo-step.js';
import type { Workbench } from './workbench.js';

/** State of a notebook's kernel: `other` is of another language, `unanswering` lacks our comm. */
export type KernelState = 'none' | 'starting' | 'dead' | 'other' | 'unanswering' | 'ready';

/** Class of notebooks in this language. */
const NOTEBOOK_CLASS = 'apl-notebook';

/** Outcome of a changed setting: the kernel's output, and the cell that records the change. */
export interface Change extends MagicOutcome {
  /** Number of the cell, from 1, among all cells; absent if nothing was written. */
  readonly cell?: number;
}

/**
 * A notebook and its kernel, as toolbars and the panel see them; `changed` is also emitted when the kernel starts, changes or
 * ends.
 */
export class Around {
  readonly panel: NotebookPanel;
  readonly #workbench: Workbench;
  readonly #changed = new Signal<this, void>(this);
  #link: KernelLink | undefined;
  /** State when `changed` was last emitted. */
  #last: readonly unknown[] = [];

  constructor(panel: NotebookPanel, workbench: Workbench) {
    this.panel = panel;
    this.#workbench = workbench;
    const { sessionContext, model } = panel;
    sessionContext.kernelChanged.connect(this.#follow, this);
    sessionContext.statusChanged.connect(this.#follow, this);
    model?.metadataChanged.connect(this.#follow, this);
    panel.context.pathChanged.connect(this.#offer, this);
    panel.disposed.connect(() => this.#dispose());
    this.#follow();
  }

  get changed(): ISignal<this, void> {
    return this.#changed;
  }

  /** Redraws toolbars and the panel, for state that only the page has. */
  redraw(): void {
    this.#emit();
  }

  /** True in a notebook of this language, even without a kernel. */
  get isApl(): boolean {
    return !this.panel.isDisposed && this.panel.content.codeMimetype === mimeType;
  }

  get link(): KernelLink | undefined {
    return this.#link;
  }

  get state(): KernelState {
    const { sessionContext } = this.panel;
    const kernel = sessionContext.session?.kernel;
    if (kernel === undefined || kernel === null) return sessionContext.isReady ? 'none' : 'starting';
    if (kernel.status === 'dead') return 'dead';
    if (!this.isApl) return 'other';
    if (this.#link?.session !== undefined) return 'ready';
    return this.#link?.isRefused === true ? 'unanswering' : 'starting';
  }

  /** Known facts about the data, and the names defined by the cells of the notebook. */
  get environment(): EditorEnvironment {
    return this.#workbench.environmentIn(this.panel);
  }

  /** Time zone of the notebook's times. */
  get zone(): Zone {
    return zoneOf(this.panel.model);
  }

  /** Shows the times of the notebook in another zone. */
  changeZone(zone: Zone): void {
    if (this.panel.model !== null) changeZone(this.panel.model, zone);
  }

  /** Runs lines in the kernel. */
  async run(lines: string): Promise<MagicOutcome> {
    const kernel = this.#link?.kernel;
    if (kernel === undefined) return { isOk: false, text: 'The notebook has no kernel.', displayed: [] };
    return runLines(kernel, lines);
  }

  /**
   * Changes a setting of the session by its magic, and records the line in a cell, so that rerunning the notebook has the same
   * effect.
   */
  async set(name: Setting, args: string): Promise<Change> {
    const line = `%${name} ${args}`;
    const outcome = await this.run(line);
    return outcome.isOk ? { ...outcome, ...this.#record(name, outcome.written ?? line) } : outcome;
  }

  /** Changes the profile, for any characters in its name. */
  useProfile(name: string): Promise<Change> {
    return this.set('use', quoted(name));
  }

  /** Gives a parameter of the session another value, and records it. */
  async setParameter(name: string, literal: string): Promise<Change> {
    const outcome = await this.run(`%param ${name} = ${literal}`);
    return outcome.isOk
      ? { ...outcome, ...this.#write(recordParameter(this.codeCells(), name, literal)) }
      : outcome;
  }

  /** Returns the code cells of the notebook, with their current source. */
  codeCells(): readonly CodeCell[] {
    return this.#codeModels().map(cell => ({
      source: cell.sharedModel.getSource(),
      isEditable: cell.getMetadata('editable') !== false,
    }));
  }

  #codeModels() {
    return [...(this.panel.model?.cells ?? [])].filter(cell => cell.type === 'code');
  }

  /** Replaces the line in effect at the active cell; without one, adds the line at the top of the first cell. */
  #record(name: Setting, line: string): { readonly cell?: number } {
    const { content, model } = this.panel;
    const until = [...(model?.cells ?? [])].slice(0, content.activeCellIndex + 1);
    const before = until.filter(cell => cell.type === 'code').length - 1;
    return this.#write(recordSetting(this.codeCells(), before, name, line));
  }

  #write(found: { readonly index: number; readonly source: string } | undefined): { readonly cell?: number } {
    const { model } = this.panel;
    const cell = found && this.#codeModels()[found.index];
    if (model === null || model.readOnly || found === undefined || cell === undefined) return {};
    rewrite(cell.sharedModel, found.source);
    return { cell: [...model.cells].indexOf(cell) + 1 };
  }

  #follow(): void {
    if (this.panel.isDisposed) return;
    this.panel.toggleClass(NOTEBOOK_CLASS, this.isApl);
    const link = this.isApl ? this.#workbench.linkTo(this.panel.sessionContext.session?.kernel) : undefined;
    if (link !== this.#link) {
      this.#link?.changed.disconnect(this.#emit, this);
      this.#link = link;
      link?.changed.connect(this.#emit, this);
      this.#offer();
    }
    link?.connect();
    // Every request to the kernel makes it busy and idle again.
    if (this.#seen().some((each, index) => each !== this.#last[index])) this.#emit();
  }

  #offer(): void {
    const { panel } = this;
    this.#link?.writeBy({
      name: () => panel.context.path,
      below: update => writeBelow(panel, update),
      canAdd: () => panel.model?.readOnly === false,
      add: cell => addLast(panel, cell),
    });
  }

  #seen(): readonly unknown[] {
    return [this.isApl, this.#link, this.state, this.zone];
  }

  #emit(): void {
    this.#last = this.#seen();
    this.#changed.emit();
  }

  #dispose(): void {
    this.#link?.changed.disconnect(this.#emit, this);
    Signal.clearData(this);
  }
}

const known = new WeakMap<NotebookPanel, Around>();

/** Returns the `Around` of a notebook; each notebook has one. */
export function around(panel: NotebookPanel, workbench: Workbench): Around {
  const found = known.get(panel) ?? new Around(panel, workbench);
  known.set(panel, found);
  return found;
}
