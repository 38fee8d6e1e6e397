import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { needs } from '../needs.ts';
import { freePort, startChild, untilReady } from './child.ts';
import { NOBODY, responds } from './postgres.ts';

/** Starts PgBouncer in front of a database, with these settings. Returns the URL of the database through the pooler. */
export async function startPgbouncer(t: TestContext, databaseUrl: string, settings: string): Promise<string> {
  needsPgbouncer();
  const { host, hostname, port: serverPort, username } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-pgbouncer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [config, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users')];
  const port = await freePort();
  const lines = [
    `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]`,
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
    `auth_type = trust\nauth_file = ${users}`,
    settings,
  ];
  writeFileSync(users, `"${username}" ""\n`);
  writeFileSync(config, `${lines.join('\n')}\n`);
  if (NOBODY.uid !== undefined) for (const path of [folder, config, users]) chownSync(path, NOBODY.uid, NOBODY.gid);
  const child = startChild('pgbouncer', [config], NOBODY);
  t.after(() => child.end('SIGKILL'));
  const url = databaseUrl.replace(host, `127.0.0.1:${port}`);
  await untilReady('pgbouncer', child, () => responds(url));
  return url;
}

/** In the Debian archive that `apt-get` is configured with. */
const SOURCE = 'pool/main/p/pgbouncer/pgbouncer_1.24.1.orig.tar.gz';
const SOURCE_SHA256 = 'da72a3aba13072876d055a3e58dd4aba4a5de4ed6148e73033185245598fd3e0';

const BUILD = `
  apt-get install --yes --no-install-recommends curl gcc make pkg-config libc6-dev libevent-dev libssl-dev
  folder=$(mktemp -d) && cd "$folder"
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep --invert-match security | head --lines 1)
  curl --fail --silent --output source.tar.gz "\${archive}${SOURCE}"
  echo '${SOURCE_SHA256}  source.tar.gz' | sha256sum --check
  tar --extract --strip-components=1 --file source.tar.gz
  ./configure --without-cares CFLAGS=-O0 && make -j2 && install pgbouncer /usr/local/bin/
  rm -r "$folder"`;

/** Debian 12 has 1.18. It gives clients the answers to others, so it is built from the source of Debian 13 there. */
function needsPgbouncer(): void {
  needs('pgbouncer');
  if (isUsable()) return;
  try {
    execFileSync('bash', ['-e', '-c', BUILD], { stdio: 'pipe' });
  } catch (cause) {
    throw new Error('This test needs PgBouncer 1.21 or newer: install it', { cause });
  }
}

function isUsable(): boolean {
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(`${spawnSync('pgbouncer', ['--version']).stdout}`) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}
