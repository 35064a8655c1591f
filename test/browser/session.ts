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
  /** What differs from a window of 1200 by 900 pixels. */
  readonly browser?: BrowserContextOptions;
  /** Switches of a Chromium of its own. */
  readonly switches?: readonly string[];
}

/** A server that a suite has for itself, and windows of its own in a browser. */
export interface Site {
  readonly lab: Lab;
  readonly context: BrowserContext;
  /**
   * Opens a file in the window that the suite keeps for this, in place of the file before it, whose text is lost unless it was saved.
   * What is about loading a page, or about settings that are read then, needs `openFile`.
   */
  open(file: string): Promise<LabPage>;
  /** Closes the windows and leaves the server to the next suite. */
  stop(): Promise<void>;
}

export interface SessionOptions extends SiteOptions {
  /** The notebook that is opened; its kernel answers when the session is there. */
  readonly file: string;
}

/** A site with a notebook open whose kernel answers. */
export interface Session extends Site, LabPage {}

/** Opens a front end in a browser; every cell of a notebook stays in its page, so that all outputs can be looked at. */
export async function openSite(frontEnd: FrontEnd, options: SiteOptions): Promise<Site> {
  const lab = await leaseLab(frontEnd, options);
  lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
  const own = options.switches && (await startBrowser(options.switches));
  const browser = own ?? (await sharedBrowser());
  // Without windows there is nobody to allow it.
  const permissions = ['clipboard-read', 'clipboard-write'];
  const context = await browser.newContext({
    viewport: { width: 1200, height: 900 },
    permissions,
    ...options.browser,
  });
  // A press waits for what is drawn, on a machine that is busy with other tests.
  context.setDefaultTimeout(120_000);
  const open = windowOf(context, lab, frontEnd);
  const stop = async () => {
    await context.close();
    await own?.close();
    await lab.release();
  };
  return { lab, context, open, stop };
}

/** Opens files one after the other in one page; Notebook 7 has a page for each. */
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
