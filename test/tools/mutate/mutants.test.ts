import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openCompiler } from '../../../tools/mutate/compiler.ts';
import { mutantsIn } from '../../../tools/mutate/mutants.ts';
import { mutateFile } from '../../../tools/mutate/mutate-file.ts';
import { testsThatReach } from '../../../tools/mutate/reach.ts';
import { reportOf } from '../../../tools/mutate/report.ts';
import { createTestRunner } from '../../../tools/mutate/run-tests.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const CONFIG = JSON.stringify({
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  include: ['src'],
});

/** A temporary project and its compiler. */
function project(t: TestContext, files: Record<string, string>) {
  const root = temporaryFolder(t);
  for (const [name, text] of Object.entries({ 'tsconfig.json': CONFIG, ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const compiler = openCompiler(root, 'tsconfig.json');
  t.after(() => compiler.close());
  return { root, compiler };
}

function changesOf(t: TestContext, text: string): string[] {
  const { compiler } = project(t, { 'src/a.ts': text });
  return mutantsIn('src/a.ts', compiler.parse('src/a.ts')).map(({ change }) => change);
}

for (const { code, changes } of [
  {
    code: 'export const f = (a: number) => a < 7;',
    changes: ['a < 7 → a <= 7', 'a < 7 → a >= 7', 'a < 7 → a < 8', 'a < 7 → a < 6'],
  },
  { code: 'export const f = (a: number, b: number) => a === b;', changes: ['a === b → a !== b'] },
  {
    code: 'export const f = (a: number, b: number) => a + b * a;',
    changes: ['a + b * a → a - b * a', 'b * a → b / a'],
  },
  { code: 'export const f = (a: boolean, b: boolean) => a && !b;', changes: ['a && !b → a || !b', 'a && !b → a && b'] },
  {
    code: 'export const f = (a?: string, b = true) => a ?? b;',
    changes: ['b = true → b = false', 'a ?? b → a', 'a ?? b → b'],
  },
  { code: 'export const f = (a: boolean) => (a ? "x" : "y");', changes: ['a → true', 'a → false'] },
  {
    code: 'export function f(a: string): boolean { return a.isWellFormed(); }',
    changes: ['return a.isWellFormed(); → return !(a.isWellFormed());'],
  },
  {
    code: 'export const f = (a: number[]) => { while (a.pop()) a.sort(); };',
    changes: ['a.pop() → false', 'a.sort(); removed'],
  },
  {
    code: 'export const f = (a: number) => Math.max(a, -1);',
    changes: ['Math.max → Math.min', 'Math.max(a, -1) → Math.max(a, 1)', '-1 → -2', '-1 → -0'],
  },
  { code: 'export const a = "1 < 2" + `3 < 4`; // 4 < 5', changes: [] },
  { code: 'export const a = /[1<2]/; export type A = 1 | 2; export const b: A[] = []; import "node:os";', changes: [] },
]) {
  test(`mutants of ${code}`, (t) => {
    assert.deepEqual(changesOf(t, code).toSorted(), changes.toSorted());
  });
}

test('a change with a type error or a syntax error is refused, and no file is written', (t) => {
  const text = 'export const first = (list: number[]): number => list[0] ?? 0;\n';
  const { root, compiler } = project(t, { 'src/a.ts': text });
  assert.equal(compiler.accepts('src/a.ts', text.replace(' ?? 0', '')), false);
  assert.equal(compiler.accepts('src/a.ts', text.replace('?? 0', '?? (')), false);
  assert.equal(compiler.accepts('src/a.ts', text.replace('?? 0', '?? 1')), true);
  assert.equal(readFileSync(join(root, 'src/a.ts'), 'utf8'), text);
});

test('the tests of a file are those that load it, the nearest first', (t) => {
  const { root } = project(t, {
    'src/a.ts': '',
    'src/b.ts': "import { a } from './a.ts';",
    'src/c.ts': "import type { A } from './a.ts';",
    'test/1.test.ts': "import { b } from '../src/b.ts';",
    'test/2.test.ts': "import '../src/a.ts';",
    'test/3.test.ts': "import '../src/c.ts';",
    'test/4.test.ts': "new Worker(new URL('../src/a.ts', import.meta.url));",
  });
  const tests = ['test/1.test.ts', 'test/2.test.ts', 'test/3.test.ts', 'test/4.test.ts'];
  assert.deepEqual(testsThatReach(root, 'src/a.ts', tests), ['test/2.test.ts', 'test/4.test.ts', 'test/1.test.ts']);
});

test('mutants are killed, hang, or survive', async (t) => {
  const source =
    'export function half(n: number): number {\n  let times = 0;\n  while (n >= 2) {\n    n -= 2;\n    times++;\n  }\n  return times;\n}\n';
  const { root, compiler } = project(t, {
    'src/half.ts': source,
    'test/half.test.ts':
      "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { half } from '../src/half.ts';\n" +
      "test('four', () => assert.equal(half(4), 2));\n",
  });
  const { signal } = new AbortController();
  const testRunner = createTestRunner({ root, temporaryFolder: root, signal });
  const results = await mutateFile({ root, compiler, testRunner, onProgress() {} }, 'src/half.ts', [
    'test/half.test.ts',
  ]);
  const outcomes = Object.fromEntries(results.map(({ mutant, outcome }) => [mutant.change, outcome]));
  assert.equal(outcomes['times++ → times--'], 'killed');
  assert.equal(outcomes['n -= 2 → n += 2'], 'hung');
  assert.equal(outcomes['n >= 2 → n >= 1'], 'survived');
  assert.equal(readFileSync(join(root, 'src/half.ts'), 'utf8'), source);
});

test('an equivalent survivor is accepted, and an entry without a survivor is reported', () => {
  const mutant = {
    file: 'a.ts',
    start: 0,
    end: 1,
    replacement: '',
    line: 3,
    lineText: 'a < b',
    change: 'a < b → a <= b',
  };
  const entry = { line: mutant.lineText, changes: [mutant.change], reason: 'never equal' };
  const report = (outcome: 'survived' | 'killed', entries: (typeof entry)[]) =>
    reportOf([{ mutant, outcome }], { 'a.ts': entries });
  assert.deepEqual(report('survived', []).lines, ['  a.ts:3: a < b → a <= b\n      a < b']);
  assert.equal(report('survived', []).isClean, false);
  assert.equal(report('survived', [entry]).isClean, true);
  assert.match(report('survived', [entry]).totals, /^1 mutants: .* 1 survived \(1 equivalent\)$/);
  assert.equal(report('survived', [{ ...entry, line: 'a <  b' }]).isClean, false);
  assert.equal(report('killed', [entry]).isClean, false);
});
