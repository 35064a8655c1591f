import { Widget } from '@lumino/widgets';
import { chartKinds, setChartKind } from '../cell/commands.js';
import { chartKind } from '../cell/lines.js';
import { type AnyCell, type CodeCell, selectionIn } from '../cell/run.js';
import { mimeType } from '../names.js';
import { element } from '../ui/dom.js';

/** Returns the choice of a chart for the toolbar of a cell; nothing in cells of prose and of other languages. */
export function chartChoice(cell: AnyCell): Widget {
  const isApl = cell.model.type === 'code' && cell.model.mimeType === mimeType;
  if (!isApl) {
    const nothing = new Widget();
    nothing.hide();
    return nothing;
  }
  const code = cell as CodeCell;
  const select = element('select', {
    class: 'apl-chart-choice',
    'aria-label': 'Chart of the query at the cursor',
    title: 'Chart of the query at the cursor; it is drawn so when the cell runs',
  });
  for (const kind of chartKinds)
    select.append(element('option', { value: kind }, kind === 'auto' ? 'chart: auto' : kind));
  const follow = (): void => {
    const kind = chartKind(code.model.sharedModel.getSource(), selectionIn(code).from);
    select.value = chartKinds.find(each => each === kind) ?? 'auto';
  };
  follow();
  code.model.contentChanged.connect(follow);
  select.addEventListener('change', () => setChartKind(code, select.value));
  const widget = new Widget({ node: element('div', { class: 'apl-toolbar-item' }, select) });
  widget.disposed.connect(() => code.model.contentChanged.disconnect(follow));
  return widget;
}
