import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { registrableDomain } from '../../src/core/domain-name.ts';
import { PATH_HOSTS } from '../../src/reputation/path-hosts.ts';
import { PUBLIC_SUFFIXES } from '../../src/reputation/public-suffixes.ts';
import { suffixFile } from '../../tools/public-suffixes/main.ts';

const suffixes = PUBLIC_SUFFIXES.trim().split('\n');
const known = new Set(suffixes);

test('the list of public suffixes is that of the installed tldts', () => {
  const file = readFileSync(new URL('../../src/reputation/public-suffixes.ts', import.meta.url), 'utf8');
  assert.equal(file, suffixFile(), 'run node tools/public-suffixes/main.ts');
});

test('the rules of the list are those of registrable domains', () => {
  for (const suffix of ['com', 'co.uk', 'github.io', 'xn--p1ai', '*.ck', '!www.ck'])
    assert.ok(suffixes.includes(suffix));
  for (const rule of suffixes.filter((suffix) => !suffix.startsWith('!'))) {
    const name = rule.replace('*', 'wildcard');
    assert.equal(registrableDomain(name), null, rule);
    if (!known.has(`*.${rule}`)) assert.equal(registrableDomain(`www.some-site.${name}`), `some-site.${name}`, rule);
  }
  for (const rule of suffixes.filter((suffix) => suffix.startsWith('!'))) {
    assert.equal(registrableDomain(rule.slice(1)), rule.slice(1), rule);
  }
});

test('every host of the built-in list belongs to a registrable domain', () => {
  for (const host of PATH_HOSTS) assert.notEqual(registrableDomain(host), null, host);
  assert.equal(new Set(PATH_HOSTS).size, PATH_HOSTS.length);
});
