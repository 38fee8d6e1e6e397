import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO_ACCOUNT, ensureFirstAccount } from '../../src/accounts/first-account.ts';
import { fillDemo, fillDemoControl } from '../../src/app/demo.ts';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { windowIndex } from '../../src/core/quota.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const DAY = 86_400;
/** 2026-11-18T02:46:40Z */
const NOW = 1_794_970_000;
const CUSTOMER = 'customer@example.com';
const ANY = { sinceTs: 0, untilTs: NOW + 99 * DAY, subject: null, action: null, limit: 1_000 };

test('demo data in the stores', async (t) => {
  const dataDir = temporaryFolder(t);
  const [store, control] = await Promise.all([openIntelligence({ dataDir }), openControl({ dataDir })]);
  t.after(() => Promise.all([store.close(), control.close()]));
  await ensureFirstAccount(control, true, NOW);
  const start = async (nowTs: number) => {
    await fillDemo(store, nowTs);
    await fillDemoControl(control, store, nowTs);
  };
  const usageOf = async (username: string, nowTs: number) => {
    const { sub } = (await control.accountByUsername(username)) ?? assert.fail(username);
    return control.usage(sub, windowIndex('day', nowTs), windowIndex('month', nowTs));
  };
  const state = async () => ({
    ids: await store.lastIds(),
    accounts: await control.accounts(),
    tiers: await control.tiers(),
    feeds: await control.feeds(),
    imports: await control.imports({ limit: 1_000 }),
    audit: await control.auditEntries(ANY),
    usage: await Promise.all([usageOf(DEMO_ACCOUNT.username, NOW), usageOf(CUSTOMER, NOW)]),
  });

  await start(NOW);
  const first = await state();

  await t.test('there are accounts, a tier, imports and an audit log', () => {
    assert.deepEqual(
      first.accounts.map(({ username, tier, isEnabled, isAdmin }) => [username, tier, isEnabled, isAdmin]),
      [
        [CUSTOMER, 'developer', true, false],
        [DEMO_ACCOUNT.username, 'operator', true, true],
        ['former@example.com', 'partner', false, false],
      ],
    );
    assert.deepEqual([first.tiers.length, first.feeds.length, first.imports.length], [1, 3, 3 * 14 + 2 + 1]);
    assert.ok(first.audit.length > 10 && first.audit.every(({ ts }) => ts < NOW));
  });

  await t.test(
    'the times agree: an account is older than what it did, imports are newer than the newest URLs',
    async () => {
      const added = first.audit.find(
        ({ action, subject }) => action === 'account.add' && subject === DEMO_ACCOUNT.username,
      );
      const account = first.accounts.find(({ username }) => username === DEMO_ACCOUNT.username);
      const oldestTs = Math.min(...first.audit.map(({ ts }) => ts));
      assert.deepEqual([added?.ts, added?.actor], [oldestTs, 'server']);
      assert.ok(account !== undefined && account.createdTs < NOW - 210 * DAY);
      const { newest } = await store.countUrls(0);
      const { newestEventTs } = await control.freshness();
      assert.ok((newestEventTs ?? 0) > Math.max(...newest.map(({ ts }) => ts)));
    },
  );

  await t.test('a second start changes nothing', async () => {
    await start(NOW);
    assert.deepEqual(await state(), first);
  });

  await t.test('months are the sums of their days, and the customer is close to its limit', async () => {
    assert.equal((await usageOf(CUSTOMER, NOW)).month, 4_700);
    for (let sub = ''; ; ) {
      const checked = await control.checkUsage(sub);
      if (checked === null) break;
      assert.ok(checked.rows >= 90 && checked.wrong.length === 0);
      sub = checked.sub;
    }
  });

  await t.test('a start on a later day adds days and imports, and keeps what was changed', async () => {
    await control.changeFeed('demo-late', { isPaused: true });
    await control.removeFeed('demo-failing');
    await start(NOW + DAY);
    const later = await state();
    assert.deepEqual(
      later.feeds.map(({ name, isPaused }) => [name, isPaused]),
      [
        ['demo-late', true],
        ['demo-urls', false],
      ],
    );
    const ofUrls = later.imports.filter(({ feed }) => feed === 'demo-urls');
    assert.equal(ofUrls.length, 15);
    assert.equal(later.imports.length, first.imports.length + 2, 'none of the removed feed');
    assert.ok((await usageOf(DEMO_ACCOUNT.username, NOW)).day > 0);
    assert.equal((await usageOf(CUSTOMER, NOW + DAY)).month, 4_700);
    assert.deepEqual([later.ids, later.audit], [first.ids, first.audit]);
  });

  await t.test('on the first day of a month the customer is close to its limit, too', async () => {
    const december = Date.UTC(2026, 11, 1, 12) / 1000;
    await start(december);
    assert.equal((await usageOf(CUSTOMER, december)).month, 4_700);
  });
});
