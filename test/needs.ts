import { execFileSync, spawnSync } from 'node:child_process';

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
