/** Services and their calls as a map: SVG, and text for terminals. */
import {
  cut,
  escapeHtml,
  formatCount,
  isolated,
  plural,
  visible,
  visibleAgain,
  withoutTokens,
} from '../../text.js';
import { TEXT_COLOR } from '../chart/draw/draw-style.js';
import { looksFor } from '../chart/palette.js';
import { percent } from '../spotlight.js';

/** A service and its traffic. */
export interface Service {
  readonly name: string;
  readonly figures: Figures;
}

/** Calls from one service to another; from outside if there is no caller. */
export interface Calls {
  readonly caller: string | undefined;
  readonly service: string;
  readonly figures: Figures;
}

/** Requests, the share that failed (0 to 1), requests per second, and formatted durations. */
export interface Figures {
  readonly calls: number;
  readonly failed: number;
  readonly rate: number;
  readonly p50: string;
  readonly p95: string;
}

/** Maximum number of services drawn, those with the most requests. */
const DRAWN = 40;
const [WIDTH, HEIGHT] = [156, 58];
/** Gaps between columns, and between the services in one. */
const [ACROSS, DOWN] = [60, 18];
const MARGIN = 12;
/** Share of failures from which calls are drawn as failing. */
const FAILING = 0.01;
const RED = '#d5443a';
const LONGEST_NAME = 24;

interface Placed {
  readonly service: Service;
  readonly column: number;
  readonly x: number;
  readonly y: number;
}

/** Returns the sentences above a map. */
export function mapSentences(services: readonly Service[], calls: readonly Calls[]): readonly string[] {
  const between = calls.filter(({ caller }) => caller !== undefined).length;
  const failing = services.filter(({ figures }) => figures.failed >= FAILING).length;
  return [
    `${plural(services.length, 'service')} and ${plural(between, 'call path')} between them${failing === 0 ? '' : `; ${plural(failing, 'service')} with ${percent(FAILING)} or more failed requests, in red`}.`,
    ...(services.length > DRAWN
      ? [`The ${DRAWN} services with the most requests are drawn; the table below has all calls.`]
      : []),
  ];
}

/** Returns the map as SVG: callers left of the services they call, wider lines for more requests, red for failures. */
export function mapSvg(title: string, all: readonly Service[], calls: readonly Calls[]): string {
  const services = all.toSorted((a, b) => b.figures.calls - a.figures.calls).slice(0, DRAWN);
  const names = new Set(services.map(({ name }) => name));
  const between = calls.filter(
    ({ caller, service }) => caller !== undefined && names.has(caller) && names.has(service),
  );
  const entries = calls.filter(({ caller, service }) => caller === undefined && names.has(service));
  const columns = columnsOf(services, between);
  const tallest = Math.max(1, ...columns.map(column => column.length));
  const height = tallest * (HEIGHT + DOWN) - DOWN;
  const placed = new Map<string, Placed>();
  for (const [at, column] of columns.entries()) {
    const top = (height - (column.length * (HEIGHT + DOWN) - DOWN)) / 2;
    for (const [row, service] of column.entries())
      placed.set(service.name, {
        service,
        column: at,
        x: MARGIN + ACROSS / 2 + at * (WIDTH + ACROSS),
        y: MARGIN + top + row * (HEIGHT + DOWN),
      });
  }
  const gaps = columns.map(column => column.map(({ name }) => (placed.get(name)?.y ?? 0) - DOWN / 2));
  for (const column of gaps) column.push((column.at(-1) ?? 0) + HEIGHT + DOWN);
  const most = Math.max(1, ...calls.map(({ figures }) => figures.calls));
  const looks = looksFor(
    services.map(({ name }) => [name]),
    { areSurfaces: true },
  );
  const lines = [...entries, ...between].map(each => lineOf(each, placed, gaps, most)).join('');
  const boxes = services
    .map(({ name }, at) => boxOf(placed.get(name), looks[at]?.color ?? TEXT_COLOR))
    .join('');
  const width = columns.length * (WIDTH + ACROSS) - ACROSS / 2 + 2 * MARGIN;
  const lowest = Math.max(height + MARGIN, ...between.map(call => endBelow(call, placed))) + MARGIN;
  const size = `width="${width}" height="${lowest}" viewBox="0 0 ${width} ${lowest}"`;
  const heads = [TEXT_COLOR, RED].map(
    (color, at) =>
      `<marker id="apl-map-head-${at}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="${color}"/></marker>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${words(title, 200)}" font-family="sans-serif" font-size="11"><defs>${heads.join('')}</defs>${lines}${boxes}</svg>`;
}

/** Returns the map as HTML: the image with a text alternative; on a screen it keeps its size and scrolls. */
export function mapHtml(title: string, services: readonly Service[], calls: readonly Calls[]): string {
  const name = words(title, 200);
  const alt = shown(mapText(title, services, calls));
  const image = Buffer.from(mapSvg(title, services, calls)).toString('base64');
  return `<div class="apl-map"><style>${MAP_STYLE}</style><div role="region" aria-label="${name}" tabindex="0" style="overflow-x:auto"><img alt="${alt}" src="data:image/svg+xml;base64,${image}"></div></div>`;
}

const MAP_STYLE = 'div.apl-map img{max-width:none}@media print{div.apl-map img{max-width:100%}}';

/** Returns the services in columns, each to the right of all its callers except those in a cycle. */
function columnsOf(services: readonly Service[], between: readonly Calls[]): readonly (readonly Service[])[] {
  const callers = new Map<string, readonly string[]>();
  for (const { caller = '', service } of between)
    callers.set(service, [...(callers.get(service) ?? []), caller]);
  const depths = new Map<string, number>();
  const open = new Set<string>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    open.add(name);
    const before = (callers.get(name) ?? []).filter(each => !open.has(each)).map(depthOf);
    open.delete(name);
    const depth = Math.max(-1, ...before) + 1;
    depths.set(name, depth);
    return depth;
  };
  const columns: Service[][] = [];
  for (const service of services) {
    const depth = depthOf(service.name);
    while (columns.length <= depth) columns.push([]);
    columns[depth]?.push(service);
  }
  const filled = columns.filter(column => column.length > 0);
  const rows = new Map<string, number>();
  return filled.map(column => {
    const near = (name: string): number => {
      const found = (callers.get(name) ?? []).flatMap(each => rows.get(each) ?? []);
      return found.length === 0 ? 0 : found.reduce((sum, row) => sum + row, 0) / found.length;
    };
    const sorted = column.toSorted((a, b) => near(a.name) - near(b.name));
    for (const [row, { name }] of sorted.entries()) rows.set(name, (row + 0.5) / sorted.length);
    return sorted;
  });
}

function boxOf(placed: Placed | undefined, color: string): string {
  if (placed === undefined) return '';
  const { service, x, y } = placed;
  const { figures } = service;
  const isFailing = figures.failed >= FAILING;
  const line = (text: string, at: number, more: string) =>
    `<text x="${x + 12}" y="${y + at}" ${more}>${words(text, 60)}</text>`;
  const failed = figures.failed === 0 ? '' : ` \u00b7 ${percent(figures.failed)} failed`;
  return `<g><title>${shown(`${nameOf(service.name)}: ${formatCount(figures.calls)} requests`)}</title><rect x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="4" fill="none" stroke="${isFailing ? RED : TEXT_COLOR}" stroke-width="${isFailing ? 2 : 1}"/><rect x="${x}" y="${y}" width="5" height="${HEIGHT}" fill="${color}"/>${line(cut(visible(service.name), LONGEST_NAME), 18, `font-size="12" font-weight="600" fill="${TEXT_COLOR}"`)}${line(`${rateText(figures.rate)}${failed}`, 34, `fill="${isFailing ? RED : TEXT_COLOR}"`)}${line(`p50 ${figures.p50} \u00b7 p95 ${figures.p95}`, 49, `fill="${TEXT_COLOR}"`)}</g>`;
}

/** Returns a call as a line: short from outside, around below if it goes back to a caller, otherwise between the services. */
function lineOf(
  { caller, service, figures }: Calls,
  placed: ReadonlyMap<string, Placed>,
  gaps: readonly (readonly number[])[],
  most: number,
): string {
  const to = placed.get(service);
  const from = caller === undefined ? undefined : placed.get(caller);
  if (to === undefined) return '';
  const isFailing = figures.failed >= FAILING;
  const wide = (1 + 4 * Math.sqrt(figures.calls / most)).toFixed(1);
  const [x, y] = [to.x - 2, to.y + HEIGHT / 2];
  const path =
    from === undefined
      ? `M${to.x - ACROSS / 2} ${y}H${x}`
      : `M${from.x + WIDTH} ${from.y + HEIGHT / 2}${to.column > from.column ? onward(from, to, gaps) : backward(from, to)}`;
  const ends = `${caller === undefined ? 'from outside' : nameOf(caller)} \u2192 ${nameOf(service)}`;
  const title = `${ends}: ${formatCount(figures.calls)} requests, ${rateText(figures.rate)}, ${percent(figures.failed)} failed, p95 ${figures.p95}`;
  return `<path d="${path}" fill="none" stroke="${isFailing ? RED : TEXT_COLOR}" stroke-width="${wide}" stroke-opacity="0.7" marker-end="url(#apl-map-head-${isFailing ? 1 : 0})"><title>${shown(title)}</title></path>`;
}

/** Returns a path to a column further right, through the gaps nearest to the straight line. */
function onward(from: Placed, to: Placed, gaps: readonly (readonly number[])[]): string {
  const [start, end] = [from.y, to.y].map(each => each + HEIGHT / 2) as [number, number];
  let [at, y] = [from.x + WIDTH, start];
  let path = '';
  const curve = (x: number, next: number) => {
    path += `C${(at + x) / 2} ${y} ${(at + x) / 2} ${next} ${x} ${next}`;
    [at, y] = [x, next];
  };
  for (let column = from.column + 1; column < to.column; column += 1) {
    const straight = start + ((end - start) * (column - from.column)) / (to.column - from.column);
    const near = (gaps[column] ?? []).reduce((best, gap) =>
      Math.abs(gap - straight) < Math.abs(best - straight) ? gap : best,
    );
    const left = from.x + (column - from.column) * (WIDTH + ACROSS);
    curve(left, near);
    path += `H${left + WIDTH}`;
    at = left + WIDTH;
  }
  curve(to.x - 2, end);
  return path;
}

/** Returns the lowest point of a call drawn back to a caller: its curve goes three quarters of the way to its control points. */
function endBelow({ caller = '', service }: Calls, placed: ReadonlyMap<string, Placed>): number {
  const [from, to] = [placed.get(caller), placed.get(service)];
  if (from === undefined || to === undefined || to.column > from.column) return 0;
  const start = Math.max(from.y, to.y) + HEIGHT / 2;
  return start + 0.75 * (lowOf(from, to) - start);
}

function lowOf(from: Placed, to: Placed): number {
  return Math.max(from.y, to.y) + 2 * HEIGHT;
}

function backward(from: Placed, to: Placed): string {
  const low = lowOf(from, to);
  return `C${from.x + WIDTH + ACROSS} ${low} ${to.x - ACROSS} ${low} ${to.x - 2} ${to.y + HEIGHT / 2}`;
}

/** Returns the map as text: a line for each service, with the services it calls. */
export function mapText(title: string, services: readonly Service[], calls: readonly Calls[]): string {
  const lines = services.slice(0, DRAWN).map(({ name, figures }) => {
    const called = calls.filter(({ caller }) => caller === name).map(({ service }) => nameOf(service));
    const failed = figures.failed === 0 ? '' : `, ${percent(figures.failed)} failed`;
    return `${nameOf(name)}: ${rateText(figures.rate)}${failed}, p95 ${figures.p95}${called.length === 0 ? '' : ` \u2192 ${called.join(', ')}`}`;
  });
  return [visible(withoutTokens(title)), ...mapSentences(services, calls), '', ...lines].join('\n');
}

/** Maximum length of a name in a sentence. */
const LONGEST_WORDS = 120;

/** Returns the name of a service for a sentence, ready for display: a right-to-left name does not reverse what calls what. */
function nameOf(name: string): string {
  return isolated(visible(cut(withoutTokens(name), LONGEST_WORDS)));
}

/** Returns a sentence of such names as the text of an SVG element. */
function shown(sentence: string): string {
  return visibleAgain(sentence, undefined, escapeHtml);
}

function rateText(rate: number): string {
  return rate >= 1 || rate === 0
    ? `${Number(rate.toPrecision(3))}/s`
    : `${Number((rate * 60).toPrecision(3))}/min`;
}

function words(text: string, limit: number): string {
  return escapeHtml(visible(cut(withoutTokens(text), limit)));
}
