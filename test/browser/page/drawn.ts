import type { Page } from 'playwright-core';

/** JavaScript of the page: returns the model of the outputs of the nth cell. */
export const outputsOf = (cell: number): string =>
  `jupyterapp.shell.currentWidget.content.widgets[${cell}].model.outputs`;

/** JavaScript of the page: counts the connections to results that the kernel has open. */
export const openResults = `jupyterapp.shell.currentWidget.sessionContext.session.kernel
  .requestCommInfo({ target_name: 'apl.results' })
  .then(({ content }) => Object.keys(content.comms).length)`;

/**
 * Replaces an output of a cell by two others, one right after the other, as a kernel that updates it does; resolves with a function that
 * shows the output again. `change` is JavaScript of the page that changes `output`, a copy of it, which is the output of `mime`.
 */
export async function drawTwice(
  page: Page,
  { cell, mime, first, second }: Record<'mime' | 'first' | 'second', string> & { readonly cell: number },
): Promise<() => Promise<void>> {
  const was = await page.evaluate<string>(`(() => {
    const outputs = ${outputsOf(cell)};
    const all = outputs.toJSON();
    const place = all.findIndex(({ data }) => data !== undefined && '${mime}' in data);
    const changed = change => {
      const output = structuredClone(all[place]);
      change(output);
      return output;
    };
    const [first, second] = [changed(output => {${first}}), changed(output => {${second}})];
    outputs.set(place, first);
    outputs.set(place, second);
    return JSON.stringify([place, all[place]]);
  })()`);
  return () => page.evaluate(`${outputsOf(cell)}.set(...${was})`);
}
