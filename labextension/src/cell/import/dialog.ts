import { Dialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';
import { type ImportOption, importFlags, importOptions } from '../../../../kernel/api/api-imports.js';
import { type ImportPreview, previewLines, previewRows } from '../../../../kernel/api/api-preview.js';
import { distinctLabels } from '../../../../kernel/result/chart/labels.js';
import { typeWord } from '../../../../kernel/result/display/display-text.js';
import { cut, shownName, visible, visibleLines } from '../../../../kernel/text.js';
import type { Around } from '../../link/link-around.js';
import { element } from '../../ui/dom.js';
import { importLine } from '../cell-lines.js';
import { addImportStyle } from './import-style.js';

/** The chosen line of an import, and whether it runs immediately. */
export interface ImportAnswer {
  readonly line: string;
  readonly runs: boolean;
}

/** Shows how a file would be imported, with options to change that; undefined if canceled. */
export async function askAboutImport(
  around: Around,
  notebook: string,
  file: string,
): Promise<ImportAnswer | undefined> {
  addImportStyle();
  const body = new ImportBody(around, notebook, file);
  const dialog = new Dialog({
    title: `Import ${visible(cut(file.split('/').at(-1) ?? file, 80))}`,
    body,
    buttons: [
      Dialog.cancelButton(),
      Dialog.createButton({ label: 'Add Cell', accept: false }),
      Dialog.okButton({ label: 'Import', className: 'apl-import-run' }),
    ],
    defaultButton: 2,
    focusNodeSelector: '.apl-import [name="dataset"]',
  });
  dialog.addClass('apl-import-dialog');
  const { button } = await dialog.launch();
  if (button.label === 'Import') return { line: body.line, runs: true };
  return button.label === 'Add Cell' ? { line: body.line, runs: false } : undefined;
}

type Control = HTMLInputElement | HTMLSelectElement;

/** Options that most imports need; the remaining ones are folded. */
const FIRST: ReadonlySet<string> = new Set(['format', 'time', 'dates', 'zone']);

/** Maximum length of a displayed field name; the tooltip has the whole name. */
const NAME_LENGTH = 26;

/** The dataset name, which is not an option in the table. */
const DATASET = { name: 'dataset', value: 'NAME', summary: 'the dataset to import into' };

/** The preview of a file, and a control for each option of an import; a change requests a new preview. */
class ImportBody extends Widget {
  readonly #around: Around;
  readonly #notebook: string;
  readonly #file: string;
  readonly #controls = new Map<string, Control>();
  readonly #replace = element('input', { type: 'checkbox', name: 'replace' });
  readonly #said = element('div', { class: 'apl-import-said', role: 'status' });
  readonly #table = element('div', {
    ...{ class: 'apl-import-table', role: 'region', tabindex: 0, 'aria-label': 'First rows' },
  });
  readonly #line = element('code', { class: 'apl-import-line' });
  /** Number of previews requested: responses to older requests are dropped. */
  #asked = 0;
  #timeFields = '';

  constructor(around: Around, notebook: string, file: string) {
    super();
    this.addClass('apl-import');
    this.#around = around;
    this.#notebook = notebook;
    this.#file = file;
    const dataset = this.#control(DATASET);
    const [first, more] = [true, false].map(isFirst =>
      importOptions.filter(({ name }) => FIRST.has(name) === isFirst).map(option => this.#control(option)),
    );
    const replace = importFlags.find(({ name }) => name === 'replace')?.summary ?? '';
    this.node.append(
      element('div', { class: 'apl-import-options' }, dataset, ...(first ?? [])),
      element(
        'details',
        { class: 'apl-import-more' },
        element('summary', {}, 'More options'),
        element('div', { class: 'apl-import-options' }, ...(more ?? [])),
        element('label', { class: 'apl-import-check' }, this.#replace, upper(replace)),
      ),
      this.#said,
      this.#table,
      this.#line,
    );
    this.node.addEventListener('change', ({ target }) => {
      // The name of the dataset does not affect how the file is read.
      if (target !== this.#controls.get('dataset') && target !== this.#replace) void this.#preview();
      this.#showLine();
    });
    this.node.addEventListener('input', () => this.#showLine());
  }

  override onAfterAttach(): void {
    this.#allow(false);
    void this.#preview();
  }

  /** The line for the current state of the controls. */
  get line(): string {
    const options = [...this.#controls].map(([name, { value }]) => [name, value.trim()] as const);
    const flags = this.#replace.checked ? ' --replace' : '';
    return `${importLine(this.#notebook, this.#file, options) ?? ''}${flags}`;
  }

  #control({ name, value, summary }: Pick<ImportOption, 'name' | 'value' | 'summary'>): HTMLElement {
    const control =
      value.includes('|') || name === 'time'
        ? element('select', { name }, element('option', { value: '' }, 'detected'), ...optionsOf(value))
        : element('input', { name, type: 'text', spellcheck: 'false', autocomplete: 'off' });
    control.classList.add('apl-input');
    control.title = upper(summary.replaceAll('`', ''));
    this.#controls.set(name, control);
    return element('label', {}, element('span', {}, upper(name)), control);
  }

  #showLine(): void {
    this.#line.textContent = visible(this.line);
  }

  async #preview(): Promise<void> {
    this.#showLine();
    this.#asked += 1;
    const asked = this.#asked;
    const isBusy = this.#around.link?.session?.isRunning === true;
    this.#say([isBusy ? 'Waiting for the running cell\u2026' : 'Reading the first rows\u2026'], false);
    const { isOk, text, displayed } = await this.#around.run(
      `${this.line.replace(/ --replace$/, '')} --preview`,
    );
    if (asked !== this.#asked || this.isDisposed) return;
    const apl = displayed.at(-1)?.metadata.apl as { readonly preview?: ImportPreview } | undefined;
    if (isOk && apl?.preview !== undefined) this.#show(apl.preview);
    else {
      this.#say(text.split('\n'), true);
      this.#allow(false);
      this.#table.replaceChildren();
    }
  }

  #show(preview: ImportPreview): void {
    const { format, timeField, problem, dataset } = preview;
    // Options named in the lines are shown as their controls here.
    const lines = previewLines(preview).map(line => line.replace(/`--(\w+) ([^`]+)`/g, chosenBy));
    this.#say(lines, problem !== undefined);
    this.#allow(problem === undefined);
    this.#name('format', `${format.label}, detected`);
    this.#name('time', timeField === '' ? 'none found' : `${shownName(timeField)}, detected`);
    const named = this.#controls.get('dataset');
    if (named instanceof HTMLInputElement) named.placeholder = dataset;
    this.#offerTimes(preview);
    const [heads = [], ...rows] = previewRows(preview, typeWord, 5);
    const head = element('tr', {}, ...heads.map(text => element('th', { scope: 'col' }, text)));
    const names = distinctLabels(
      rows.map(([name = '']) => shownName(name)),
      NAME_LENGTH,
    );
    const body = rows.map(([name = '', ...values], index) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row', title: visibleLines(name) }, names[index] ?? ''),
        ...values.map(cellOf),
      ),
    );
    this.#table.replaceChildren(
      element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)),
    );
  }

  /** Sets the displayed default of an option. */
  #name(control: string, text: string): void {
    const chosen = this.#controls.get(control);
    const [none] = chosen instanceof HTMLSelectElement ? chosen.options : [];
    if (none !== undefined && chosen?.value === '') none.textContent = cut(text, 60);
  }

  /** Offers the fields that may hold the time; a previous choice is kept. */
  #offerTimes({ fields }: ImportPreview): void {
    const control = this.#controls.get('time');
    const names = fields.map(({ name }) => name).filter(name => name !== '_time');
    if (!(control instanceof HTMLSelectElement) || this.#timeFields === names.join('\n')) return;
    this.#timeFields = names.join('\n');
    const { value } = control;
    const [none] = control.options;
    const offered = names.map(name => element('option', { value: name }, shownName(cut(name, 60))));
    control.replaceChildren(...(none === undefined ? [] : [none]), ...offered);
    control.value = names.includes(value) ? value : '';
    this.#showLine();
  }

  #say(lines: readonly string[], isProblem: boolean): void {
    this.#said.classList.toggle('apl-import-problem', isProblem);
    this.#said.replaceChildren(
      ...lines.filter(line => line !== '').map(line => element('p', {}, ...codeIn(line))),
    );
  }

  /**
   * Enables Import after a preview without a problem; a cell can be added at any time. While the next preview is loading, the button is
   * left unchanged, because pressing it is what ends the editing of an option.
   */
  #allow(isReady: boolean): void {
    const run = this.node.closest('.jp-Dialog')?.querySelector<HTMLButtonElement>('.apl-import-run');
    if (run instanceof HTMLButtonElement) run.disabled = !isReady;
  }
}

/** Returns an option with a value under the name of its control. */
function chosenBy(_: string, name: string, value: string): string {
  return `\`${upper(name)}: ${value}\``;
}

/** Returns the nodes of a line, with code elements for spans in backticks. */
function codeIn(line: string): readonly Node[] {
  return line
    .split('`')
    .map((text, index) =>
      index % 2 === 0 ? document.createTextNode(visibleLines(text)) : element('code', {}, visibleLines(text)),
    );
}

function optionsOf(values: string): readonly HTMLOptionElement[] {
  if (!values.includes('|')) return [];
  return values.split('|').map(value => element('option', { value }, value));
}

function cellOf(value: string): HTMLElement {
  return element('td', { title: visibleLines(value) }, visible(value));
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
