import type { NotebookPanel } from '@jupyterlab/notebook';
import { kindLabels } from '../../../kernel/apl/operators/chart-kinds.js';
import type { ChartKind } from '../../../kernel/apl/operators/drawing.js';
import { parseCell } from '../../../kernel/apl/syntax/cell.js';
import { VEGA_MIME } from '../charts/charts-mime.js';
import type { Around } from '../link/link-around.js';
import { writeStep } from '../link/undo-step.js';
import { button, element } from '../ui/dom.js';
import { type Opened, popover } from '../ui/popover.js';
import { chartKindEdit, quoted } from './cell-lines.js';
import type { CodeCell } from './cell-run.js';

/** Names of the kinds in the menu. */
const names: Readonly<Record<ChartKind, string>> = { ...kindLabels, none: 'Table only' };

/**
 * Shows the kinds that the last result of a cell can be drawn as. The chosen one is written into the cell, and the result is redrawn from
 * the data in the kernel, without a request to a service, so its numbers stay the same.
 */
export function openChartMenu(session: Around, panel: NotebookPanel, cell: CodeCell): void {
  const result = lastResult(cell);
  const list = element('div', { class: 'apl-choices', role: 'group', 'aria-label': 'Chart kinds' });
  // In a narrow cell, the toolbar is hidden.
  const control = cell.node.querySelector<HTMLElement>('[data-jp-item-name="apl-chart"]');
  const input = cell.inputArea?.node ?? cell.node;
  const opened = popover().show(control === null ? [input] : [control, input], 'Chart', () => [
    element('header', {}, element('strong', {}, 'Draw as')),
    list,
  ]);
  if (result === undefined || session.state !== 'ready')
    return void opened.say('The kernel has no result of this cell. Run the cell first.');
  const pick = async (kind: ChartKind): Promise<void> => {
    const problem = await drawAs(session, cell, result, kind);
    if (problem !== undefined) opened.say(problem);
    else if (opened.close()) panel.content.activate();
  };
  fill(session, result, { list, opened }, pick);
}

interface Shown {
  readonly list: HTMLElement;
  readonly opened: Opened;
}

/** Lists the kinds once the kernel has sent them. */
function fill(
  session: Around,
  result: string,
  { list, opened }: Shown,
  pick: (kind: ChartKind) => Promise<void>,
): void {
  const { link } = session;
  link?.whenAnswered({ ask: 'kinds', result }, answer => {
    if (answer.tell !== 'kinds') return;
    const kinds = answer.kinds ?? [];
    if (answer.kinds === undefined)
      opened.say('The kernel no longer has the result of this cell. Run the cell again.');
    else if (kinds.length === 0)
      opened.say('Nothing to draw: the result has no numbers over time or by name.');
    const choices = kinds.length === 0 ? [] : [...kinds, 'none' as const];
    list.replaceChildren(...choices.map(kind => button(names[kind], names[kind], () => void pick(kind))));
    list.querySelector('button')?.focus({ preventScroll: true });
  });
}

type Output = ReturnType<CodeCell['model']['outputs']['toJSON']>[number];

/** Returns the id of the last result among the outputs of a cell; undefined if none has one. */
function lastResult({ model }: CodeCell): string | undefined {
  return model.outputs
    .toJSON()
    .map(resultOf)
    .findLast(id => id !== undefined);
}

function resultOf({ metadata }: Output): string | undefined {
  const { apl } = (metadata ?? {}) as { readonly apl?: { readonly result?: { readonly id?: unknown } } };
  const id = apl?.result?.id;
  return typeof id === 'string' ? id : undefined;
}

/** Draws a result as a kind and writes the kind into its cell; on failure, returns the reason. */
async function drawAs(
  session: Around,
  { model }: CodeCell,
  result: string,
  kind: ChartKind,
): Promise<string | undefined> {
  const source = model.sharedModel.getSource();
  const drawn = kind === 'none' ? undefined : await session.run(vizLine(source, result, kind));
  if (drawn?.isOk === false) return drawn.text;
  const outputs = model.outputs.toJSON();
  const old = outputs.findLastIndex(each => resultOf(each) === result && isChart(each));
  const first = outputs.findIndex(each => resultOf(each) === result);
  const chart = drawn?.displayed.at(-1);
  if (old >= 0 && chart !== undefined) model.outputs.set(old, chart);
  else if (old >= 0 || chart !== undefined)
    model.outputs.fromJSON(
      chart === undefined ? outputs.toSpliced(old, 1) : outputs.toSpliced(Math.max(first, 0), 0, chart),
    );
  // The user may have typed meanwhile.
  const edit = chartKindEdit(model.sharedModel.getSource(), kind);
  if (edit === undefined || model.getMetadata('editable') === false)
    return 'Drawn, but not saved: the cell is read-only.';
  writeStep(model.sharedModel, edit.from, edit.to, edit.text);
  return undefined;
}

function isChart({ data }: Output): boolean {
  return typeof data === 'object' && data !== null && VEGA_MIME in data;
}

/** Returns the magic that draws a result as a kind, with the cell's remaining chart options. */
function vizLine(source: string, result: string, kind: ChartKind): string {
  const { stack, log, unit } = parseCell(source).queries.at(-1)?.chart ?? {};
  const more = [
    ...(stack === true ? ['--stack'] : []),
    ...(log === true ? ['--log'] : []),
    ...(unit === undefined ? [] : [`--unit ${quoted(unit)}`]),
  ];
  return [`%viz ${kind} --from ${quoted(result)}`, ...more].join(' ');
}
