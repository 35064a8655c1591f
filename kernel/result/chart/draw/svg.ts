/**
 * A chart as a static image.
 */
import { createHash } from 'node:crypto';
import { escapeHtml, isolatedWords } from '../../../text.js';
import type { ChartModel } from '../model.js';
import { staticSpec } from './spec.js';

/** Returns Vega, which draws. It is large: the first chart loads it, not the start of the kernel. */
export async function loadVega(): Promise<typeof import('vega')> {
  const module = await import('vega');
  // It is of the older kind of modules, of which a bundle has the default alone.
  return 'default' in module ? (module.default as typeof import('vega')) : module;
}

/** Returns an SVG of fixed width with a name and a description, the same bytes for the same chart. */
export async function toSvg(chart: ChartModel, title: string, description: string): Promise<string> {
  const vega = await loadVega();
  const view = new vega.View(vega.parse(staticSpec(chart)), { renderer: 'none' });
  try {
    return accessible(rounded(await view.toSVG()), title, description);
  } finally {
    view.finalize();
  }
}

/** Tenths of a pixel are enough, and thousandths would make up a fifth of the image. */
function rounded(drawn: string): string {
  return drawn.replace(/ (?:d|transform)="[^"]*"/g, place =>
    place.replace(/-?\d+\.\d{2,}/g, number => String(Number(Number(number).toFixed(1)))),
  );
}

/** An image with a name and a description, which shrinks with its container; no other image of a page has the names of its parts. */
function accessible(drawn: string, title: string, description: string): string {
  const hash = createHash('sha256').update(renamed(drawn, '')).update(description).digest('hex');
  const id = `apl-${hash.slice(0, 10)}`;
  const attributes = `role="img" aria-labelledby="${id}-t ${id}-d" style="max-width:100%;height:auto"`;
  const words = `<title id="${id}-t">${wordsOf(title)}</title><desc id="${id}-d">${wordsOf(description)}</desc>`;
  return renamed(drawn, `${id}-`).replace(
    /^<svg([^>]*)>/,
    (_, rest: string) => `<svg ${attributes}${rest}>${words}`,
  );
}

function wordsOf(text: string): string {
  return isolatedWords(escapeHtml(text));
}

/** Vega numbers clips and gradients through all images of a process: here they are counted from 0 in each. */
function renamed(svg: string, prefix: string): string {
  const names = new Map([...svg.matchAll(/ id="(\w+)"/g)].map(([, name = ''], index) => [name, index]));
  return svg.replace(/( id="|url\(#|href="#)(\w+)(?=["')])/g, (whole, before: string, name: string) => {
    const number = names.get(name);
    return number === undefined ? whole : `${before}${prefix}${number}`;
  });
}
