import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}/${path}`, 'utf8');
const PAGE = read('docs/security.md');

/**
 * How many requirements of levels 1 and 2 each section of OWASP ASVS 5.0.0 has. They come before those of level 3: the
 * second section of V1 has V1.2.1 to V1.2.9.
 */
const SECTIONS: Record<string, readonly number[]> = {
  V1: [2, 9, 11, 3, 2],
  V2: [3, 3, 4, 1],
  V3: [0, 2, 4, 6, 5, 0, 2],
  V4: [3, 1, 2, 4],
  V5: [1, 3, 2, 3],
  V6: [3, 12, 4, 4, 5, 3, 0, 4],
  V7: [3, 4, 2, 5, 2, 2],
  V8: [2, 3, 1, 1],
  V9: [3, 4],
  V10: [2, 2, 4, 11, 5, 2, 3],
  V11: [2, 3, 3, 4, 1, 1, 0],
  V12: [3, 2, 4],
  V13: [1, 5, 2, 5],
  V14: [2, 4, 3],
  V15: [3, 3, 7, 0],
  V16: [1, 5, 4, 3, 3],
  V17: [1, 4, 2],
};

/** All 253, in order. */
const REQUIREMENTS = Object.entries(SECTIONS).flatMap(([chapter, counts]) =>
  counts.flatMap((count, section) => Array.from({ length: count }, (_, i) => `${chapter}.${section + 1}.${i + 1}`)),
);

const STATES = ['Holds', 'Holds with the right set-up', 'Does not hold yet', 'Does not apply'];

type Row = { requirements: string[]; cells: string[] };

/** The rows of the table below a heading of the third level. */
function rowsOf(heading: string): Row[] {
  const text = PAGE.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...text.matchAll(/^\| (V\d.*?) \| (.*) \|$/gm)].map(([, first = '', rest = '']) => ({
    requirements: first.split(', ').flatMap(expanded),
    cells: rest.split(' | '),
  }));
}

/** `V6.5.1–V6.6.3` is every requirement from the first to the second. */
function expanded(text: string): string[] {
  const [first = '', last = first] = text.split('–');
  const [from, to] = [REQUIREMENTS.indexOf(first), REQUIREMENTS.indexOf(last)];
  assert.ok(from >= 0 && to >= from, `${text} is not a requirement of level 1 or 2`);
  return REQUIREMENTS.slice(from, to + 1);
}

test('docs/security.md has each requirement of ASVS level 2 once', () => {
  assert.equal(REQUIREMENTS.length, 253);
  const named = STATES.flatMap((state) => rowsOf(state).flatMap(({ requirements }) => requirements));
  for (const one of REQUIREMENTS) assert.equal(named.filter((other) => other === one).length, 1, one);
});

test('the sums in docs/security.md are right', () => {
  const stated = [...PAGE.matchAll(/^\| (V\d+) [A-Z][^|]* \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
  const counted = Object.keys(SECTIONS).map((chapter) => {
    const inChapter = (one: string) => one.startsWith(`${chapter}.`);
    return [
      chapter,
      ...STATES.map(
        (state) =>
          rowsOf(state)
            .flatMap((row) => row.requirements)
            .filter(inChapter).length,
      ),
    ];
  });
  assert.deepEqual(
    stated.map(([, chapter, ...sums]) => [chapter, ...sums.map(Number)]),
    counted,
  );
});

const FILE = /`((?:\.?\w[\w.-]*\/)+[\w.-]+\.\w+|Dockerfile|compose\.yaml|\.dockerignore|\.npmrc|[\w-]+\.json)`/g;
const LINK = /\]\(([^)]*)\)/g;

test('every requirement that holds names files or parts of documents, and all of them exist', () => {
  for (const { requirements, cells } of rowsOf('Holds')) {
    const by = cells[1] ?? '';
    assert.ok(by.match(FILE) ?? by.match(LINK), `${requirements} names nothing`);
  }
  for (const [, path = ''] of PAGE.matchAll(FILE)) assert.ok(existsSync(`${ROOT}/${path}`), path);
  for (const [, target = ''] of PAGE.matchAll(LINK)) checkLink(target);
});

/** `operating.md#what-counts` is the heading "What counts". */
function checkLink(target: string): void {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? 'docs/security.md' : posix.join('docs', file);
  assert.ok(existsSync(`${ROOT}/${path}`), `${target} is linked, but does not exist`);
  if (anchor === undefined) return;
  const headings = [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  assert.ok(headings.includes(anchor), `${target} is linked, but there is no such heading`);
}

test('no source runs a command, or code from a text', () => {
  const FORBIDDEN = /node:(?:child_process|vm|cluster)|\beval\(|\bnew Function\(/;
  for (const file of globSync('src/**/*.ts', { cwd: ROOT })) assert.doesNotMatch(read(file), FORBIDDEN, file);
});

test('the lockfile has a SHA-512 for every package, and direct dependencies have exact versions', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { integrity?: string }> };
  const { '': root, ...others } = packages;
  assert.ok(root !== undefined && Object.keys(others).length > 50, 'the packages were not found');
  for (const [name, { integrity }] of Object.entries(others)) assert.match(integrity ?? '', /^sha512-/, name);
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  for (const [name, version] of Object.entries(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
});
