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

export interface SiteOptions extends Omit<LabOptions, 'venv'> {
  /** What differs from a window of 1200 by 900 pixels. */
  readonly browser?: BrowserContextOptions;
  /** Switches of Chromium. */
  readonly switches?: readonly string[];
}

/** A server and a browser of a suite's own. */
export interface Site {
  readonly lab: Lab;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** Ends the browser and the server. */
  stop(): Promise<void>;
}

export interface SessionOptions extends SiteOptions {
  /** The notebook that is opened; its kernel answers when the session is there. */
  readonly file: string;
}

/** A site with a notebook open whose kernel answers. */
export interface Session extends Site, LabPage {}

/** Starts a front end and a browser; every cell of a notebook stays in its page, so that all outputs can be looked at. */
export async function openSite(frontEnd: FrontEnd, options: SiteOptions): Promise<Site> {
  const browser = await startBrowser(options.switches);
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options.browser });
  const lab = await startLab({ ...options, venv: venvPath(frontEnd) });
  lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
  const stop = async () => {
    await browser.close();
    await lab.stop();
  };
  return { lab, browser, context, stop };
}

/** Opens a notebook in a site of its own. */
export async function openSession(frontEnd: FrontEnd, options: SessionOptions): Promise<Session> {
  const site = await openSite(frontEnd, options);
  try {
    const opened = await openFile(site.context, site.lab, options.file, frontEnd.app);
    await kernelReady(opened.page);
    return { ...site, ...opened };
  } catch (error) {
    await site.stop();
    throw error;
  }
}
