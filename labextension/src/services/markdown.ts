import { markdownParts } from '../../../kernel/text.js';

/** Returns the Markdown of the language's own documentation as nodes: paragraphs, lists, code, headings. Other markup stays text. */
export function markdownNode(markdown: string): HTMLElement {
  const root = document.createElement('div');
  root.className = 'apl-doc';
  for (const block of blocksOf(markdown)) root.append(blockNode(block));
  return root;
}

/** Splits Markdown into blocks at blank lines; a fence keeps its blank lines. */
function blocksOf(markdown: string): readonly string[] {
  const blocks: string[] = [];
  let open: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (fence === undefined && line.trim() === '') {
      if (open.length > 0) blocks.push(open.join('\n'));
      open = [];
      continue;
    }
    const mark = /^`{3,}/.exec(line)?.[0];
    if (fence === undefined) fence = mark;
    else if (mark === fence) fence = undefined;
    open.push(line);
  }
  if (open.length > 0) blocks.push(open.join('\n'));
  return blocks;
}

function blockNode(block: string): HTMLElement {
  const fenced = /^(`{3,})\w*\n([\s\S]*?)\n?\1$/.exec(block);
  if (fenced !== null) return element('pre', [element('code', [fenced[2] ?? ''])]);
  if (/^ {4}/.test(block)) return element('pre', [element('code', [block.replace(/^ {4}/gm, '')])]);
  if (block === '---') return document.createElement('hr');
  const heading = /^#+ (.*)$/.exec(block);
  if (heading !== null) return element('strong', inline(heading[1] ?? ''));
  if (block.startsWith('- '))
    return element(
      'ul',
      block
        .split(/^- /m)
        .slice(1)
        .map(item => element('li', inline(item.trim()))),
    );
  return element('p', inline(block));
}

/** Returns a line of Markdown as nodes. Only code spans and line breaks become markup. */
export function inline(text: string): readonly (Node | string)[] {
  return [...markdownParts(text)].map(({ kind, text }) => {
    if (kind === 'break') return document.createElement('br');
    return kind === 'code' ? element('code', [text]) : text;
  });
}

function element(name: string, children: readonly (Node | string)[]): HTMLElement {
  const node = document.createElement(name);
  node.append(...children);
  return node;
}
