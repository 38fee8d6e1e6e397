import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

export type TestRun = { outcome: 'passed' | 'failed' | 'hung'; output: string };

/** CPU time, so that a busy machine does not stop a test. The clock only stops a process that waits. */
type TimeLimit = { cpuSeconds: number; clockMs: number };

export type TestRunner = {
  /** Runs test files one after the other, up to the first failure. */
  run(tests: readonly string[], mutant: Mutant): Promise<TestRun['outcome']>;
};

export type TestRunnerOptions = {
  root: string;
  /** For the files of the tests: a process that is killed does not remove them. */
  temporaryFolder: string;
  signal: AbortSignal;
};

const child = (name: string) => new URL(`child/${name}.ts`, import.meta.url);
/** A mutant that fills an array in an endless loop should fail soon. */
const HEAP_MB = 1024;
/** Tests that measure time: on a busy machine they would fail on any mutant. */
const TIMED = '/takes less than|before it is encoded/';
const UNCHANGED_LIMIT: TimeLimit = { cpuSeconds: 60, clockMs: 600_000 };

export function createTestRunner(options: TestRunnerOptions): TestRunner {
  const limits = new Map<string, Promise<TimeLimit>>();

  /** Three times what the file takes on the unchanged code, and a second. */
  const measureLimit = async (test: string): Promise<TimeLimit> => {
    const { outcome, output } = await runTest(options, test, null, UNCHANGED_LIMIT);
    if (outcome !== 'passed') throw new Error(`${test} fails on the unchanged code:\n${output}`);
    const used = Number(/^used ([\d.]+) s$/m.exec(output)?.[1]);
    return { cpuSeconds: Math.ceil(3 * used) + 1, clockMs: 120_000 };
  };
  const limitOf = (test: string) => {
    const limit = limits.get(test) ?? measureLimit(test);
    limits.set(test, limit);
    return limit;
  };

  return {
    async run(tests, mutant) {
      for (const test of tests) {
        const { outcome } = await runTest(options, test, mutant, await limitOf(test));
        if (outcome !== 'passed') return outcome;
      }
      return 'passed';
    },
  };
}

async function runTest(options: TestRunnerOptions, test: string, mutant: Mutant | null, limit: TimeLimit) {
  const running = startTest(options, test, mutant, limit);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(running.stdout),
    text(running.stderr),
    once(running, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  const isHung = signal === 'SIGXCPU' || signal === 'SIGKILL';
  return {
    outcome: code === 0 ? 'passed' : isHung ? 'hung' : 'failed',
    output: `${stdout}${stderr}`,
  } satisfies TestRun;
}

function startTest(options: TestRunnerOptions, test: string, mutant: Mutant | null, limit: TimeLimit) {
  const { root, temporaryFolder, signal } = options;
  const node = [
    process.execPath,
    `--max-old-space-size=${HEAP_MB}`,
    '--test-reporter=dot',
    `--test-skip-pattern=${TIMED}`,
  ];
  const limited = ['-c', 'ulimit -t "$0" && exec "$@"', String(limit.cpuSeconds)];
  return spawn('/bin/sh', [...limited, ...node, fileURLToPath(child('run-tests')), test], {
    cwd: root,
    env: {
      ...process.env,
      // In the environment, so that worker threads and child processes of the tests load it too.
      NODE_OPTIONS: `--import=${child('load-mutant').href}`,
      URLWARDEN_MUTANT: JSON.stringify(mutant === null ? {} : { ...mutant, path: join(root, mutant.file) }),
      TMPDIR: temporaryFolder,
      // Set inside `node --test`, where it would replace the reporter.
      NODE_TEST_CONTEXT: undefined,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limit.clockMs,
    killSignal: 'SIGKILL',
    signal,
  });
}
