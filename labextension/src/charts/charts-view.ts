import { type Loader, parse, type Spec, View } from 'vega';
import type { Zone } from '../link/link-zone.js';
import { imageToClipboard } from '../ui/clipboard.js';
import { button, element } from '../ui/dom.js';
import { closedLikeAMenu } from '../ui/menu.js';
import { saveFile } from '../ui/save.js';
import { keepKeys } from '../ui/ui-keys.js';
import { addStyle } from '../ui/ui-style.js';
import { factsOf } from './charts-facts.js';
import { readAlong } from './charts-reader.js';
import type { ChartPlace } from './charts-stage.js';
import { STYLE } from './charts-style.js';
import { inZone } from './charts-zone.js';
import { readMarks } from './marks.js';
import { Tip } from './tip.js';

/** A drawn chart, and the function that disposes of it. */
export interface ChartView {
  readonly node: HTMLElement;
  dispose(): void;
}

/** Returns the chart of a Vega specification as an element that fits its width; for anything else, a sentence. */
export async function openChart(spec: unknown, zone: Zone, place: ChartPlace): Promise<ChartView> {
  addStyle('apl-chart-style', STYLE);
  const svg = element('div', { class: 'apl-chart-svg' });
  const node = element('div', { class: 'apl-chart-frame' }, svg);
  keepKeys(node);
  try {
    return await drawn(spec as Spec, { node, svg, zone }, place);
  } catch (error) {
    console.warn('apl-kernel: a chart cannot be drawn.', error);
    node.replaceChildren('This chart cannot be drawn here.');
    return { node, dispose: () => undefined };
  }
}

interface Frame {
  readonly node: HTMLElement;
  readonly svg: HTMLElement;
  readonly zone: Zone;
}

async function drawn(written: Spec, { node, svg, zone }: Frame, place: ChartPlace): Promise<ChartView> {
  const facts = factsOf(written);
  const spec = inZone(written, facts, zone);
  const view = new View(parse(spec), { renderer: 'svg', container: svg, loader: NOTHING, hover: true });
  const tip = new Tip(node);
  if (facts.across === 'none')
    view.tooltip((_, event, __, value) => tip.show(event as MouseEvent, rowsOf(value)));
  else view.tooltip(() => undefined);
  await view.runAsync();
  node.append(menu(view, spec));
  const stage = { view, spec, facts, node, svg, tip, zone, ...place };
  const reader = facts.across === 'none' ? readMarks(stage) : readAlong(stage);
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (node.clientWidth === width || node.clientWidth === 0) return;
    width = node.clientWidth;
    reader.clear();
    void view.signal('given', width).runAsync();
  });
  observer.observe(node);
  return {
    node,
    dispose: () => {
      observer.disconnect();
      tip.dispose();
      view.finalize();
    },
  };
}

/** A loader that fetches nothing: a chart has its data inline, whatever an untrusted notebook contains. */
const NOTHING: Loader = {
  load: () => Promise.reject(new Error('Charts cannot load resources.')),
  sanitize: () => Promise.reject(new Error('Charts cannot contain links.')),
  http: () => Promise.reject(new Error('Charts cannot load resources.')),
  file: () => Promise.reject(new Error('Charts cannot load resources.')),
};

function rowsOf(value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, text]) => [name, String(text)]);
}

/** Returns the menu that copies or saves the chart as an image; nothing leaves the browser. */
function menu(view: View, { description = 'chart' }: Spec): HTMLElement {
  const said = element('span', { role: 'status' });
  const save = async (kind: 'svg' | 'png'): Promise<void> => {
    const url = await view.toImageURL(kind, kind === 'png' ? 2 : 1);
    saveFile(`${fileName(description)}.${kind}`, url);
  };
  const copy = async (): Promise<void> => {
    const canvas = await view.toCanvas(2);
    said.textContent = await imageToClipboard(onPaper(canvas));
  };
  const list = element(
    'div',
    { class: 'apl-chart-choices' },
    button('Copy image', 'Copy the chart as an image to paste into a chat', () => void copy()),
    button('Save as SVG', 'Save as SVG', () => void save('svg')),
    button('Save as PNG', 'Save as PNG', () => void save('png')),
    said,
  );
  const label = 'Copy or save the chart';
  const node = element(
    'details',
    { class: 'apl-chart-menu' },
    element('summary', { 'aria-label': label, title: label }, '\u22ef'),
    list,
  );
  node.addEventListener('toggle', () => {
    if (node.open) said.textContent = '';
  });
  return closedLikeAMenu(node);
}

function fileName(description: string): string {
  const [name = ''] = description.split(';');
  return (
    name
      .replace(/[^\w-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || 'chart'
  );
}

/** Returns a chart on a white background, for which its colors are meant. */
function onPaper(chart: HTMLCanvasElement): HTMLCanvasElement {
  const { width, height } = chart;
  const paper = element('canvas', { width, height });
  const context = paper.getContext('2d');
  if (context === null) return chart;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.drawImage(chart, 0, 0);
  return paper;
}
