import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyMutant } from './apply-mutant.ts';
import type { Compiler } from './compiler.ts';
import { type Mutant, mutantsIn } from './mutants.ts';
import { testsThatReach } from './reach.ts';
import type { TestRunner } from './run-tests.ts';

/** `refused`: the compiler does not accept it, so no test is needed. `hung`: stopped by the time limit. */
export type Outcome = 'refused' | 'killed' | 'hung' | 'survived';
export type Result = { mutant: Mutant; outcome: Outcome };

export type MutationTools = {
  root: string;
  compiler: Compiler;
  testRunner: TestRunner;
  onProgress(done: number, all: number): void;
};

const WORKERS = 2;

/** Runs, for each mutant of a file, those of the tests that load the file. */
export async function mutateFile(tools: MutationTools, file: string, tests: readonly string[]): Promise<Result[]> {
  const { root, compiler, onProgress } = tools;
  const text = readFileSync(join(root, file), 'utf8');
  const reaching = testsThatReach(root, file, tests);
  const mutants = mutantsIn(file, compiler.parse(file));
  const results: Result[] = [];
  const waiting = mutants.entries();
  const work = async () => {
    for (const [at, mutant] of waiting) {
      const isRefused = !compiler.accepts(file, applyMutant(text, mutant));
      results[at] = { mutant, outcome: isRefused ? 'refused' : await tryMutant(tools, mutant, reaching) };
      onProgress(at + 1, mutants.length);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return results;
}

async function tryMutant({ testRunner }: MutationTools, mutant: Mutant, tests: readonly string[]): Promise<Outcome> {
  const outcome = await testRunner.run(tests, mutant);
  return ({ passed: 'survived', failed: 'killed', hung: 'hung' } as const)[outcome];
}
