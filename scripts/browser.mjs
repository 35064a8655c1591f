import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Headless builds of Chromium need a quarter less CPU for a page of JupyterLab. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

/** Returns the path of the browser at CHROMIUM_PATH or on the PATH; if there is none, throws with instructions. */
export function browserPath() {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  const paths = names.flatMap(name => PATH.split(delimiter).map(directory => join(directory, name)));
  const found = (CHROMIUM_PATH === undefined ? paths : [CHROMIUM_PATH]).find(existsSync);
  if (found !== undefined) return found;
  const where = CHROMIUM_PATH ?? 'the PATH';
  throw new Error(
    `There is no Chromium at ${where}: install chromium-headless-shell or chromium, or set CHROMIUM_PATH to its executable.`,
  );
}
