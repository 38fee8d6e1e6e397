import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAuthenticator } from '../../src/accounts/authenticator.ts';
import { ensureFirstAccount } from '../../src/accounts/first-account.ts';
import { ensureKey } from '../../src/accounts/signing-keys.ts';
import { openControl } from '../../src/app/stores.ts';
import { policiesOf } from '../../src/core/quota.ts';
import { createMemoryCounters } from '../../src/limits/counters-memory.ts';
import { createSharedCounts } from '../../src/limits/shared-counts.ts';
import { normalUrl } from '../../src/urls/routes.ts';
import { urlAt } from '../shared/observations.ts';
import type { Bench, Row } from './harness/figure.ts';
import { sample } from './lookups.ts';

const CALLS = 100_000;
const ISSUER = 'bench';

/** The work before a lookup, without HTTP: authentication, counting against the limits, normalization of the URL. */
export const inProcess: Row = {
  name: 'in-process',
  async measure({ rounds }: Bench) {
    const dataDir = mkdtempSync(join(tmpdir(), 'urlwarden-bench-'));
    const control = await openControl({ dataDir });
    const now = Math.floor(Date.now() / 1000);
    await ensureKey(control, now);
    await ensureFirstAccount(control, false, now);
    const authenticator = await openAuthenticator(control, { nowMs: Date.now, issuer: ISSUER });
    const counts = createSharedCounts(control, { nowMs: Date.now });
    const counters = createMemoryCounters(counts, { nowMs: Date.now, thread: 0 });
    try {
      const [account] = await control.accounts();
      if (account === undefined) throw new Error('the first account is missing');
      const { sub, username: usr, generation: ver } = account;
      const token = (await authenticator.tokens()).sign({ iat: now, exp: now + 3_600, sub, usr, jti: '1', ver });
      const authorization = `Bearer ${token}`;
      const { limits } = await authenticator.authenticate(authorization);
      const policies = policiesOf(limits);
      const urls = sample(1_000_000, urlAt);
      const ours: number[] = [];
      for (let round = 0; round <= rounds; round++) {
        const startMs = performance.now();
        for (let i = 0; i < CALLS; i++) {
          const caller = authenticator.authenticate(authorization);
          if (caller instanceof Promise) await caller;
          await counters.take(sub, policies, 1);
          normalUrl(urls[i % urls.length] ?? '');
        }
        ours.push(((performance.now() - startMs) * 1000) / CALLS);
      }
      const name = 'token check, admission and normalization in process';
      return [{ name, unit: 'µs', ours: ours.slice(1), yardstick: null, mark: { of: 'ours', atMost: 5 } }];
    } finally {
      authenticator.close();
      await counts.close();
      await control.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};
