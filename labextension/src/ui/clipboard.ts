/** Copies text to the clipboard; also on pages not loaded over HTTPS, for which browsers only offer the older API. */
export async function toClipboard(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/**
 * Copies an image to the clipboard; returns the outcome in a sentence. Browsers allow it on pages loaded over HTTPS or from this machine.
 */
export async function imageToClipboard(canvas: HTMLCanvasElement): Promise<string> {
  if (!window.isSecureContext || typeof ClipboardItem === 'undefined')
    return 'Browsers copy images only from HTTPS pages. Save the image instead.';
  const image = new Promise<Blob>((resolve, reject) =>
    canvas.toBlob(blob => (blob === null ? reject(new Error('no image')) : resolve(blob)), 'image/png'),
  );
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': image })]);
    return 'Copied.';
  } catch {
    return 'The browser refused to copy the image. Save it instead.';
  }
}
