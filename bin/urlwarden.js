#!/usr/bin/env -S node --max-semi-space-size=8
// Plain JavaScript that any Node can read: it finds a Node new enough for the program, then hands over.
// The flag keeps short-lived garbage small: a server that streams a million rows beside other answers grew by 13 MB with
// it and by 133 MB without, at the same speed. V8 takes it at the start of a process only.
// In a clone that is the `node` package among the devDependencies; installed from a registry, it is the machine's own.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as module from 'node:module'; // as a whole: an older Node lacks a name below, and could not even say so
import { fileURLToPath } from 'node:url';

const MIN_NODE = [24, 7]; // engines.node in package.json: argon2 in node:crypto, stable node:sqlite
const [major, minor] = process.versions.node.split('.').map(Number);
const newEnough = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);

const own = new URL('../src/cli/main.ts', import.meta.url);
const built = new URL('../dist/cli/main.js', import.meta.url);
const main = existsSync(own) ? own : built;

// Compiled modules are kept from one start to the next: `account list` takes 0.2 s then instead of 0.65. Beside the program,
// where only those can put something who could change the program itself; where it may not be written, nothing is kept.
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/urlwarden', import.meta.url));

if (newEnough) {
  process.env.NODE_COMPILE_CACHE ??= COMPILED; // for the threads; this one has begun
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
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
