import type { SessionFacts } from '../../../kernel/apl/editor/editor-link.js';
import { visible } from '../../../kernel/text.js';
import { INTERVALS, type Refresher } from '../cell/refresh.js';
import type { Around } from '../link/link-around.js';
import { timeIn, type Zone } from '../link/link-zone.js';
import { button, element } from '../ui/dom.js';
import type { Opened } from '../ui/popover.js';
import { MOVES, movedRange, type WindowMove } from './toolbar-windows.js';

/** Ranges available by one click, as arguments of `%time`. */
const quick = ['5m', '15m', '1h', '6h', '24h', '7d', '30d'] as const;

/** Returns the content of the time picker; its changes run as a `%time` line. */
export function rangePicker(around: Around, refresher: Refresher, opened: Opened): readonly Node[] {
  const { rerun } = refresher;
  const range = around.link?.session?.range;
  const set = async (args: string): Promise<void> => {
    opened.say(around.link?.session?.isRunning === true ? 'Waiting for the running cell\u2026' : '');
    await rerun.prepare();
    const change = await around.set('time', args);
    if (change.isOk && rerun.follows) void rerun.again();
    if (!change.isOk) opened.say(change.text);
    else if (change.cell === undefined) opened.say('Set for this session only: the cell is read-only.');
    else opened.leave();
  };
  return [
    element('header', {}, element('strong', {}, 'Time range of the notebook')),
    quickRanges(range, set),
    moves(around, refresher, opened),
    anyRange(set),
    absoluteRange(around, range, set),
    pin(range, set),
    refreshing(around, refresher),
    element('p', { class: 'apl-hint' }, 'Written as a %time line, so the notebook uses it on every run.'),
  ];
}

type SetRange = (args: string) => Promise<void>;

function quickRanges(range: SessionFacts['range'] | undefined, set: SetRange): HTMLElement {
  const choices = quick.map(length => {
    const choice = button(length, `Last ${length}`, () => void set(`last ${length}`));
    choice.setAttribute('aria-pressed', String(range?.label === `last ${length}`));
    return choice;
  });
  return element('div', { class: 'apl-row', role: 'group', 'aria-label': 'Until now' }, ...choices);
}

/** Returns the browser's time, in nanoseconds since 1970. */
export function timeNow(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

/** Moves the window of the notebook and reruns the cells below its line; on failure, returns the reason. */
export async function moveRange(
  around: Around,
  { rerun }: Refresher,
  move: WindowMove,
): Promise<string | undefined> {
  const range = around.link?.session?.range;
  const moved = range === undefined ? undefined : movedRange(move, range, timeNow());
  if (moved === undefined)
    return move.name === 'next' ? 'That window is in the future.' : 'No event can be that old.';
  await rerun.prepare();
  const change = await around.set('time', moved);
  if (!change.isOk) return visible(change.text);
  void rerun.again(change.cell);
  return undefined;
}

/** Returns buttons for the windows beside and around the notebook's; they also rerun the cells. */
function moves(around: Around, refresher: Refresher, opened: Opened): HTMLElement {
  const texts = { previous: '\u2039 Previous', next: 'Next \u203a', wider: 'Zoom out' };
  const controls = MOVES.map(move => {
    const control = button(texts[move.name], `${move.label}; the cells run again`, () => {
      void moveRange(around, refresher, move).then(problem => {
        opened.say(problem ?? '');
        draw();
      });
    });
    return { move, control };
  });
  const draw = (): void => {
    const range = around.link?.session?.range;
    for (const { move, control } of controls)
      control.disabled = range === undefined || movedRange(move, range, timeNow()) === undefined;
  };
  draw();
  return element(
    'div',
    { class: 'apl-row', role: 'group', 'aria-label': 'Move the window' },
    ...controls.map(({ control }) => control),
  );
}

/** Returns the control of periodic runs. */
function refreshing(around: Around, refresher: Refresher): HTMLElement {
  const select = element('select', { class: 'apl-input', 'aria-label': 'Refresh' });
  for (const [seconds, text] of [
    [0, 'manually'] as const,
    ...INTERVALS.map(([s, t]) => [s, `every ${t}`] as const),
  ])
    select.append(element('option', { value: seconds, selected: seconds === refresher.seconds }, text));
  select.addEventListener('change', () => {
    refresher.every(Number(select.value));
    around.redraw();
  });
  return element(
    'div',
    { class: 'apl-row' },
    element('label', {}, 'Refresh ', select),
    button('Refresh now', 'Run the queries again', () => void refresher.rerun.again()),
  );
}

/** Returns a field for any argument of `%time`. */
function anyRange(set: SetRange): HTMLElement {
  const input = element('input', {
    class: 'apl-input apl-wide',
    type: 'text',
    placeholder: 'yesterday 10:00..11:00, this week, all',
    'aria-label': 'Any range that %time accepts',
  });
  const form = element(
    'form',
    { class: 'apl-row' },
    input,
    element('button', { class: 'apl-button' }, 'Set'),
  );
  form.addEventListener('submit', event => {
    event.preventDefault();
    // The input becomes a single magic line, without options.
    const text = input.value.replace(/[\r\n]+/g, ' ').trim();
    if (text !== '' && !text.startsWith('--')) void set(text);
  });
  return form;
}

/** Returns the fields for two times, in the notebook's time zone, which can be changed here too. */
function absoluteRange(around: Around, range: SessionFacts['range'] | undefined, set: SetRange): HTMLElement {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = element('select', {
    class: 'apl-input',
    'aria-label': 'Time zone',
    title: 'Time zone of all times in the notebook',
  });
  const zones: readonly [Zone, string][] = [
    ['utc', 'UTC'],
    ['local', local === 'UTC' ? 'Local time' : local],
  ];
  for (const [value, name] of zones)
    zone.append(element('option', { value, selected: value === around.zone }, name));
  const [from, to] = ['From', 'To'].map(name =>
    element('input', {
      class: 'apl-input',
      type: 'datetime-local',
      step: 1,
      required: true,
      'aria-label': name,
    }),
  ) as [HTMLInputElement, HTMLInputElement];
  const fill = (): void => {
    for (const [input, time] of [
      [from, range?.startTime],
      [to, range?.endTime],
    ] as const)
      input.value = time === undefined ? '' : timeIn(time, zoneOf(zone)).slice(0, 19);
  };
  zone.addEventListener('change', () => {
    around.changeZone(zoneOf(zone));
    fill();
  });
  fill();
  const form = element(
    'form',
    { class: 'apl-times', 'aria-label': 'Start and end' },
    ...[element('label', {}, 'From ', from), element('label', {}, 'to ', to)],
    element('div', { class: 'apl-row' }, zone, element('button', { class: 'apl-button' }, 'Set times')),
  );
  form.addEventListener('submit', event => {
    event.preventDefault();
    const [start, end] = [from, to].map(({ value }) => timeOf(zoneOf(zone), value));
    if (start !== undefined && end !== undefined) void set(`${start}..${end}`);
  });
  return form;
}

/** Returns the button that makes the range absolute, or makes it end now again. */
function pin(range: SessionFacts['range'] | undefined, set: SetRange): HTMLElement {
  const isFrozen = range?.isFrozen === true;
  const control = button(
    isFrozen ? 'Unpin: last 1h' : 'Pin this window',
    isFrozen ? 'Return to the last hour' : 'Keep this window on every run',
    () => void set(isFrozen ? '--clear' : '--freeze'),
  );
  control.setAttribute('aria-pressed', String(isFrozen));
  return element('div', { class: 'apl-row' }, control);
}

function zoneOf({ value }: HTMLSelectElement): Zone {
  return value === 'local' ? 'local' : 'utc';
}

/** Returns the time of a field in UTC; undefined if it has none. */
function timeOf(zone: Zone, value: string): string | undefined {
  const date = new Date(zone === 'utc' ? `${value}Z` : value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace('.000Z', 'Z');
}
