import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import {
  type FrontEnd,
  kernelReady,
  type Lab,
  type LabOptions,
  type LabPage,
  openFile,
  startBrowser,
  startLab,
  venvPath,
} from './lab.js';

export interface SessionOptions extends Omit<LabOptions, 'venv'> {
  /** The notebook that is opened; its kernel answers when the session is there. */
  readonly file: string;
  /** What differs from a window of 1200 by 900 pixels. */
  readonly browser?: BrowserContextOptions;
}

/** A server and a browser of a suite's own, with a notebook open whose kernel answers. */
export interface Session extends LabPage {
  readonly lab: Lab;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** Ends the browser and the server. */
  stop(): Promise<void>;
}

/** Opens a notebook in a front end; every cell stays in the page, so that all outputs can be looked at. */
export async function openSession(frontEnd: FrontEnd, options: SessionOptions): Promise<Session> {
  const browser = await startBrowser();
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options.browser });
  const lab = await startLab({ ...options, venv: venvPath(frontEnd) });
  lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
  const stop = async () => {
    await browser.close();
    await lab.stop();
  };
  try {
    const opened = await openFile(context, lab, options.file, frontEnd.app);
    await kernelReady(opened.page);
    return { ...opened, lab, browser, context, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
