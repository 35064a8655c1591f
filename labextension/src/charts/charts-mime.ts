/** MIME type of the kernel's charts. */
export const VEGA_MIME = 'application/vnd.vega.v5+json';
