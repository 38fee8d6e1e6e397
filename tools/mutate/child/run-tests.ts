import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';

/** The same values in every run, and no search for a smaller counterexample. */
fc.configureGlobal({ seed: 1, endOnFailure: true });

/** Read by `run-tests.ts`, which sets the limit for the mutants by it. */
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeSync(1, `\nused ${(user + system) / 1e6} s\n`);
});

/** Since Node 22; the types do not have them yet. */
type Ended = { name: string; passed: boolean; error: Error | null };

/** One failure kills the mutant, so the other tests need not run. */
afterEach((context) => {
  const { passed, name, error } = context as unknown as Ended;
  if (passed) return;
  process.stderr.write(`${name}: ${error?.cause ?? error}\n`);
  process.exit(1);
});

await import(pathToFileURL(resolve(process.argv[2] ?? '')).href);
