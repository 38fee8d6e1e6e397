import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// Loading the program, building the first server and starting the first writer thread, the first command process and the
// first browser take more CPU time than the tests of most files. So files share processes: each file of this folder imports
// a part of a suite, and its tests run one after the other. `scaled-2.test.ts` has part 2 of the suite `scaled`.

const TESTS = dirname(import.meta.dirname);
const text = (file: string) => readFileSync(join(TESTS, file), 'utf8');

/** `npm test` runs files with this comment by themselves; the reason follows. */
const ALONE = /^\/\/ In a process of its own: /m;

const all = globSync('**/*.test.ts', { cwd: TESTS, exclude: ['together'] })
  .filter((file) => !ALONE.test(text(file)))
  .sort();
const http = all.filter((file) => dirname(file) === 'http');
const cli = all.filter((file) => dirname(file) === 'cli');
const portal = all.filter((file) => dirname(file) === 'portal');
const grouped = new Set([...http, ...cli, ...portal]);

/** Files that start servers, which then have two threads. */
const SERVE = ['serve', 'serve-tls', 'serve-stop', 'serve-key-file', 'serve-soft-limit', 'export-list'];

/**
 * Files of the HTTP suite that use neither stores nor counters of `engine.ts`: on another engine they would repeat the same. One
 * that begins to use them runs there all the same.
 */
const WITHOUT_ENGINE =
  /\/(bulk-other-process|close|connection|custom-route|dispatch|encoding|fuzz|ndjson|openapi|request-id|schema-check|stall-timer|tls|trust-proxy)\.test\.ts$/;
const USES_ENGINE = /\bobservations\b|with-accounts|as-admin|engine/;

const SUITES: Record<string, string[]> = {
  http,
  cli,
  portal,
  others: all.filter((file) => !grouped.has(file)),
  scaled: http.filter((file) => !WITHOUT_ENGINE.test(file) || USES_ENGINE.test(text(file))),
  // The others have neither data nor accounts: they would repeat the same.
  threads: [
    ...SERVE.map((name) => `cli/${name}.test.ts`),
    ...http.filter((file) => /with-accounts|as-admin|observations:/.test(text(file))),
  ],
};

const [, suite = '', part] = /^(\w+)-(\d+)\.test\.ts$/.exec(basename(process.argv[1] ?? '')) ?? [];
const files = SUITES[suite];
if (files === undefined) throw new Error('start one of the other files of this folder');

if (suite === 'scaled' || suite === 'threads') process.env.URLWARDEN_TEST_ENGINE = suite;
const parts = globSync(`${suite}-*.test.ts`, { cwd: import.meta.dirname }).length;
const own = files.filter((_, i) => i % parts === Number(part) - 1);
await Promise.all(own.map((file) => import(new URL(`../${file}`, import.meta.url).href)));
