import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Requires a program on the PATH, and installs its Debian package if it is missing. A test is never skipped. */
export function needs(program: string, debianPackage = program): void {
  if (isInstalled(program)) return;
  try {
    execFileSync('apt-get', ['update'], { stdio: 'pipe' });
    execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', debianPackage], { stdio: 'pipe' });
  } catch (cause) {
    throw new Error(`This test needs ${program}: install it (on Debian: apt-get install ${debianPackage})`, { cause });
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
    execFileSync('apt-get', ['update'], { stdio: 'pipe' });
    execFileSync('apt-get', ['download', debianPackage], { stdio: 'pipe', cwd: folder });
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
