import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Creates certificates signed by a private CA, for hosts such as `DNS:api.invalid` or `IP:127.0.0.1`. */
export function certify(
  directory: string,
  hosts: string,
): { readonly ca: string; readonly key: Buffer; readonly cert: Buffer } {
  const at = (name: string) => join(directory, name);
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...fresh, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test');
  openssl('req', ...fresh, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=server');
  writeFileSync(at('names'), `subjectAltName=${hosts}\n`);
  openssl(
    ...['x509', '-req', '-in', 'request.pem', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
    ...['-days', '2', '-extfile', 'names', '-out', 'cert.pem'],
  );
  return { ca: at('ca.pem'), key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')) };
}

/** Returns false, and prints why, if certificates cannot be created; the tests that need them are skipped. */
export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' });
    return true;
  } catch {
    console.warn('No openssl here: the tests over TLS are left out.');
    return false;
  }
}
