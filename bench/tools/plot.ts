import type { Spec } from 'vega';
import { loadVega } from '../../kernel/result/chart/draw/svg.js';

/** One measurement: a dot on the line of its series, in the panel of its name. */
export interface Point {
  readonly panel: string;
  readonly series: string;
  readonly x: number;
  readonly y: number;
}

const palette = [
  ...['#3b6fb6', '#c2571a', '#2e8b57', '#a8324a', '#6b4fa3', '#8a6d1d', '#1d8a8a', '#b0508f', '#4d5b6a'],
  ...['#7a9a01', '#d08a00', '#5a3d2b', '#111111', '#00a5c8', '#f08080'],
];

/** Returns panels side by side, both axes logarithmic, as SVG; a level line does not grow with `x`. */
export async function growthPlot(points: readonly Point[], xTitle: string, yTitle: string): Promise<string> {
  const vega = await loadVega();
  const view = new vega.View(vega.parse(growthSpec(points, xTitle, yTitle)), { renderer: 'none' });
  try {
    return `${titled(await view.toSVG(), `${yTitle} by ${xTitle}`)}\n`;
  } finally {
    view.finalize();
  }
}

/** Returns an image with a title, without the roles of its parts, and with short numbers. */
function titled(svg: string, title: string): string {
  return svg
    .replace(/ (?:role|aria-[a-z]+)="[^"]*"/g, '')
    .replace(/-?\d+\.\d{2,}/g, number => String(Number(Number(number).toFixed(1))))
    .replace(/^<svg [^>]*>/, opening => `${opening}<title>${title}</title>`);
}

function growthSpec(points: readonly Point[], xTitle: string, yTitle: string): Spec {
  return {
    ...{ background: 'white', padding: 12 },
    data: [{ name: 'points', values: [...points].sort((one, other) => one.x - other.x) }],
    layout: { columns: new Set(points.map(({ panel }) => panel)).size, padding: 24 },
    scales: [
      {
        name: 'color',
        type: 'ordinal',
        domain: { data: 'points', field: 'series' },
        range: palette,
      },
    ],
    legends: [
      { stroke: 'color', symbolType: 'stroke', symbolStrokeWidth: 3, labelFontSize: 12, labelLimit: 300 },
    ],
    marks: [
      {
        type: 'group',
        from: { facet: { name: 'panel', data: 'points', groupby: 'panel' } },
        title: { text: { signal: 'parent.panel' }, fontSize: 13 },
        encode: { update: { width: { value: 290 }, height: { value: 380 } } },
        signals: [
          { name: 'width', value: 290 },
          { name: 'height', value: 380 },
        ],
        scales: [
          { name: 'x', type: 'log', domain: { data: 'points', field: 'x' }, range: 'width', nice: true },
          { name: 'y', type: 'log', domain: { data: 'points', field: 'y' }, range: 'height', nice: true },
        ],
        axes: [
          { orient: 'bottom', scale: 'x', title: xTitle, format: '~g', tickCount: 4, grid: true },
          { orient: 'left', scale: 'y', title: yTitle, format: ',~g', tickCount: 6, grid: true },
        ],
        marks: [
          {
            type: 'group',
            from: { facet: { name: 'line', data: 'panel', groupby: 'series' } },
            marks: [lineOf('line'), dotsOf('line')],
          },
        ],
      },
    ],
  };
}

type Mark = NonNullable<Spec['marks']>[number];

const at = {
  x: { scale: 'x', field: 'x' },
  y: { scale: 'y', field: 'y' },
  stroke: { scale: 'color', field: 'series' },
} as const;

function lineOf(data: string): Mark {
  return { type: 'line', from: { data }, encode: { update: { ...at, strokeWidth: { value: 2 } } } };
}

function dotsOf(data: string): Mark {
  const fill = { scale: 'color', field: 'series' } as const;
  return { type: 'symbol', from: { data }, encode: { update: { ...at, fill, size: { value: 30 } } } };
}
