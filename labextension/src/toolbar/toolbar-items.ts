import { Notification } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';
import { cut, visible } from '../../../kernel/text.js';
import { INTERVALS, type Refresher, refresherOf } from '../cell/refresh.js';
import { pinnedCells } from '../dashboard/pins.js';
import type { Around } from '../link/link-around.js';
import { button, element } from '../ui/dom.js';
import { type Opened, popover } from '../ui/popover.js';
import { closeFold, forgetFold, noteFold } from './fold.js';
import { moveRange, rangePicker, timeNow } from './range.js';
import { rangeText, rangeTitle } from './range-text.js';
import { hasParameters, parametersForm } from './toolbar-parameters.js';
import { MOVES, movedRange } from './toolbar-windows.js';

/** A button in the toolbar of a notebook or its dashboard, hidden in notebooks of other languages. */
abstract class Item extends Widget {
  readonly around: Around;
  /** Reruns the cells of the notebook, or of its dashboard. */
  readonly refresher: Refresher;
  readonly control: HTMLButtonElement;

  constructor(around: Around, name: string, refresher = refresherOf(around)) {
    super();
    this.around = around;
    this.refresher = refresher;
    this.control = element('button', { type: 'button', class: `apl-toolbar-button apl-toolbar-${name}` });
    this.node.append(this.control);
    this.addClass('apl-toolbar-item');
    this.control.addEventListener('click', event => {
      // In older versions of JupyterLab, the toolbar focuses the notebook on a click, away from the popover just opened.
      event.stopPropagation();
      closeFold(this);
      this.open();
    });
  }

  /** The control, and the visible parts of the toolbar if it is too narrow for the control. */
  get places(): readonly [HTMLElement, ...HTMLElement[]] {
    const { node } = this.refresher.rerun.view.toolbar;
    const more = node.querySelector<HTMLElement>('.jp-Toolbar-responsive-opener');
    return [this.control, ...(more === null ? [] : [more]), node];
  }

  /** Called on a click, and by the command of the same name. */
  abstract open(): void;

  /** Draws the current state; never called in notebooks of other languages. */
  abstract draw(): void;

  /** False while there is nothing to open. */
  get isUseful(): boolean {
    return true;
  }

  override onAfterAttach(): void {
    this.around.changed.connect(this.#update, this);
    noteFold(this);
    this.#update();
  }

  override onBeforeDetach(): void {
    forgetFold(this);
    this.around.changed.disconnect(this.#update, this);
  }

  focusToolbar(): void {
    this.places.at(1)?.querySelector<HTMLElement>('jp-button')?.focus();
  }

  /** Updates in one step: if it were shown and hidden again, the toolbar would lay out all of its items each time. */
  #update(): void {
    const { isApl } = this.around;
    this.setHidden(!isApl || !this.isUseful);
    if (isApl) this.draw();
  }
}

/** Returns the tooltip of a disabled button: why the kernel does not respond. */
function whyNot({ state }: Around): string {
  switch (state) {
    case 'none':
      return 'The notebook has no kernel.';
    case 'dead':
      return 'The kernel has stopped. Restart it.';
    case 'unanswering':
      return 'The kernel does not respond to this extension.';
    default:
      return 'The kernel is starting.';
  }
}

/** The time range of the notebook, between buttons for the windows before and after it; opens the picker. */
export class RangeItem extends Item {
  readonly #moves = MOVES.filter(({ name }) => name !== 'wider').map(move => ({
    move,
    control: element(
      'button',
      {
        type: 'button',
        class: 'apl-toolbar-button apl-toolbar-move',
        title: move.label,
        'aria-label': move.label,
      },
      move.sign,
    ),
  }));

  constructor(around: Around, refresher?: Refresher) {
    super(around, 'range', refresher);
    this.control.setAttribute('aria-haspopup', 'dialog');
    const [before, after] = this.#moves;
    if (before !== undefined) this.node.prepend(before.control);
    if (after !== undefined) this.node.append(after.control);
    for (const { move, control } of this.#moves)
      control.addEventListener('click', event => {
        event.stopPropagation();
        closeFold(this);
        void moveRange(this.around, this.refresher, move).then(problem => {
          if (problem !== undefined) Notification.warning(problem, { autoClose: 6000 });
        });
      });
  }

  override open(): void {
    if (this.around.state !== 'ready') return;
    popover().show(this.places, 'Time range', opened => rangePicker(this.around, this.refresher, opened));
  }

  override draw(): void {
    const range = this.around.state === 'ready' ? this.around.link?.session?.range : undefined;
    const { zone } = this.around;
    this.control.disabled = range === undefined;
    const text = range === undefined ? 'time range' : rangeText(range, zone);
    const flags = range?.isFrozen === true ? ['pinned'] : [];
    this.control.replaceChildren(
      element('span', { class: 'apl-toolbar-text' }, text),
      ...flags.flatMap(flag => [' ', element('span', { class: 'apl-toolbar-flag' }, flag)]),
    );
    this.control.title = range === undefined ? whyNot(this.around) : rangeTitle(range, zone);
    this.control.setAttribute('aria-label', ['Time range of the notebook:', text, ...flags].join(' '));
    for (const { move, control } of this.#moves)
      control.disabled = range === undefined || movedRange(move, range, timeNow()) === undefined;
  }
}

/** Reruns the cells; shows the interval of periodic runs. */
export class RefreshItem extends Item {
  constructor(around: Around, refresher?: Refresher) {
    super(around, 'refresh', refresher);
  }

  override open(): void {
    if (this.around.state !== 'ready') return;
    const { again, name } = this.refresher.rerun;
    void again().then(count => {
      if (count > 0) return;
      const which = name === 'dashboard' ? 'No pinned cell can' : 'No cell that has run can';
      Notification.info(`${which} run again. Refresh skips cells that import, export or star.`, {
        autoClose: 6000,
      });
    });
  }

  override draw(): void {
    const { seconds, rerun } = this.refresher;
    const text = INTERVALS.find(([each]) => each === seconds)?.[1] ?? '';
    this.control.disabled = this.around.state !== 'ready';
    this.control.textContent = `\u21bb ${text}`.trim();
    this.control.title = this.control.disabled
      ? whyNot(this.around)
      : `Run the queries again${text === '' ? '' : `; every ${text} while the ${rerun.name} is visible`}`;
    this.control.setAttribute('aria-label', this.control.title);
  }
}

/** The profile of the session, red unless it is the local service; opens the list of profiles. */
export class ProfileItem extends Item {
  constructor(around: Around, refresher?: Refresher) {
    super(around, 'profile', refresher);
    this.control.setAttribute('aria-haspopup', 'dialog');
  }

  override open(): void {
    const { link } = this.around;
    if (this.around.state !== 'ready' || link === undefined) return;
    const list = element('div', { class: 'apl-choices' });
    const opened = popover().show(this.places, 'Profile', () => [
      element('header', {}, element('strong', {}, 'Where queries run')),
      list,
    ]);
    const fill = (): void => {
      if (!list.isConnected) link.changed.disconnect(fill);
      else fillChoices(list, this.#choices(opened));
    };
    link.changed.connect(fill);
    fill();
  }

  override draw(): void {
    const session = this.around.state === 'ready' ? this.around.link?.session : undefined;
    this.control.disabled = session === undefined;
    this.control.classList.toggle('apl-remote', session !== undefined && !session.isLocal);
    this.control.replaceChildren(
      element(
        'span',
        { class: 'apl-toolbar-text' },
        session === undefined ? 'profile' : visible(session.profile),
      ),
    );
    const where = session?.isLocal === true ? 'the local service' : 'a remote service';
    this.control.title =
      session === undefined ? whyNot(this.around) : `Profile ${visible(cut(session.profile, 200))}: ${where}`;
    this.control.setAttribute('aria-label', this.control.title);
  }

  #choices(opened: Opened): readonly Node[] {
    const { link } = this.around;
    const answer = link?.answer({ ask: 'profiles' });
    if (answer === undefined) return [element('p', {}, 'Loading\u2026')];
    if (answer.tell === 'failed') return [element('p', {}, visible(answer.message))];
    if (answer.tell !== 'profiles') return [];
    return answer.rows.map(({ name, address, hasToken, problem }) => {
      const about = problem ?? address ?? 'the local service';
      const label = `Use ${visible(name)}: ${visible(about)}`;
      const choice = button('', label, () => void this.#use(name, opened));
      const token = hasToken || problem !== undefined ? '' : '; prompts for a token';
      choice.append(
        element('strong', {}, visible(cut(name, 200))),
        element('span', {}, `${visible(cut(about, 300))}${token}`),
      );
      choice.removeAttribute('aria-label');
      choice.setAttribute('aria-pressed', String(name === link?.session?.profile));
      choice.disabled = problem !== undefined;
      return choice;
    });
  }

  async #use(name: string, opened: Opened): Promise<void> {
    const { around } = this;
    opened.say(around.link?.session?.isRunning === true ? 'Waiting for the running cell\u2026' : '');
    const change = await around.useProfile(name);
    if (change.isOk) opened.leave();
    else opened.say(change.text);
  }
}

/** Replaces options: the first ones get the focus, and later ones keep it at the same index. */
function fillChoices(list: HTMLElement, choices: readonly Node[]): void {
  const before = [...list.querySelectorAll('button')];
  const place = before.findIndex(each => each.matches(':focus'));
  list.replaceChildren(...choices);
  if (before.length === 0 || place >= 0) list.querySelectorAll('button')[Math.max(place, 0)]?.focus();
}

/** An item that is visible only while the cells of the notebook need it. */
abstract class CellsItem extends Item {
  override onAfterAttach(): void {
    this.around.panel.model?.contentChanged.connect(this.#redraw, this);
    super.onAfterAttach();
  }

  override onBeforeDetach(): void {
    this.around.panel.model?.contentChanged.disconnect(this.#redraw, this);
    super.onBeforeDetach();
  }

  #redraw(): void {
    this.setHidden(!this.around.isApl || !this.isUseful);
  }
}

/** The parameters named in cells; visible only if there are any. Opens the form that sets them. */
export class ParametersItem extends CellsItem {
  constructor(around: Around, refresher?: Refresher) {
    super(around, 'parameters', refresher);
    this.control.setAttribute('aria-haspopup', 'dialog');
    this.control.append(element('span', { class: 'apl-toolbar-text' }, 'parameters'));
  }

  override open(): void {
    if (this.around.state !== 'ready') return;
    if (this.isHidden)
      return void Notification.info('The notebook has no parameters. Add one with `%param name = 5`.', {
        autoClose: 6000,
      });
    popover().show(this.places, 'Parameters', opened => parametersForm(this.around, this.refresher, opened));
  }

  override get isUseful(): boolean {
    return hasParameters(this.around);
  }

  override draw(): void {
    this.control.disabled = this.around.state !== 'ready';
    this.control.title = this.control.disabled ? whyNot(this.around) : 'Parameters of the notebook';
  }
}

/** Saves the notebook as a page to share; needs no kernel. */
export class ReportItem extends Item {
  constructor(around: Around, refresher?: Refresher) {
    super(around, 'report', refresher);
    this.control.append(element('span', { class: 'apl-toolbar-text' }, 'Report'));
    this.control.title = 'Save this notebook as a single HTML page to share';
  }

  override open(): void {
    void import('./toolbar-report.js').then(({ saveReport }) => saveReport(this.around.panel));
  }

  override draw(): void {}
}

/** Opens the dashboard of the notebook; visible only if a cell is pinned. */
export class DashboardItem extends CellsItem {
  readonly #open: () => void;

  constructor(around: Around, open: () => void) {
    super(around, 'dashboard');
    this.#open = open;
    this.control.append(element('span', { class: 'apl-toolbar-text' }, 'Dashboard'));
    this.control.title = 'Show the pinned cells on one page';
  }

  override open(): void {
    this.#open();
  }

  override get isUseful(): boolean {
    return pinnedCells(this.around.panel).length > 0;
  }

  override draw(): void {}
}

/** Indicates that agents may add cells, and stops them; visible only while they may. */
export class AgentsItem extends Item {
  constructor(around: Around, refresher?: Refresher) {
    super(around, 'agents', refresher);
    this.control.append(element('span', { class: 'apl-toolbar-text' }, 'Agents on'));
    this.control.title = 'Agents can add cells to this notebook. Press to turn this off.';
    this.control.setAttribute('aria-label', this.control.title);
  }

  override open(): void {
    this.around.link?.endAgents();
  }

  override get isUseful(): boolean {
    return this.around.state === 'ready' && this.around.link?.session?.takesAgents === true;
  }

  override draw(): void {}
}

/** Time after which a cell is worth stopping, in milliseconds; for faster ones the button would flicker. */
const shownAfterMs = 500;

/** Stops the running cell; visible only while there is one. */
export class StopItem extends Item {
  #since: number | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(around: Around, refresher?: Refresher) {
    super(around, 'stop', refresher);
    this.control.append(element('span', { class: 'apl-toolbar-text' }));
    this.control.title = 'Stop the running query';
    this.control.setAttribute('aria-label', this.control.title);
  }

  override open(): void {
    void this.around.link?.kernel.interrupt();
  }

  override dispose(): void {
    clearInterval(this.#timer);
    super.dispose();
  }

  override get isUseful(): boolean {
    return this.#elapsedMs >= shownAfterMs;
  }

  override draw(): void {
    const isRunning = this.around.state === 'ready' && this.around.link?.session?.isRunning === true;
    if (isRunning && this.#since === undefined) {
      this.#since = performance.now();
      this.#timer = setInterval(() => this.#tick(), shownAfterMs);
    } else if (!isRunning) {
      clearInterval(this.#timer);
      this.#since = undefined;
    }
    this.#tick();
  }

  /** How long the cell has been running; 0 if none is. */
  get #elapsedMs(): number {
    return this.#since === undefined ? 0 : performance.now() - this.#since;
  }

  /** Replaces the button that reruns queries, of the same width: nothing beside it moves, and it is never hidden for lack of width. */
  #tick(): void {
    this.setHidden(!this.isUseful);
    const text = this.control.querySelector('.apl-toolbar-text');
    if (text !== null) text.textContent = `${Math.floor(this.#elapsedMs / 1000)} s`;
  }
}
