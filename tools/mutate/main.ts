import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCompiler } from './compiler.ts';
import { EQUIVALENT } from './equivalent.ts';
import { mutateFile, type Result } from './mutate-file.ts';
import { reportOf } from './report.ts';
import { createTestRunner } from './run-tests.ts';

/**
 * Changes the code in one place at a time and runs the tests that load it: `npm run mutate`, or
 * `npm run mutate -- src/core/ip src/limits` for the files whose path contains one of the texts. A change that no test
 * notices is printed.
 */
const GROUPS: readonly { files: readonly string[]; tests: readonly string[] }[] = [
  { files: ['src/core/ip/*.ts'], tests: ['test/core/ip/*.test.ts'] },
  { files: ['src/core/url/*.ts'], tests: ['test/core/url/*.test.ts'] },
  {
    files: ['src/core/{errors,observation,quota,text,tier,time}.ts'],
    tests: ['test/core/{errors,observation,quota,text,tier,time}.test.ts'],
  },
  {
    files: [
      'src/urls/{timeline,stored-timeline,listing-rules,file-rules,resolution-rules}.ts',
      'src/urls/{search-key,paged-search,url-group}.ts',
    ],
    tests: [
      'test/urls/{timeline,stored-timeline,listing-rules,file-rules,resolution-rules}.test.ts',
      'test/urls/{search-key,paged-search,url-group}.test.ts',
    ],
  },
  {
    files: ['src/accounts/{bearer,expiring-map,hash-queue,login-failures,login-penalty,tokens}.ts'],
    tests: ['test/accounts/{address-key,bearer,expiring-map,hash-queue,login-failures,login-penalty,tokens}.test.ts'],
  },
  {
    files: ['src/limits/{counters-memory,usage-writer,limit-headers}.ts'],
    tests: ['test/limits/{counters-memory,usage-writer,limit-headers}.test.ts'],
  },
  {
    files: ['src/ingest/{batch,observation-json}.ts', 'src/ingest/sources/{csv,lines}.ts'],
    tests: ['test/ingest/{batch,observation-json}.test.ts', 'test/ingest/sources/{csv,lines}.test.ts'],
  },
  {
    files: ['src/ingest/formats/values.ts', 'src/ingest/feeds/feed-state.ts'],
    tests: ['test/ingest/formats/values.test.ts', 'test/ingest/feeds/feed-state.test.ts'],
  },
  {
    files: ['src/config/{json-entries,redis-url,setting-values}.ts'],
    tests: ['test/config/{json-entries,redis-url,setting-values}.test.ts'],
  },
  { files: ['src/database/pages.ts'], tests: ['test/database/pages.test.ts'] },
];

const root = fileURLToPath(new URL('../..', import.meta.url));
const texts = process.argv.slice(2);
const print = (text: string) => process.stdout.write(`${text}\n`);
const find = (patterns: readonly string[]) => globSync([...patterns], { cwd: root }).sort();
const grouped = GROUPS.flatMap(({ files }) => find(files));
const unused = texts.filter((text) => !grouped.some((name) => name.includes(text)));
if (unused.length > 0) throw new Error(`No file of tools/mutate/main.ts has in its path: ${unused.join(', ')}`);
const isWanted = (name: string) => texts.length === 0 || texts.some((text) => name.includes(text));

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
const compiler = openCompiler(root, 'tsconfig.build.json');
const temporaryFolder = mkdtempSync(join(tmpdir(), 'urlwarden-mutate-'));
const testRunner = createTestRunner({ root, temporaryFolder, signal: stop.signal });
const tools = { root, compiler, testRunner, onProgress };

const results: Result[] = [];
const started = Date.now();
try {
  for (const { files, tests } of GROUPS) {
    const found = find(tests);
    for (const file of find(files).filter(isWanted)) await mutate(file, found);
  }
} catch (error) {
  if (!stop.signal.aborted) throw error;
} finally {
  compiler.close();
  rmSync(temporaryFolder, { recursive: true, force: true });
}

const { totals, isClean } = reportOf(results, EQUIVALENT);
const ungrouped = Object.keys(EQUIVALENT).filter((name) => !grouped.includes(name));
if (ungrouped.length > 0) print(`equivalent.ts has files that are in no group: ${ungrouped.join(', ')}`);
print(`${stop.signal.aborted ? 'Stopped. ' : ''}${totals}, ${Math.round((Date.now() - started) / 1000)} s`);
process.exitCode = stop.signal.aborted ? 130 : isClean && ungrouped.length === 0 ? 0 : 1;

async function mutate(file: string, tests: readonly string[]): Promise<void> {
  const ofFile = await mutateFile(tools, file, tests);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  results.push(...ofFile);
  if (ofFile.length === 0) return;
  const { totals, lines } = reportOf(ofFile, EQUIVALENT);
  print(`${file}: ${totals}`);
  for (const line of lines) print(line);
}

function onProgress(done: number, all: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done} of ${all}`);
}
