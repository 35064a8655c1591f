/**
 * A chart as a static image.
 */
import { createHash } from 'node:crypto';
import { escapeHtml, isolatedWords } from '../../../text.js';
import type { ChartModel } from '../model.js';
import { staticSpec } from './spec.js';

/** Loads Vega, which draws the charts. It is large, so the first chart loads it, not the start of the kernel. */
export async function loadVega(): Promise<typeof import('vega')> {
  const module = await import('vega');
  // It is a CommonJS module; in the bundle it has only a default export.
  return 'default' in module ? (module.default as typeof import('vega')) : module;
}

/** Returns an SVG of fixed width with a name and a description; the same chart gives the same bytes. */
export async function toSvg(chart: ChartModel, title: string, description: string): Promise<string> {
  const vega = await loadVega();
  const view = new vega.View(vega.parse(staticSpec(chart)), { renderer: 'none' });
  try {
    return accessible(rounded(await view.toSVG()), title, description);
  } finally {
    view.finalize();
  }
}

/** Changes the tags of an image, and no text between them: Vega escapes every `>` of a text and of an attribute. */
function inTags(svg: string, change: (tag: string) => string): string {
  return svg.replace(/<[^>]*>/g, change);
}

/** Rounds to tenths of a pixel, which is enough: thousandths would make up a fifth of the image. */
function rounded(drawn: string): string {
  return inTags(drawn, tag =>
    tag.replace(/ (?:d|transform)="[^"]*"/g, place =>
      place.replace(/-?\d+\.\d{2,}/g, number => String(Number(Number(number).toFixed(1)))),
    ),
  );
}

/** Adds a name and a description to an image that shrinks with its container; the ids are unique to the image within a page. */
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

/** Renumbers clips and gradients from 0 in each image; Vega numbers them across all images of a process. */
function renamed(svg: string, prefix: string): string {
  const names = new Map([...svg.matchAll(/<[^>]* id="(\w+)"/g)].map(([, name = ''], index) => [name, index]));
  const rename = (whole: string, before: string, name: string) => {
    const number = names.get(name);
    return number === undefined ? whole : `${before}${prefix}${number}`;
  };
  return inTags(svg, tag => tag.replace(/( id="|url\(#|href="#)(\w+)(?=["')])/g, rename));
}
