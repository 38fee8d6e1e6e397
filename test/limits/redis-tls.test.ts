import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { freePort } from '../servers/child.ts';
import { startRedis } from '../servers/redis.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { makeTlsPair, type TlsFiles } from '../tls-pair.ts';
import { temporaryLink } from './temporary-redis-counters.ts';

const OTHER_HOST = /^Redis has a TLS certificate for another host name: check the URL$/;

test('with rediss only a right certificate of Redis is accepted, by name and by address', async (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const ofName = makeTlsPair(folder, 'name', { names: 'DNS:localhost' });
  const ofAddress = makeTlsPair(folder, 'address', { names: 'IP:127.0.0.1' });
  const ofOther = makeTlsPair(folder, 'other', { names: 'DNS:redis.example,IP:192.0.2.1' });
  const expired = makeTlsPair(folder, 'expired', { isExpired: true });
  const unknown = makeTlsPair(folder, 'unknown');
  const authorities = getCACertificates();
  t.after(() => setDefaultCACertificates(authorities));
  setDefaultCACertificates([ofName, ofAddress, ofOther, expired].map(({ cert }) => cert));

  const CASES: [TlsFiles, host: string, outcome: RegExp][] = [
    [ofName, 'localhost', /^accepted$/],
    [ofName, '127.0.0.1', OTHER_HOST],
    [ofAddress, '127.0.0.1', /^accepted$/],
    [ofAddress, 'localhost', OTHER_HOST],
    [ofOther, 'localhost', OTHER_HOST],
    [ofOther, '127.0.0.1', OTHER_HOST],
    [expired, 'localhost', /^Redis has an expired TLS certificate: .* renew it$/],
    [unknown, 'localhost', /^Redis has a TLS certificate that is not trusted here: .*NODE_EXTRA_CA_CERTS$/],
  ];
  for (const [files, host, outcome] of CASES) {
    const port = await startTlsRedis(t, files);
    assert.match(await outcomeOf(t, `rediss://${host}:${port}`), outcome, `${files.certFile} ${host}`);
  }
});

async function startTlsRedis(t: TestContext, { certFile, keyFile }: TlsFiles): Promise<number> {
  const port = await freePort();
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile];
  const redis = await startRedis({ args: ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files] });
  t.after(() => redis.stop('SIGKILL'));
  return port;
}

async function outcomeOf(t: TestContext, url: string): Promise<string> {
  const link = await temporaryLink(t, { url });
  let outcome = link.isUp() ? 'accepted' : '';
  link.watch({
    onDown: (reason) => {
      outcome = reason;
    },
  });
  await link.close();
  return outcome;
}
