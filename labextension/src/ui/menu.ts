/** Returns a `details` element that closes like a menu: by Escape, which returns to its summary, and by a press or focus elsewhere. */
export function closedLikeAMenu(node: HTMLDetailsElement): HTMLDetailsElement {
  const closeOutside = (event: Event): void => {
    if (!event.composedPath().includes(node)) node.open = false;
  };
  node.addEventListener('toggle', () => {
    const change = node.open ? 'addEventListener' : 'removeEventListener';
    for (const type of ['pointerdown', 'focusin']) document[change](type, closeOutside, true);
  });
  node.addEventListener('keydown', event => {
    if (event.key !== 'Escape' || !node.open) return;
    event.stopPropagation();
    node.open = false;
    node.querySelector('summary')?.focus();
  });
  return node;
}
