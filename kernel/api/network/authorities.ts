import { rootCertificates } from 'node:tls';
import { bytesOfSync } from '../../files.js';
import { AUTHORITIES_HANDED_ON, systemRefusal } from '../../machine.js';
import { TlsError } from '../api-errors.js';

/**
 * Returns the trusted certificate authorities in PEM: Node's and those in the file named by the first of these variables that is
 * set; undefined if none is set. Throws TlsError if the file cannot be read.
 */
export function authorities(
  variables: readonly string[] = [AUTHORITIES_HANDED_ON],
  env = process.env,
): string[] | undefined {
  const named = variables.find(name => env[name]);
  const file = named === undefined ? undefined : env[named];
  if (named === undefined || file === undefined) return undefined;
  try {
    return [...rootCertificates, bytesOfSync(file).toString()];
  } catch (cause) {
    const variable = named === AUTHORITIES_HANDED_ON ? 'NODE_EXTRA_CA_CERTS' : named;
    const why = systemRefusal(cause)?.reason ?? (cause as NodeJS.ErrnoException).code;
    throw new TlsError(`the authorities of ${variable} cannot be read (${why})`, {
      code: 'tls',
      hint: `Check that ${variable} names a file of certificates in PEM, and restart the local service.`,
      cause,
    });
  }
}
