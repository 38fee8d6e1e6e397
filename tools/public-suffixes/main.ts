import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// Writes the public suffixes of the installed `tldts`, which offers no list of them, into a source file:
//
//     node tools/public-suffixes/main.ts
//
// Run it after an update of tldts; a test compares the file with the installed version.

const FILE = new URL('../../src/reputation/public-suffixes.ts', import.meta.url);
const PACKAGE = '../../node_modules/tldts';

/** A trie of labels from right to left. The edges of a node are `edgeStart[node]` to `edgeStart[node + 1]`. */
type Trie = {
  nodeFlags: Uint8Array;
  edgeStart: Uint16Array;
  edgeLength: Uint8Array;
  edgeChild: Uint16Array;
  labelText: string;
  rulesRoot: number;
  exceptionsRoot: number;
};

const ASCII = /^[!-~]+$/;

/** The rules in the notation of publicsuffix.org, as ASCII: `*.ck` is every name below ck, `!www.ck` an exception. */
export function suffixRules(): string[] {
  const trie: Trie = createRequire(import.meta.url)(`${PACKAGE}/dist/cjs/src/data/trie.js`);
  const labels: string[] = [];
  let offset = 0;
  for (const length of trie.edgeLength) {
    labels.push(trie.labelText.slice(offset, offset + length));
    offset += length;
  }
  const rules: string[] = [];
  const visit = (node: number, mark: string, suffix: string): void => {
    if (trie.nodeFlags[node] !== 0) rules.push(mark + suffix);
    for (let edge = trie.edgeStart[node] ?? 0; edge < (trie.edgeStart[node + 1] ?? 0); edge += 1) {
      visit(trie.edgeChild[edge] ?? 0, mark, suffix === '' ? `${labels[edge]}` : `${labels[edge]}.${suffix}`);
    }
  };
  visit(trie.rulesRoot, '', '');
  visit(trie.exceptionsRoot, '!', '');
  // Names in other scripts are there a second time, as `xn--`.
  return rules.filter((rule) => ASCII.test(rule)).sort();
}

export function suffixFile(): string {
  const { version } = JSON.parse(readFileSync(new URL(`${PACKAGE}/package.json`, import.meta.url), 'utf8'));
  return `// Written by tools/public-suffixes/main.ts from tldts ${version}. Do not edit.

/** One public suffix on each line, ICANN and private. */
export const PUBLIC_SUFFIXES = \`
${suffixRules().join('\n')}
\`;
`;
}

if (import.meta.main) writeFileSync(FILE, suffixFile());
