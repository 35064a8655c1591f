import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import {
  type FrontEnd,
  kernelReady,
  type Lab,
  type LabOptions,
  type LabPage,
  leaseLab,
  openFile,
  replaceFile,
  sharedBrowser,
  startBrowser,
} from './lab.js';

export interface SiteOptions extends LabOptions {
  /** Options that differ from a window of 1200 by 900 pixels. */
  readonly browser?: BrowserContextOptions;
  /** Switches of a dedicated Chromium. */
  readonly switches?: readonly string[];
}

/** A server for the exclusive use of a suite, with its own windows in a browser. */
export interface Site {
  readonly lab: Lab;
  readonly context: BrowserContext;
  /**
   * Opens a file in the suite's reusable window, replacing the previous file and its unsaved changes. Tests of page loading, or of settings
   * that are read then, need `openFile`.
   */
  open(file: string): Promise<LabPage>;
  /** Closes the windows and releases the server to the next suite. */
  stop(): Promise<void>;
}

export interface SessionOptions extends SiteOptions {
  /** The notebook to open; its kernel answers once the session exists. */
  readonly file: string;
}

/** A site with an open notebook whose kernel answers. */
export interface Session extends Site, LabPage {}

/** Opens a front end in a browser; every cell of a notebook stays in its page, so that all outputs can be inspected. */
export async function openSite(frontEnd: FrontEnd, options: SiteOptions): Promise<Site> {
  const lab = await leaseLab(frontEnd, options);
  lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
  const own = options.switches && (await startBrowser(options.switches));
  const browser = own ?? (await sharedBrowser());
  // A headless browser cannot ask for permission.
  const permissions = ['clipboard-read', 'clipboard-write'];
  const context = await browser.newContext({
    viewport: { width: 1200, height: 900 },
    permissions,
    ...options.browser,
  });
  // A click waits for rendering, on a machine busy with other tests.
  context.setDefaultTimeout(120_000);
  const open = windowOf(context, lab, frontEnd);
  const stop = async () => {
    await context.close();
    await own?.close();
    await lab.release();
  };
  return { lab, context, open, stop };
}

/** Opens files one after the other in one page; Notebook 7 uses a page for each. */
function windowOf(context: BrowserContext, lab: Lab, { app }: FrontEnd): Site['open'] {
  let opened: LabPage | undefined;
  return async file => {
    if (opened !== undefined && app === 'lab/tree') {
      await replaceFile(opened.page, file);
    } else {
      await opened?.close();
      opened = await openFile(context, lab, file, app);
    }
    return opened;
  };
}

/** Opens a notebook in a site of its own. */
export async function openSession(frontEnd: FrontEnd, options: SessionOptions): Promise<Session> {
  const site = await openSite(frontEnd, options);
  try {
    const opened = await site.open(options.file);
    await kernelReady(opened.page);
    return { ...site, ...opened };
  } catch (error) {
    await site.stop();
    throw error;
  }
}
