/** Facts about statuses that neither the service nor a gateway explains. */

/** Statuses after which a request that only reads may succeed: it timed out, or a gateway had no service to forward it to. */
export const passingStatuses: ReadonlySet<number> = new Set([
  408, 425, 502, 503, 504, 520, 521, 522, 523, 524, 529,
]);

const again = 'Run the cell again in a moment.';
const checkUrl = 'Check the URL of the profile {profile}: it should be the address of the API.';
const tooLong =
  'The request is too long for the proxy or gateway in front of the service: write a shorter query.';

/** Hints for requests refused with a status below 500. */
const refusedHints: Readonly<Record<number, string>> = {
  402: 'Ask an administrator of the organization about its plan and its payment.',
  405: checkUrl,
  406: checkUrl,
  407: 'A proxy responds instead of the service and asks for a sign-in: set HTTPS_PROXY to it, with a user and a password, and restart the kernel.',
  408: again,
  410: checkUrl,
  411: checkUrl,
  414: tooLong,
  415: checkUrl,
  421: checkUrl,
  425: again,
  426: checkUrl,
  429: again,
  431: tooLong,
  451: 'The service or the network is not available here for legal reasons: connect from another network, or ask the operator of the service.',
  494: tooLong,
};

/** Statuses that reveal nothing about an address, as the request did not get there. */
export const inTheWay: ReadonlySet<number> = new Set([407, 408, 425, 429, 451]);

/** Returns the hint for a status below 500. */
export function refusedHint(status: number, profile: string): string {
  const otherwise =
    'Check the query and the URL of the profile {profile}; if both are right, ask the operator of the service.';
  return (refusedHints[status] ?? otherwise).replace('{profile}', profile);
}

const noSecurity =
  'The gateway has no secure connection to the service: only the operator of the service can fix that.';

const tooSlow =
  'The service took longer than its gateway waits: narrow the time range or the query, or run the cell again in a moment.';

/** Hints for a gateway that responds in place of its service. */
const gatewayHints: Readonly<Record<number, string>> = {
  504: tooSlow,
  511: 'The network asks for a sign-in: open any page in a browser, sign in there, then run the cell again.',
  524: tooSlow,
  525: noSecurity,
  526: noSecurity,
  530: 'The gateway cannot find the service: check the URL of the profile, then ask the operator of the service.',
};

/** Returns the hint for a gateway's status of 500 or above. */
export function gatewayHint(status: number): string {
  return (
    gatewayHints[status] ?? 'The service does not respond to its gateway: run the cell again in a moment.'
  );
}

/** Hints for pages with such a status; any other page means that the address is not the API's. */
const pageHints: Readonly<Record<number, string>> = {
  401: 'It requires its own sign-in, like a company gateway: connect as the company requires (VPN, browser sign-in), then run the cell again.',
  403: 'A firewall or a bot check may be in the way: connect from an allowed network (VPN), or ask its operator to let the API through.',
};

/** Returns the hint for a page that refuses the request; undefined for a page at a wrong address. */
export function pageHint(status: number): string | undefined {
  return pageHints[status];
}
