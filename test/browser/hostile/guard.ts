import type { Page } from 'playwright-core';
import type { Lab } from '../lab.js';

/** Watches a page that shows hostile texts. */
export interface Guard {
  /** Returns sentences about anything that ran, was fetched, navigated away or appeared out of place. */
  faults(): Promise<readonly string[]>;
}

/** Watches an open page from now on; only the notebook's own area may change its layout. */
export async function guard(page: Page, lab: Lab): Promise<Guard> {
  const seen: string[] = [];
  page.on('dialog', dialog => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', popup => seen.push(`page opened: ${popup.url()}`));
  page.on('frameattached', () => seen.push('frame added'));
  page.on('request', request => {
    const url = request.url();
    const isOwn = /^(?:data|blob):/.test(url) || url.startsWith(lab.url);
    if (!isOwn || /\/(?:x|evil)[^/]*$/.test(url)) seen.push(`fetched: ${url}`);
  });
  await page.evaluate(remember);
  return { faults: async () => [...seen, ...(await page.evaluate<readonly string[]>(look))] };
}

/** Page regions around the notebook and the panel. */
const chrome = `() => Object.fromEntries(
  ['#jp-top-panel', '#jp-bottom-panel', '.jp-SideBar.jp-mod-left', '#jp-main-content-panel', '.jp-NotebookPanel-toolbar']
    .flatMap(name => [...document.querySelectorAll(name)].filter(each => each.checkVisibility()).slice(0, 1).map(each => {
      const { top, height } = each.getBoundingClientRect();
      return [name, Math.round(top) + ' ' + Math.round(height)];
    })))`;

const remember = `void (window.guarded = { boxes: (${chrome})() })`;

/** Page regions that show hostile texts. */
const parts =
  '.jp-OutputArea-output, .apl-panel, .apl-popover, .apl-toolbar-item, .jp-cell-toolbar, .jp-Dialog-content, .cm-tooltip, .jp-RenderedMarkdown';

/** Elements that JupyterLab creates from text: links for the addresses in an error, and images that cannot run scripts. */
const own = '.jp-RenderedText a, .jp-RenderedSVG img[src^="data:image/svg+xml,"]';

/** Elements that neither the extension nor JupyterLab creates in these regions. */
const foreign =
  'script, iframe, frame, frameset, object, embed, base, meta, link, marquee, video, audio, source, h1, img, math, template, noscript, plaintext, xmp, dialog, textarea, [popover], animate, foreignObject, [onerror], [onload], [onfocus], [onclick], [onmouseover], [ontoggle], [href^="javascript" i], [href*="evil.invalid"], [src*="evil.invalid"]';

/** Finds anything that ran or is out of place. */
const look = `(() => {
  if (window.guarded === undefined) return ['the page was left'];
  const found = [];
  if ('pwned' in window || 'pwned' in {}) found.push('a text ran');
  if (window.length > 0) found.push('a frame is there');
  const { boxes } = window.guarded;
  const now = (${chrome})();
  for (const [name, box] of Object.entries(boxes)) if (now[name] !== box) found.push(name + ' was at ' + box + ', is at ' + now[name]);
  for (const each of [document.documentElement, document.body])
    if (each.scrollWidth > innerWidth || each.scrollLeft > 0 || each.scrollTop > 0) found.push('the page is scrolled, or wider than the window');
  const describe = node => node.nodeName.toLowerCase() + '.' + node.className + ': ' + node.textContent.slice(0, 60);
  const cells = [...document.querySelectorAll('.jp-Notebook .jp-Cell')].map(cell => [cell, cell.getBoundingClientRect()]);
  for (const [cell, { left, width }] of cells)
    if (Math.abs(left - cells[0][1].left) > 1 || Math.abs(width - cells[0][1].width) > 1) found.push('a cell is at another place: ' + describe(cell));
  for (const part of document.querySelectorAll('${parts}')) {
    if (!part.checkVisibility()) continue;
    const isOwn = each => each.matches(${JSON.stringify(own)}) && (each.getAttribute('href') ?? '').endsWith(each.textContent);
    const strange = [...part.querySelectorAll(${JSON.stringify(foreign)})].find(each => !isOwn(each));
    if (strange !== undefined) found.push('element of a stranger: ' + strange.outerHTML.slice(0, 200));
    const box = part.getBoundingClientRect();
    const floats = part.matches('.apl-popover, .jp-Dialog-content, .cm-tooltip');
    if (floats && (box.left < -1 || box.right > innerWidth + 1 || box.top < -1 || box.bottom > innerHeight + 1))
      found.push('beyond the window: ' + describe(part));
    const clip = getComputedStyle(part).overflowX !== 'visible';
    if (clip) continue;
    const walk = (node, right, left) => {
      for (const child of node.children) {
        const style = getComputedStyle(child);
        if (style.display === 'none' || style.visibility === 'hidden' || child.matches('${parts}')) continue;
        if (style.position === 'fixed') found.push('over the page: ' + describe(child));
        const { left: l, right: r, width, height } = child.getBoundingClientRect();
        if (width > 0 && height > 0 && (Math.min(r, right) > box.right + 1 || Math.max(l, left) < box.left - 1)) {
          found.push('beyond its ' + part.className + ': ' + describe(child));
          continue;
        }
        const clips = style.overflowX !== 'visible' || style.contain.includes('paint') || style.contain === 'strict';
        walk(child, clips ? Math.min(r, right) : right, clips ? Math.max(l, left) : left);
      }
    };
    walk(part, Infinity, -Infinity);
  }
  return [...new Set(found)];
})()`;
