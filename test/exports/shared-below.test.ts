import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registrableDomain } from '../../src/core/domain-name.ts';
import { namesAround } from '../../src/exports/exclusions.ts';
import { createSharedBelow } from '../../src/exports/shared-below.ts';
import { PUBLIC_SUFFIXES } from '../../src/reputation/public-suffixes.ts';

const sharedBelow = createSharedBelow({ nameListsBelowHosts: async () => new Map() });

test('no name above a registrable domain can be on a list of hosts: it is a public suffix, or above one', async () => {
  let above = 0;
  for (const rule of PUBLIC_SUFFIXES.trim().split('\n')) {
    const domain = rule.startsWith('!') ? rule.slice(1) : `domain.${rule.replace('*', 'any')}`;
    assert.equal(registrableDomain(domain), domain);
    for (const name of namesAround(domain).slice(1)) {
      if (registrableDomain(name) === null) continue;
      above++;
      assert.equal((await sharedBelow(name))[0]?.reason, 'shared-site', name);
    }
  }
  assert.ok(above > 500, `${above}`);
});
