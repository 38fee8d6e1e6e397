import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Test files run at the same time, and apt-get fails while another one runs. */
const LOCK = join(tmpdir(), 'urlwarden-test-packages.lock');

/** Requires a program on the PATH, and installs its Debian package if it is missing. A test is never skipped. */
export function needs(program: string, debianPackage = program): void {
  if (isInstalled(program)) return;
  try {
    aptFresh(['install', '--yes', '--no-install-recommends', debianPackage]);
  } catch (cause) {
    throw new Error(`This test needs ${program}: install it (on Debian: apt-get install ${debianPackage})`, { cause });
  }
}

function apt(args: readonly string[], cwd?: string): void {
  execFileSync('flock', [LOCK, 'apt-get', ...args], { stdio: 'pipe', cwd });
}

/** Reads the lists of packages, which takes seconds, only if there are none or they are old. */
function aptFresh(args: readonly string[], cwd?: string): void {
  try {
    apt(args, cwd);
  } catch {
    apt(['update']);
    apt(args, cwd);
  }
}

function isInstalled(program: string): boolean {
  return spawnSync('bash', ['-c', 'command -v "$0"', program]).status === 0;
}

/**
 * The same for a program whose package would start a service: the package is only unpacked. The program must need no other
 * file of it.
 */
export function needsUnpacked(program: string, debianPackage: string): void {
  if (isInstalled(program)) return;
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-needs-'));
  try {
    aptFresh(['download', debianPackage], folder);
    const [file = ''] = readdirSync(folder);
    execFileSync('dpkg', ['--extract', file, '.'], { stdio: 'pipe', cwd: folder });
    execFileSync('install', [join(folder, 'usr/bin', program), '/usr/local/bin/'], { stdio: 'pipe' });
  } catch (cause) {
    const advice = `install it (on Debian it is part of the package ${debianPackage})`;
    throw new Error(`This test needs ${program}: ${advice}`, { cause });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Programs that read lists for devices, and their packages. */
const LIST_READERS = {
  dnsmasq: 'dnsmasq-base',
  unbound: 'unbound',
  'unbound-checkconf': 'unbound',
  'named-checkzone': 'bind9-utils',
  'named-checkconf': 'bind9-utils',
  squid: 'squid',
  nft: 'nftables',
  suricata: 'suricata',
};

/** `root` is in front of the paths of the package's other files; empty for an installed program. */
export type ListReader = { path: string; root: string; env: NodeJS.ProcessEnv };

const UNPACK = fileURLToPath(new URL('unpack-packages.sh', import.meta.url));
/** Kept for later runs. */
const READERS_FOLDER = fileURLToPath(new URL('../node_modules/.cache/urlwarden-list-readers', import.meta.url));

/**
 * A program from the PATH, or else from its package. All packages are downloaded at once with the libraries that are missing
 * (11 MB), and only unpacked (50 MB): installing them would start services.
 */
export function listReader(program: keyof typeof LIST_READERS): ListReader {
  const { env } = process;
  if (isInstalled(program)) return { path: program, root: '', env };
  try {
    const args = [LOCK, 'bash', UNPACK, READERS_FOLDER, ...Object.values(LIST_READERS)];
    if (!existsSync(join(READERS_FOLDER, 'ready'))) execFileSync('flock', args, { stdio: 'pipe' });
  } catch (cause) {
    const advice = `install it (on Debian: apt-get install ${LIST_READERS[program]})`;
    throw new Error(`This test needs ${program}: ${advice}`, { cause });
  }
  const root = join(READERS_FOLDER, 'root');
  const path = ['usr/sbin', 'usr/bin'].map((folder) => join(root, folder, program)).find(existsSync) ?? program;
  const libraries = ['usr/lib', 'lib'].flatMap((folder) => [join(root, folder), ...subfolders(join(root, folder))]);
  return { path, root, env: { ...env, LD_LIBRARY_PATH: libraries.join(':') } };
}

/** Libraries are in a folder of the processor: `aarch64-linux-gnu`. */
function subfolders(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('-linux-gnu'))
    .map((name) => join(folder, name));
}
