/** A result as a grid over all rows in the kernel; the page contains only those in view. */
import type { Table } from 'apache-arrow';
import { conditionFor } from '../../../kernel/apl/editor/condition.js';
import { traceField } from '../../../kernel/apl/editor/editor-events.js';
import type { Filter, SortKey, View } from '../../../kernel/notebook/results/result-protocol.js';
import { formatCount } from '../../../kernel/text.js';
import type { Around, Explainer } from '../cell/cell-explain.js';
import type { ZoneSetting } from '../link/link-zone.js';
import { toClipboard } from '../ui/clipboard.js';
import { button, element } from '../ui/dom.js';
import { type Opened, popover } from '../ui/popover.js';
import { Turns } from '../ui/turns.js';
import { keepKeys } from '../ui/ui-keys.js';
import { columnMenu, withoutKernel } from './controls/column-menu.js';
import { detailsOf } from './controls/grid-details.js';
import { noticeList, type Surroundings, sizeText } from './controls/grid-notes.js';
import {
  columnsMenu,
  copyMenu,
  linkTo,
  type Toolbar,
  type ToolbarActions,
  toolbar,
} from './controls/grid-toolbar.js';
import { valueMenu } from './controls/value-menu.js';
import { Rows } from './data/grid-rows.js';
import { notebookRows, type RowSource, SourceError } from './data/grid-source.js';
import { type GridColumn, nameOf } from './grid-cells.js';
import { type CopyFormat, cellsToCopy } from './grid-copy.js';
import type { RowsView, ViewModel } from './grid-view.js';
import { filterText, isPlain, nextKey, type Setup, type SetupStore, viewOf, wordsOf } from './setup.js';
import { rowOfTime } from './stream/jump.js';
import { Stream } from './stream/stream.js';
import { listenToStream } from './stream/stream-gestures.js';
import { rolesOf } from './stream/stream-roles.js';
import { HEAD_ROW, inBlock, isOfHeads, type Selection } from './surface/selection.js';
import { Surface } from './surface/surface.js';
import { ColumnLayout } from './surface/surface-columns.js';
import { type GestureActions, listen } from './surface/surface-gestures.js';
import { placeText, type WrittenLine } from './surface/surface-place.js';

/** The data of a grid, and its connections to the notebook. */
export interface GridOptions {
  /** The rows in the notebook. */
  readonly table: Table;
  /** Rows and columns of the whole result. */
  readonly rows: number;
  readonly columns: number;
  readonly surroundings: Surroundings;
  /** True if each row is an event: events of logs are shown as a stream. */
  readonly isOfEvents: boolean;
  /**
   * Connects to the kernel that holds the result; undefined if there is none. Rejects with a SourceError; `lost` is called
   * when the result is gone.
   */
  readonly connect: (lost: (error: SourceError) => void) => Promise<RowSource> | undefined;
  /** Adds a `where` line on a field to the query; undefined if that is impossible. */
  readonly addCondition: (field: string, condition: string) => WrittenLine | undefined;
  /** Returns the explainer of the result at its current location; undefined if no cell can be added. */
  readonly explainer: () => Explainer | undefined;
  /** Calls `hear` with the address of the result in a console, if it has one. */
  readonly consoleLink: (hear: (url: string) => void) => void;
  /** Returns the focus to the cell of the result. */
  readonly leave: () => void;
  /** Time zone of the displayed times. */
  readonly zone: ZoneSetting;
  /** Stores the reader's setup for the next run; undefined if there is none. */
  readonly setups: SetupStore | undefined;
}

export class Grid {
  readonly node: HTMLElement;
  readonly #options: GridOptions;
  readonly #toolbar: Toolbar;
  #layout: ColumnLayout;
  readonly #table: Surface;
  readonly #stream: Stream;
  readonly #chips = element('div', { class: 'apl-grid-chips' });
  readonly #chipsOf = new WeakMap<Filter, HTMLElement>();
  readonly #restored = element('div', { class: 'apl-grid-kept' });
  readonly #status = element('span', { class: 'apl-grid-status', role: 'status' });
  /** Undoes the action in the message. */
  readonly #undo = element('span', { class: 'apl-grid-undo' });
  readonly #below = element('div', { class: 'apl-grid-below' });
  readonly #details = new Turns();
  readonly #saved: Rows;
  #rows: Rows;
  /** The rows in the kernel, once connected. */
  #source: RowSource | undefined;
  /** The last requested view, on which the next change builds even before its rows have arrived. */
  #wanted: View = {};
  /** True until the kernel has sent the first rows; changes requested until then are applied next. */
  #isConnecting = false;
  #asked: Partial<View> | undefined;
  /** Cancels the request of that view, so that the kernel need not compute it. */
  #opening = new AbortController();
  /** The reader's setup, from here or from the previous run. */
  #setup: Setup | undefined;
  /** True if this grid began with the setup of the previous run, until that is cleared. */
  #isContinued: boolean;
  readonly #unfollow: () => void;
  #isWrapped: boolean;
  /** The reader's choice; undefined for the view that suits the result. */
  #isStream: boolean | undefined;
  /** True for raw events with a message. */
  readonly #isLog: boolean;
  #selection: Selection | undefined;
  #message = '';
  /** True if the node was out of the page while rows or columns changed. */
  #isStale = false;
  #isDisposed = false;

  /** Returns the grid of the rows in the notebook; it draws once started. */
  static async create(options: GridOptions): Promise<Grid> {
    const { table, rows, columns } = options;
    const isWhole = table.numRows === rows && table.numCols === columns;
    return new Grid(options, await Rows.open(notebookRows(table, isWhole), {}));
  }

  private constructor(options: GridOptions, saved: Rows) {
    this.#options = options;
    this.#saved = saved;
    this.#rows = saved;
    this.#setup = options.setups?.setup;
    this.#isContinued = this.#setup !== undefined;
    this.#isWrapped = this.#setup?.isWrapped ?? false;
    this.#layout = new ColumnLayout(saved.columns, this.#setup?.columns);
    const { time, message } = rolesOf(saved.columns);
    this.#isLog = options.isOfEvents && time !== undefined && message !== undefined;
    this.#isStream = this.#setup?.isStream;
    this.#table = new Surface(this.#viewModel());
    this.#stream = new Stream(this.#viewModel());
    listen(this.#table, this.#gestureActions());
    listenToStream(this.#stream, this.#gestureActions());
    const hasTimes = this.#layout.all.some(({ times }) => times !== undefined);
    this.#toolbar = toolbar(
      options.surroundings,
      [this.#status, this.#undo],
      { hasTimes, hasStream: hasTimes && options.isOfEvents },
      this.#toolbarActions(),
    );
    this.node = this.#build();
    this.#showControls('');
    this.#unfollow = options.zone.follow(() => this.#onZone());
  }

  /** Draws the rows of the notebook, then switches to the kernel's. The node must be in the page and have a width. */
  async start(): Promise<void> {
    await this.#redraw(true);
    try {
      const connecting = this.#options.connect(error => this.#fail(error));
      this.#isConnecting = connecting !== undefined;
      const source = await connecting;
      if (source === undefined) return;
      if (this.#isDisposed) return source.close();
      this.#source = source;
      await this.#show(source, {});
      await this.#goOn(source);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isConnecting = false;
    }
  }

  /** Redraws after the node has returned to the page or changed its width. */
  async refresh(): Promise<void> {
    if (!this.#canDraw) return;
    if (this.#isStale) await this.#redraw(true);
    else await this.#view.refresh();
  }

  /** True while a reader has left the initial view, which new rows would replace. */
  get isRead(): boolean {
    return (
      this.#view.firstRow > 0 ||
      this.#selection !== undefined ||
      this.#below.hasChildNodes() ||
      !isPlain(this.#wanted)
    );
  }

  /** Focuses the rows. */
  focus(): void {
    this.#view.focus();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#unfollow();
    popover().closeWithin(this.node);
    this.#table.dispose();
    this.#stream.dispose();
    this.#source?.close();
  }

  /** The current view. */
  get #view(): RowsView {
    return this.#options.isOfEvents && (this.#isStream ?? this.#isLog) ? this.#stream : this.#table;
  }

  get #canDraw(): boolean {
    return this.node.isConnected && !this.#isDisposed;
  }

  #build(): HTMLElement {
    const { surroundings } = this.#options;
    const footer =
      surroundings.footer === '' ? [] : [element('p', { class: 'apl-grid-foot' }, surroundings.footer)];
    const node = element(
      'div',
      { class: 'apl-grid' },
      ...noticeList(surroundings.notices),
      this.#toolbar.node,
      this.#chips,
      this.#restored,
      this.#view.frame,
      this.#below,
      ...surroundings.folded,
      ...footer,
    );
    keepKeys(node);
    node.addEventListener('keydown', event => this.#onKey(event));
    return node;
  }

  /**
   * Shows another view from its first row. If that fails, the current view stays; if a later view is requested
   * in the meantime, this one is dropped.
   */
  async #show(source: RowSource, view: View): Promise<void> {
    this.#wanted = view;
    this.#opening.abort();
    this.#opening = new AbortController();
    const { signal } = this.#opening;
    this.node.classList.add('apl-grid-busy');
    const opened = await Rows.open(source, view, signal).catch((error: unknown) => {
      if (signal.aborted) return;
      if (view === this.#wanted) this.#wanted = this.#rows.view;
      this.#fail(error);
    });
    if (opened === undefined || view !== this.#wanted || this.#isDisposed) return;
    this.node.classList.remove('apl-grid-busy');
    this.#undo.replaceChildren();
    this.#message = '';
    await this.#view.scrollTo(0);
    await this.#turnTo(opened);
  }

  /** Switches to the view of the previous run, with the changes requested in the meantime. */
  async #goOn(source: RowSource): Promise<void> {
    // Its first page could not be read.
    if (source !== this.#rows.source) return source.close();
    if (this.#wanted !== this.#rows.view) return;
    const restored = this.#setup === undefined ? {} : viewOf(this.#setup, this.#rows.columns);
    const view = { ...restored, ...this.#asked };
    if (isPlain(view)) return;
    this.#showControls(view.search ?? '');
    await this.#show(source, view);
    if (this.#asked !== undefined) this.#keep();
  }

  /** Shows the error; if the kernel has lost the result, the grid returns to the rows of the notebook. */
  #fail(error: unknown): void {
    if (this.#isDisposed) return;
    this.node.classList.remove('apl-grid-busy');
    if (!(error instanceof SourceError && error.isGone)) {
      this.#say(error instanceof Error ? error.message : String(error));
      return;
    }
    if (this.#rows === this.#saved) return;
    this.#source?.close();
    this.#message = '';
    this.#wanted = this.#saved.view;
    this.#showControls('');
    void this.#turnTo(this.#saved);
  }

  /** Draws other rows. The layout of the columns is kept unless the kernel has more columns than the notebook. */
  async #turnTo(rows: Rows): Promise<void> {
    const isOtherWidth = rows.columns.length !== this.#layout.all.length;
    if (isOtherWidth) this.#layout = new ColumnLayout(rows.columns, this.#setup?.columns);
    this.#rows = rows;
    const selected = this.#selection;
    this.#selection = !isOtherWidth && selected !== undefined && isOfHeads(selected) ? selected : undefined;
    await this.#redraw(isOtherWidth);
  }

  /** Changes the view, if there is a kernel to compute another. */
  #change(change: Partial<View>): void {
    const { source } = this.#rows;
    if (!source.canCompute && this.#isConnecting) {
      this.#asked = { ...this.#asked, ...change };
      return;
    }
    if (!(source.canCompute || (source.canArrange && change.filters === undefined))) {
      this.#say(withoutKernel(source));
      return;
    }
    const shown = this.#show(source, { ...this.#wanted, ...change });
    this.#keep();
    void shown.then(() => this.#keep());
  }

  /** Stores the reader's setup; a view that only the kernel supports is kept while the kernel is gone. */
  #keep(): void {
    if (this.#isDisposed) return;
    const { source, columns } = this.#rows;
    const { view, types } = source.canCompute
      ? { view: this.#wanted, types: new Map(columns.map(({ name, type }) => [name, type])) }
      : { view: {}, types: new Map<string, string>(), ...this.#setup };
    this.#setup = {
      ...{ view, types, columns: this.#layout.setup },
      ...{ isWrapped: this.#isWrapped, isStream: this.#isStream },
    };
    if (this.#options.setups !== undefined) this.#options.setups.setup = this.#setup;
    this.#drawRestored();
  }

  /** Shows the result as a first run does. */
  #clear(): void {
    this.#isContinued = false;
    this.#layout = new ColumnLayout(this.#layout.all);
    this.#isWrapped = false;
    this.#isStream = undefined;
    this.#showView();
    this.#showControls('');
    this.#relayout();
    if (!isPlain(this.#wanted)) this.#change({ sort: [], filters: [], search: '' });
    this.#view.focus();
  }

  /** Redraws the times in another zone. */
  #onZone(): void {
    this.#showControls(this.#wanted.search ?? '');
    void this.#redraw(true);
  }

  #showControls(search: string): void {
    this.#toolbar.show(search, this.#options.zone.zone, {
      isWrapped: this.#isWrapped,
      isStream: this.#view === this.#stream,
    });
    this.node.classList.toggle('apl-grid-wrap', this.#isWrapped);
  }

  #say(message: string): void {
    this.#undo.replaceChildren();
    this.#message = message;
    this.#drawStatus();
  }

  async #redraw(resize: boolean): Promise<void> {
    if (this.#isDisposed) return;
    this.#drawStatus();
    this.#drawChips();
    this.#drawRestored();
    this.#isStale = !this.#canDraw;
    if (this.#canDraw) await this.#view.redraw({ resize });
  }

  #drawStatus(): void {
    const { source, count } = this.#rows;
    const size = sizeText(this.#options, { canCompute: source.canCompute, count });
    this.#status.textContent = [size, this.#message].filter(Boolean).join(' ');
  }

  /** Draws a button for each filter. A press and its release only make a click on the same node, so a filter keeps its button. */
  #drawChips(): void {
    const filters = this.#rows.view.filters ?? [];
    const wanted = filters.map(filter => this.#chipOf(filter));
    for (const chip of [...this.#chips.children]) if (!wanted.some(each => each === chip)) chip.remove();
    for (const chip of wanted) if (!chip.isConnected) this.#chips.append(chip);
  }

  /** Reports what was restored from the previous run, so that nothing seems to be missing, with a button that clears it. */
  #drawRestored(): void {
    const restored = { isWrapped: this.#isWrapped, isStream: this.#isStream };
    const words = this.#isContinued ? wordsOf(this.#rows.view, this.#layout, restored) : [];
    const text = `Restored: ${words.join(', ')}.`;
    if (words.length === 0) this.#restored.replaceChildren();
    else if (this.#restored.firstChild === null)
      this.#restored.append(
        element('span', {}, text),
        button('Clear', 'Show the result as on a first run', () => this.#clear()),
      );
    else if (this.#restored.firstChild.textContent !== text) this.#restored.firstChild.textContent = text;
  }

  #chipOf(filter: Filter): HTMLElement {
    const known = this.#chipsOf.get(filter);
    if (known !== undefined) return known;
    const chip = button(`${filterText(filter)} \u2715`, `Remove the filter ${filterText(filter)}`, () =>
      this.#change({ filters: (this.#wanted.filters ?? []).filter(each => each !== filter) }),
    );
    this.#chipsOf.set(filter, chip);
    return chip;
  }

  #viewModel(): ViewModel {
    const grid = this;
    return {
      get layout() {
        return grid.#layout;
      },
      get rows() {
        return grid.#rows;
      },
      get zone() {
        return grid.#options.zone.zone;
      },
      get selection() {
        return grid.#selection;
      },
      get isWrapped() {
        return grid.#isWrapped;
      },
      failed: error => grid.#fail(error),
      widened: () => grid.#keep(),
      openMenu: (opener, column) => grid.#openColumn(opener, column),
      jump: text => void grid.#jump(text),
      hasTrace: (column, row) => column.name === grid.#traceColumn?.name && grid.#traceOf(row) !== undefined,
    };
  }

  #gestureActions(): GestureActions {
    const grid = this;
    return {
      get selection() {
        return grid.#selection;
      },
      get size() {
        return { rows: grid.#rows.count, columns: grid.#layout.shown.length };
      },
      select: selection => {
        grid.#selection = selection;
        grid.#view.style();
      },
      sort: (column, isMore) => grid.#sort(column, nextKey(grid.#wanted, column), isMore),
      openValue: (target, column, row) => void grid.#openValue(target, column, row),
      openColumn: (target, column) => grid.#openColumn(target, column),
      showRow: row => void grid.#showRow(row),
      openTrace: row => void grid.#openTrace(row),
      copy: () => void grid.#copy(grid.#selection ?? grid.#everything(), 'text'),
    };
  }

  #toolbarActions(): ToolbarActions {
    return {
      prepareSearch: () => this.#rows.source.prepare(),
      search: text => this.#change({ search: text }),
      setZone: zone => this.#options.zone.change(zone),
      setWrapped: isWrapped => {
        this.#isWrapped = isWrapped;
        this.node.classList.toggle('apl-grid-wrap', isWrapped);
        this.#keep();
        void this.#redraw(true);
      },
      setStream: isStream => void this.#setStream(isStream),
      openColumns: opener => {
        popover().show([opener], 'Columns', ({ close }) =>
          columnsMenu(this.#layout, () => this.#relayout(), close),
        );
      },
      openCopy: opener => {
        const [rows, selection] = [this.#rows, this.#selection];
        const what = selection === undefined ? 'All rows' : 'The selection';
        popover().show([opener], 'Copy', ({ close }) => [
          ...copyMenu(what, format => {
            close();
            void this.#copy(selection ?? this.#everything(), format, rows);
          }),
          linkTo(this.#options.consoleLink, url => {
            close();
            void toClipboard(url).then(() => this.#say('Copied the link.'));
          }),
        ]);
      },
    };
  }

  /** Shows the rows in the other view, at the same position. */
  async #setStream(isStream: boolean): Promise<void> {
    const first = this.#view.firstRow;
    this.#isStream = isStream === this.#isLog ? undefined : isStream;
    this.#showView();
    this.#keep();
    await this.#redraw(true);
    await this.#view.scrollTo(first);
  }

  #showView(): void {
    const other = this.#view === this.#stream ? this.#table : this.#stream;
    other.frame.replaceWith(this.#view.frame);
  }

  async #jump(text: string): Promise<void> {
    const rows = this.#rows;
    try {
      const found = await rowOfTime(rows, text, this.#options.zone.zone, this.#view.firstRow);
      if (rows !== this.#rows) return;
      if (typeof found === 'string') return this.#say(found);
      await this.#view.scrollTo(found);
      this.#selection = { anchor: { x: 0, y: found }, focus: { x: this.#layout.shown.length - 1, y: found } };
      this.#view.style();
      this.#say(`Row ${formatCount(found + 1)} of ${formatCount(rows.count)}.`);
    } catch (error) {
      this.#fail(error);
    }
  }

  #relayout(): void {
    this.#selection = undefined;
    this.#keep();
    void this.#redraw(true);
  }

  /** Wraps an action of the popover: it closes the popover and returns the focus to the table. */
  #closing<Given extends unknown[]>(
    { close }: Opened,
    act: (...given: Given) => void,
  ): (...given: Given) => void {
    return (...given) => {
      close();
      this.#view.focus();
      act(...given);
    };
  }

  #openColumn(opener: HTMLElement, column: GridColumn): void {
    const { source, view } = this.#rows;
    const nodes = (opened: Opened) =>
      columnMenu(column, {
        view,
        source,
        isPinned: this.#layout.isPinned(column),
        sort: this.#closing(opened, key => this.#sort(column, key, false)),
        filter: this.#closing(opened, filter => this.#filter(filter)),
        togglePinned: this.#closing(opened, () => {
          this.#layout.togglePinned(column);
          this.#relayout();
        }),
        hide: this.#closing(opened, () => {
          this.#layout.toggleHidden(column);
          this.#relayout();
        }),
        move: by => {
          this.#layout.move(column, by);
          this.#relayout();
        },
        copy: this.#closing(opened, () => {
          const x = this.#layout.shown.indexOf(column);
          void this.#copy({ anchor: { x, y: HEAD_ROW }, focus: { x, y: HEAD_ROW } }, 'text');
        }),
        condition: this.#closing(opened, (value, keep) => this.#condition(column, value, keep)),
        profile: () => source.profile(view, column.name),
      });
    popover().show([opener], `Column ${nameOf(column)}`, nodes);
  }

  /** Opens the menu of a value. A cell that is still loading has no value yet and would pass for a null. */
  async #openValue(target: HTMLElement, column: GridColumn, row: number): Promise<void> {
    const rows = await this.#loaded(row);
    if (rows !== this.#rows) return;
    const value = rows.exact(row, column);
    const explainer = this.#options.explainer();
    const nodes = (opened: Opened) =>
      valueMenu(column, {
        canCompute: this.#rows.source.canCompute,
        condition: this.#closing(opened, keep => this.#condition(column, value, keep)),
        filter: this.#closing(opened, op => this.#filter({ column: column.name, op, value })),
        copy: this.#closing(opened, () => void toClipboard(value ?? '').then(() => this.#say('Copied.'))),
        showRow: this.#closing(opened, () => void this.#showRow(row, rows)),
        around: this.#around(opened, explainer, column, row),
        explain: explainer && this.#closing(opened, () => void this.#explain(explainer, column, row, rows)),
      });
    popover().show([target], 'Value', nodes);
  }

  #around(opened: Opened, explainer: Explainer | undefined, column: GridColumn, row: number): Around {
    const { columns } = this.#rows;
    const values = new Map(columns.map(each => [each.name, this.#rows.exact(row, each)]));
    const adding = Object.entries(explainer?.around(column, values) ?? {});
    return Object.fromEntries(
      adding.map(([name, add]) => [name, this.#closing(opened, () => this.#say(add()))]),
    );
  }

  /** The column with trace ids, even if it is hidden. */
  get #traceColumn(): GridColumn | undefined {
    const { columns } = this.#rows;
    const name = traceField(columns.map(column => column.name));
    return columns.find(column => column.name === name);
  }

  /** Returns a function that adds the cell of the trace of a loaded row; undefined if it names none. */
  #traceOf(row: number, rows = this.#rows): (() => string) | undefined {
    const column = this.#traceColumn;
    if (column === undefined) return undefined;
    return this.#options.explainer()?.trace(new Map([[column.name, rows.exact(row, column)]]));
  }

  async #openTrace(row: number): Promise<void> {
    const rows = await this.#loaded(row);
    if (rows !== undefined) this.#say(this.#traceOf(row, rows)?.() ?? 'This row has no trace id.');
  }

  /** Explains a row, or all rows of the selection that contains it. */
  async #explain(explainer: Explainer, column: GridColumn, row: number, rows: Rows): Promise<void> {
    const selection = rows === this.#rows ? this.#selection : undefined;
    const { top, bottom } = inBlock(selection ?? this.#everything());
    const isInBlock = Number.isFinite(bottom) && top <= row && row <= bottom;
    const [from, to] = isInBlock ? [top, bottom + 1] : [row, row + 1];
    try {
      await rows.load(from, to);
    } catch (error) {
      return this.#fail(error);
    }
    const chosen = Array.from(
      { length: to - from },
      (_, index) => new Map(rows.columns.map(each => [each.name, rows.exact(from + index, each)])),
    );
    this.#say(explainer.rows(rows.columns, column.name, chosen));
  }

  /** Sorts by one column, or by one more. */
  #sort(column: GridColumn, key: SortKey | undefined, isMore: boolean): void {
    const others = isMore ? (this.#wanted.sort ?? []).filter(each => each.column !== column.name) : [];
    this.#change({ sort: key === undefined ? others : [...others, key] });
  }

  #filter(filter: Filter): void {
    this.#change({ filters: [...(this.#wanted.filters ?? []), filter] });
  }

  #condition(column: GridColumn, value: string | null, keep: boolean): void {
    const condition = conditionFor(column, value, keep);
    const line = this.#options.addCondition(column.name, condition);
    if (line === undefined) {
      this.#say('The cell of this result is read-only.');
      return;
    }
    this.#say(`Added | where ${condition} ${placeText(line)}. Run the cell again.`);
    const undo = button('Undo', 'Remove the line from the query', () => {
      this.#view.focus();
      this.#say(line.undo() ? 'Removed the line.' : 'The cell has changed since. Undo it there.');
    });
    this.#undo.replaceChildren(undo);
  }

  /** Resolves with the rows of a view once one of them is loaded: the view may have changed by then. Reports if it fails to load. */
  async #loaded(row: number, rows = this.#rows): Promise<Rows | undefined> {
    try {
      await rows.load(row, row + 1);
      return rows;
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  async #showRow(row: number, shown = this.#rows): Promise<void> {
    const columns = this.#layout.shown;
    const isLatest = this.#details.begin();
    const rows = await this.#loaded(row, shown);
    if (rows === undefined || !isLatest()) return;
    const cells = columns.map(column => rows.exact(row, column));
    this.#below.replaceChildren(detailsOf({ number: row + 1, columns, cells }, () => this.#closeRow()));
    this.#below.scrollIntoView({ block: 'nearest' });
  }

  #closeRow(): void {
    this.#below.replaceChildren();
    this.#view.focus();
  }

  /** Handles Escape step by step: it clears the search, as browsers do, closes the row, and then leaves the grid. */
  #onKey(event: KeyboardEvent): void {
    const { target } = event;
    if (event.key !== 'Escape' || (target instanceof HTMLInputElement && target.value !== '')) return;
    event.preventDefault();
    if (this.#below.hasChildNodes()) this.#closeRow();
    else this.#options.leave();
  }

  #everything(): Selection {
    return { anchor: { x: 0, y: HEAD_ROW }, focus: { x: this.#layout.shown.length - 1, y: HEAD_ROW } };
  }

  /** Copies the exact values of a block of cells, and reports what was left out. */
  async #copy(selection: Selection, format: CopyFormat, rows = this.#rows): Promise<void> {
    try {
      const { text, sentence } = await cellsToCopy(rows, this.#layout.shown, selection, format);
      await toClipboard(text);
      this.#say(sentence);
    } catch (error) {
      this.#fail(error);
    }
  }
}
