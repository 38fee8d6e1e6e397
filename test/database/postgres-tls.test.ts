import assert from 'node:assert/strict';
import { chmodSync, chownSync } from 'node:fs';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { urlwarden } from '../cli/urlwarden.ts';
import { NOBODY, runPostgres, startPostgres } from '../servers/postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { makeTlsPair } from '../tls-pair.ts';

const OTHER_HOST = /^PostgreSQL has a TLS certificate for another host name: check the URL$/;

test('with verify-full only a right certificate of PostgreSQL is accepted, by name and by address', async (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const pairs = {
    ofName: makeTlsPair(folder, 'name', { names: 'DNS:localhost' }),
    ofAddress: makeTlsPair(folder, 'address', { names: 'IP:127.0.0.1' }),
    ofOther: makeTlsPair(folder, 'other', { names: 'DNS:db.example,IP:192.0.2.1' }),
    expired: makeTlsPair(folder, 'expired', { isExpired: true }),
    unknown: makeTlsPair(folder, 'unknown'),
  };
  const { ofName, ofAddress, ofOther, expired, unknown } = pairs;
  for (const { keyFile } of Object.values(pairs)) if (NOBODY.uid) chownSync(keyFile, NOBODY.uid, NOBODY.gid);
  const authorities = getCACertificates();
  t.after(() => setDefaultCACertificates(authorities));
  setDefaultCACertificates([ofName, ofAddress, ofOther, expired].map(({ cert }) => cert));
  const outcome = async (port: number, hosts: string, mode = 'verify-full') => {
    const at = hosts.split(',').map((host) => `${host}:${port}`);
    const url = `postgres://postgres@${at}/postgres?sslmode=${mode}`;
    try {
      const store = await openPostgresIntelligence({ url, readUrls: [], connections: 1 });
      await store.close();
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const first = await startPostgres();
  t.after(() => first.remove());
  for (const mode of ['verify-full', 'require']) {
    assert.match(await outcome(first.port, 'localhost', mode), /if it has no TLS, remove sslmode from its URL$/);
  }
  await first.stop();
  const withServer = async ({ certFile, keyFile }: typeof ofName, use: (port: number) => Promise<void>) => {
    const files = { ssl_cert_file: certFile, ssl_key_file: keyFile };
    const server = await runPostgres(first.dataDir, { ssl: 'on', ...files });
    try {
      await use(server.port);
    } finally {
      await server.stop('SIGQUIT');
    }
  };

  await withServer(ofName, async (port) => {
    assert.equal(await outcome(port, 'localhost'), 'accepted');
    assert.match(await outcome(port, '127.0.0.1'), OTHER_HOST);
    assert.equal(await outcome(port, '127.0.0.1,localhost'), 'accepted', 'the other host is used');
    process.env.NODE_EXTRA_CA_CERTS = ofName.certFile;
    t.after(() => delete process.env.NODE_EXTRA_CA_CERTS);
    const data = ['--database-url', `postgres://postgres@localhost:${port}/postgres?sslmode=verify-full`];
    assert.equal((await urlwarden(['account', 'list', ...data])).code, 0);
  });
  await withServer(ofAddress, async (port) => {
    assert.equal(await outcome(port, '127.0.0.1'), 'accepted');
    assert.match(await outcome(port, 'localhost'), OTHER_HOST);
  });
  await withServer(ofOther, async (port) => {
    for (const hosts of ['localhost', '127.0.0.1', 'localhost,127.0.0.1']) {
      assert.match(await outcome(port, hosts), OTHER_HOST, hosts);
    }
    assert.equal(await outcome(port, 'localhost', 'require'), 'accepted');
  });
  await withServer(expired, async (port) => {
    assert.match(await outcome(port, 'localhost'), /^PostgreSQL has an expired TLS certificate: .* renew it$/);
  });
  await withServer(unknown, async (port) => {
    const refused = /^PostgreSQL has a TLS certificate that is not trusted here: .*NODE_EXTRA_CA_CERTS$/;
    for (const hosts of ['localhost', '127.0.0.1', 'localhost,127.0.0.1']) {
      assert.match(await outcome(port, hosts), refused, hosts);
    }
  });
});
