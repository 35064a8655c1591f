import { element } from './dom.js';

/** Makes the browser save a file. */
export function saveFile(name: string, content: Blob | string): void {
  const href = typeof content === 'string' ? content : URL.createObjectURL(content);
  element('a', { href, download: name }).click();
  // The browser reads it after the click has returned.
  if (typeof content !== 'string') setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
