import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Redirect target of a sign-in: an address of this machine on a free port, as in RFC 8252. */
export interface Loopback {
  readonly redirectUri: string;
  /** Passes redirects to `take` until it accepts one; `take` returns undefined for a redirect of another sign-in. */
  serve(take: (parameters: URLSearchParams) => Promise<boolean> | undefined): void;
  close(): void;
}

/** Listens on 127.0.0.1, on a port chosen by the system. */
export async function openLoopback(): Promise<Loopback> {
  let take: Parameters<Loopback['serve']>[0] = () => undefined;
  let taken: Promise<boolean> | undefined;
  const server = createServer((request, response) => {
    const parameters = answerIn(request, authority);
    const own = parameters === undefined ? undefined : (taken ?? take(parameters));
    taken ??= own;
    if (own === undefined) page(response, parameters === undefined ? 404 : 400, pages.foreign);
    else void own.then(isSignedIn => page(response, 200, isSignedIn ? pages.done : pages.failed));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectUri: `http://${authority}${PATH}`,
    serve: next => {
      take = next;
    },
    close: () => {
      server.close();
      // The page is on its way to the browser.
      setTimeout(() => server.closeAllConnections(), LAST_PAGE_MS).unref();
    },
  };
}

const PATH = '/callback';
const LAST_PAGE_MS = 2_000;

const pages = {
  done: 'Signed in. You can close this page and go back to the notebook.',
  failed: 'The sign-in failed. The notebook says why.',
  foreign: 'This is not a response to a pending sign-in.',
};

/** Returns the parameters of a redirect; undefined for any other request, such as one with another host name. */
function answerIn(request: IncomingMessage, authority: string): URLSearchParams | undefined {
  if (request.method !== 'GET' || request.headers.host !== authority) return undefined;
  const [path, query = ''] = (request.url ?? '').split('?', 2);
  return path === PATH ? new URLSearchParams(query) : undefined;
}

/** Writes a page that repeats, stores or forwards nothing from the request. */
function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>apl-kernel</title><p style="font:18px system-ui;margin:15vh auto;max-width:30em;padding:0 1em">${text}</p></html>`,
  );
}
