#!/usr/bin/env -S node --max-semi-space-size=8
// Plain JavaScript that any Node can read: it finds a Node new enough for the program, then hands over.
// The flag keeps short-lived garbage small: a server that streams a million rows beside other answers grew by 13 MB with
// it and by 133 MB without, at the same speed. V8 takes it at the start of a process only.
// In a clone that is the `node` package among the devDependencies; installed from a registry, it is the machine's own.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MIN_NODE = [24, 7]; // engines.node in package.json: argon2 in node:crypto, stable node:sqlite
const [major, minor] = process.versions.node.split('.').map(Number);
const newEnough = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);

const own = new URL('../src/cli/main.ts', import.meta.url);
const built = new URL('../dist/cli/main.js', import.meta.url);
const main = existsSync(own) ? own : built;

if (newEnough) {
  // What was compiled before is not compiled again: a command takes 0.24 s instead of 0.65 s. In a folder of the user's
  // own, because code is run from it; where there is none, nothing is kept.
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'urlwarden'));
  await import(main.href);
} else {
  runOnBundledNode(fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url)));
}

function runOnBundledNode(node) {
  if (!existsSync(node)) {
    process.stderr.write(
      `urlwarden needs Node ${MIN_NODE.join('.')} or newer; this is ${process.versions.node}.\n` +
        'Install a newer Node, or in a clone of the repository run: npm ci\n',
    );
    process.exit(1);
  }
  const child = spawn(node, [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
}
