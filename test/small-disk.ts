import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

export type SmallDisk = {
  folder: string;
  /** Writes a file until this many bytes are left. */
  fill(leftBytes?: number): void;
  /** Removes that file. */
  free(): void;
};

/**
 * Defines tests that mount file systems. Without the permission to mount, the test file runs once more as root of its own
 * user namespace.
 */
export function testsOnSmallDisks(file: string, define: () => void): void {
  if (mounts([])) define();
  else test('in a user namespace', () => runInNamespace(file));
}

function runInNamespace(file: string): void {
  assert.ok(
    mounts(UNSHARE),
    'These tests mount small file systems: run them as root, or where unprivileged user namespaces are allowed',
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const [command = '', ...args] = [...UNSHARE, process.execPath, fileURLToPath(file)];
  const { status, stdout } = spawnSync(command, args, { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
}

const UNSHARE = ['unshare', '--map-root-user', '--mount'];

function mounts(prefix: string[]): boolean {
  const script = 'd=$(mktemp -d) && mount -t tmpfs tmpfs "$d" && umount "$d" && rmdir "$d"';
  const [command = '', ...args] = [...prefix, 'sh', '-c', script];
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** A file system of this size in memory. */
export function smallDisk(t: TestContext, megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-test-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  t.after(() => {
    execFileSync('umount', ['--lazy', folder]); // a server of the test may still have its files open
    rmdirSync(folder);
  });
  const filler = join(folder, 'filler');

  /** Returns whether there was space. */
  function append(bytes: number): boolean {
    try {
      writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
      return true;
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
      return false;
    }
  }

  return {
    folder,
    fill(leftBytes = 0) {
      const { bavail, bsize } = statfsSync(folder);
      append(Math.max(0, bavail * bsize - leftBytes));
      // The kernel counts free pages approximately.
      while (leftBytes === 0 && append(bsize));
    },
    free: () => rmSync(filler),
  };
}
