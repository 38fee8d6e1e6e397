#!/usr/bin/env -S node --max-semi-space-size=8
// Plain JavaScript that any version of Node can run. It starts the program on a Node that is new enough: this one, or
// in a clone the `node` package of the devDependencies.
// The flag limits the heap for short-lived objects: a server that streams a million rows beside other responses grew by
// 13 MB with it and by 133 MB without, at the same speed. V8 reads it only when a process starts.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as module from 'node:module'; // as a namespace: a missing export of an older Node would be a syntax error
import { fileURLToPath } from 'node:url';

const MIN_NODE = [24, 7]; // engines.node in package.json: argon2 in node:crypto, stable node:sqlite
const [major, minor] = process.versions.node.split('.').map(Number);
const newEnough = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);

const source = new URL('../src/cli/main.ts', import.meta.url);
const built = new URL('../dist/cli/main.js', import.meta.url);
const main = existsSync(source) ? source : built;

const END_MS = 1_000; // for connections that close as they should

// Caches compiled modules between starts: `account list` takes 0.2 s instead of 0.65. The cache is in the program's
// folder, where only users who can change the program can write. Without write permission nothing is cached.
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/urlwarden', import.meta.url));

const folder = new URL('../', main).href;
const format = main === source ? 'module-typescript' : 'module';

// Our files import each other by their paths. Node would ask the disk several times about each of 400 files, for symbolic
// links and package.json files: an eighth of the time in which the server starts. In worker threads, which this function
// does not reach, it still does.
function resolveOwn(specifier, context, next) {
  if (!specifier.startsWith('.') || !context.parentURL?.startsWith(folder)) return next(specifier, context);
  return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true };
}

if (newEnough) {
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE; // for worker threads; this thread needs the call below
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  module.registerHooks({ resolve: resolveOwn });
  await import(main.href);
  // The command has ended. A connection to a server that does not respond would keep the process alive until it does.
  setTimeout(() => process.exit(), END_MS).unref();
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
