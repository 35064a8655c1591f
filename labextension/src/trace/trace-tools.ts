import { FAILED } from '../../../kernel/result/trace/waterfall.js';
import { formatCount, plural } from '../../../kernel/text.js';
import { button, element } from '../ui/dom.js';

/** The actions of the tools of a trace. */
export interface ToolActions {
  search(text: string): void;
  nextHit(isBack: boolean): void;
  nextFailed(isBack: boolean): void;
  toggleCritical(): void;
  foldAll(): void;
  /** Zooms to `percent` of the interval in view. */
  zoomBy(percent: bigint): void;
  whole(): void;
  logs(opener: HTMLElement): void;
}

/** The state shown by the tools. */
export interface ToolState {
  readonly isCritical: boolean;
  /** The trace is zoomed in. */
  readonly isPart: boolean;
  readonly isFolded: boolean;
  readonly hits: number;
}

/** The tools above a trace. */
export interface TraceTools {
  readonly node: HTMLElement;
  readonly search: HTMLInputElement;
  show(state: ToolState): void;
  say(text: string): void;
}

/** Returns the tools of a trace; each has a key, named in its tooltip. */
export function toolsOf(
  { failed, hasLogs }: { readonly failed: number; readonly hasLogs: boolean },
  actions: ToolActions,
): TraceTools {
  const search = element('input', {
    ...{ type: 'search', class: 'apl-input', placeholder: 'Find spans', 'aria-label': 'Find spans' },
    title: 'Text in any field, such as a name or service, or field=text (/)',
  });
  search.addEventListener('input', () => actions.search(search.value));
  search.addEventListener('keydown', event => {
    if (event.key === 'Enter') actions.nextHit(event.shiftKey);
  });
  const back = button('\u2039', 'Previous match (Shift N)', () => actions.nextHit(true));
  const next = button('\u203a', 'Next match (N)', () => actions.nextHit(false));
  const errors = button(
    `${FAILED} ${formatCount(failed)} failed`,
    `Go to the next of ${plural(failed, 'failed span')} (E)`,
    () => actions.nextFailed(false),
  );
  errors.hidden = failed === 0;
  const critical = button('Critical path', 'Mark the spans on the critical path (C)', () =>
    actions.toggleCritical(),
  );
  const fold = button('Fold all', 'Fold or unfold all spans', () => actions.foldAll());
  const whole = button('Whole trace', 'Show the whole trace again (0)', () => actions.whole());
  const logs = button('Log lines', 'Add and run a cell below with the log lines of the trace (Shift L)', () =>
    actions.logs(logs),
  );
  logs.hidden = !hasLogs;
  const status = element('span', { class: 'apl-trace-status', role: 'status' });
  const node = element(
    'div',
    { class: 'apl-row apl-trace-tools' },
    ...[search, back, next, errors, critical, fold],
    button('\u2212', 'Zoom out (\u2212)', () => actions.zoomBy(200n)),
    button('+', 'Zoom in on the selected span (+)', () => actions.zoomBy(50n)),
    ...[whole, logs, status],
  );
  return {
    ...{ node, search },
    show: ({ isCritical, isPart, isFolded, hits }) => {
      critical.setAttribute('aria-pressed', String(isCritical));
      whole.hidden = !isPart;
      fold.textContent = isFolded ? 'Unfold all' : 'Fold all';
      for (const each of [back, next]) each.disabled = hits === 0;
    },
    say: text => {
      status.textContent = text;
    },
  };
}
