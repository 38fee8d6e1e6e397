import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needs } from './needs.ts';

export type TlsFiles = { certFile: string; keyFile: string; cert: string; key: string };

type TlsOptions = {
  /** The names that the certificate is for. Default: localhost and 127.0.0.1. */
  names?: string;
  isExpired?: boolean;
  /** Default: a key that is strong enough. */
  hasWeakKey?: boolean;
};

/** Writes a self-signed certificate and its key to a folder. */
export function makeTlsPair(folder: string, name: string, options: TlsOptions = {}): TlsFiles {
  needs('openssl');
  const { names = 'DNS:localhost,IP:127.0.0.1', isExpired = false, hasWeakKey = false } = options;
  const [certFile, keyFile] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const kind = hasWeakKey ? ['rsa:1024'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const key = ['-newkey', ...kind, '-noenc', '-keyout', keyFile];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', ['req', '-x509', ...key, '-out', certFile, '-days', '2', ...subject], { stdio: 'pipe' });
  if (isExpired) expire(folder, certFile, keyFile);
  return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

const AUTHORITY = `[ca]
default_ca = own
[own]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copyall
[any]
commonName = supplied
`;

/** Signs the certificate again for a day in the past, which `req` of OpenSSL 3.0 refuses to do. */
function expire(folder: string, certFile: string, keyFile: string): void {
  writeFileSync(join(folder, 'ca.conf'), AUTHORITY);
  writeFileSync(join(folder, 'index'), '');
  const times = ['-startdate', '20250101000000Z', '-enddate', '20250102000000Z'];
  const files = ['-ss_cert', certFile, '-cert', certFile, '-keyfile', keyFile, '-out', certFile];
  const args = ['ca', '-config', 'ca.conf', '-batch', '-notext', ...times, ...files];
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
}
