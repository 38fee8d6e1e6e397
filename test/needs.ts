import { execFileSync, spawnSync } from 'node:child_process';

/** Makes sure that a program is there: from the PATH, or from Debian's package of that name. Never skips. */
export function needs(program: string, debianPackage = program): void {
  if (isThere(program)) return;
  try {
    execFileSync('apt-get', ['update'], { stdio: 'pipe' });
    execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', debianPackage], { stdio: 'pipe' });
  } catch (cause) {
    throw new Error(`This test needs ${program}: install it (on Debian: apt-get install ${debianPackage})`, { cause });
  }
}

function isThere(program: string): boolean {
  return spawnSync('bash', ['-c', 'command -v "$0"', program]).status === 0;
}
