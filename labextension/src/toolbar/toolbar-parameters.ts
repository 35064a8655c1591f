import { NotebookActions } from '@jupyterlab/notebook';
import { cut, visible } from '../../../kernel/text.js';
import { literalOf, textOf, type WrittenParameter, writtenParameters } from '../cell/cell-parameters.js';
import type { Refresher } from '../cell/refresh.js';
import type { Around } from '../link/link-around.js';
import { button, element } from '../ui/dom.js';
import type { Opened } from '../ui/popover.js';

/** Returns whether a cell may name parameters; fast, since it is called during typing. */
export function hasParameters(around: Around): boolean {
  return around.codeCells().some(({ source }) => /^[ \t]*%param[ \t]|\bquery_parameters\b/im.test(source));
}

/** Returns the form of the parameters named in cells; its changes run as `%param` lines, and are recorded as such. */
export function parametersForm(around: Around, { rerun }: Refresher, opened: Opened): readonly Node[] {
  const runsText = rerun.follows ? 'Set and refresh' : 'Set and run all cells';
  const rows = writtenParameters(around.codeCells().map(({ source }) => source)).map(rowOf);
  const set = async (runs: boolean): Promise<void> => {
    const isRunning = around.link?.session?.isRunning === true;
    opened.say(`Waiting for the ${isRunning ? 'running cell' : 'kernel'}\u2026`);
    await rerun.prepare();
    const problem = await setAll(around, rows);
    if (problem !== undefined) opened.say(problem);
    else {
      opened.leave();
      if (!runs) return;
      if (rerun.follows) await rerun.again();
      else await NotebookActions.runAll(around.panel.content, around.panel.sessionContext);
    }
  };
  const form = element(
    'form',
    { class: 'apl-parameters', 'aria-label': 'Parameters' },
    ...rows.map(({ node }) => node),
    element(
      'div',
      { class: 'apl-row' },
      element('button', { class: 'apl-button' }, 'Set'),
      button(runsText, runsText, () => void set(true)),
    ),
  );
  form.addEventListener('submit', event => {
    event.preventDefault();
    void set(false);
  });
  return [
    element('p', { class: 'apl-title' }, element('strong', {}, 'Parameters of the notebook')),
    form,
    element(
      'p',
      { class: 'apl-hint' },
      'Written as %param lines. Cells keep their outputs until they run again.',
    ),
  ];
}

/** A parameter and its input. */
interface Row {
  readonly node: HTMLElement;
  readonly written: WrittenParameter;
  /** True if the input is the value itself, not APL. */
  readonly isText: boolean;
  readonly control: HTMLInputElement | HTMLSelectElement;
  readonly before: string;
}

function rowOf(written: WrittenParameter): Row {
  const { name, type, literal, choices, places } = written;
  const text = literal === undefined ? undefined : textOf(literal);
  const isText = choices.length === 0 && (literal === undefined ? type === 'string' : isLine(text));
  const control =
    choices.length > 0 ? choicesOf(literal ?? '', choices) : fieldOf((isText ? text : literal) ?? '', isText);
  const kind = type ?? (isText ? 'string' : '');
  const note = places.length > 1 ? `set ${places.length} times; the last value is shown` : '';
  const node = element(
    'label',
    { class: 'apl-parameter' },
    element('strong', {}, visible(cut(name, 80))),
    element(
      'span',
      { class: 'apl-parameter-type' },
      [kind, note].filter(each => each !== '').join(' \u00b7 '),
    ),
    control,
  );
  return { node, written, isText, control, before: control.value };
}

/** Returns whether a field can show a string unchanged: other strings are shown as literals. */
function isLine(text: string | undefined): boolean {
  return text !== undefined && !/[\r\n]/.test(text);
}

function fieldOf(value: string, isText: boolean): HTMLInputElement {
  const field = element('input', {
    ...{ class: 'apl-input', type: 'text', spellcheck: 'false' },
    placeholder: isText ? 'text' : 'no value yet',
  });
  field.value = value;
  return field;
}

/** Returns the select of a parameter; a value that is not an option stays until another one is selected. */
function choicesOf(value: string, choices: readonly string[]): HTMLSelectElement {
  const same = choices.find(each => each === value || (textOf(each) ?? each) === textOf(value));
  const select = element('select', { class: 'apl-input' });
  for (const each of same === undefined ? [value, ...choices] : choices)
    select.append(element('option', { value: each }, visible(cut(textOf(each) ?? each, 200))));
  select.value = same ?? value;
  return select;
}

/** Sets the changed parameters one after the other; on failure, returns the reason. */
async function setAll(around: Around, rows: readonly Row[]): Promise<string | undefined> {
  for (const { written, isText, control, before } of rows) {
    if (control.value === before) continue;
    const read = literalOf(written.name, control.value, isText);
    if ('problem' in read) return read.problem;
    const change = await around.setParameter(written.name, read.literal);
    if (!change.isOk) return change.text;
    if (change.cell === undefined)
      return `${written.name} is set for this session only: its cell is read-only.`;
  }
  return undefined;
}
