import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Control } from '../../../src/app/stores.ts';
import type { NewAuditEntry } from '../../../src/audit/entry.ts';
import { type AboveSoftLimit, createSoftLimitWatch } from '../../../src/audit/soft-limit.ts';
import type { SoftLimitEvent } from '../../../src/audit/store.ts';
import { windowIndex } from '../../../src/core/quota.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ADA, BOB, GOLD } from '../../app/control-records.ts';
import { ALL_AUDIT, auditEntry } from '../audit-entry.ts';

/** 2026-10-15 and 2026-11-15 */
const TS = 1_792_022_400;
const NEXT_MONTH_TS = 1_794_700_800;
const MONTH = windowIndex('month', TS);

const eventOf = (values: Partial<SoftLimitEvent> = {}): SoftLimitEvent => ({
  id: 'event-1',
  sub: ADA.sub,
  username: ADA.username,
  tier: 'gold',
  limit: 10,
  count: 11,
  month: MONTH,
  ts: TS,
  ...values,
});

const aboveOf = (values: Partial<AboveSoftLimit> = {}): AboveSoftLimit => ({
  sub: ADA.sub,
  limit: 10,
  count: 11,
  ts: TS,
  ...values,
});

function watchOf(control: Control, store: Pick<Control, 'addSoftLimitEvent' | 'monthUsageWithoutEvent'> = control) {
  const events: SoftLimitEvent[] = [];
  const entries: NewAuditEntry[] = [];
  const failures: unknown[] = [];
  const watch = createSoftLimitWatch({
    store,
    accountOf: (sub) => control.accountBySub(sub),
    softLimits: async () => new Map([['gold', GOLD.qms]]),
    hasWebhook: true,
    actor: { source: 'server', name: 'server', origin: 'host.example' },
    onEvent(event, entry) {
      events.push(event);
      entries.push(entry);
    },
    onFailure: (error) => failures.push(error),
  });
  return { watch, events, entries, failures };
}

const auditOf = async (control: Control) =>
  (await control.auditEntries(ALL_AUDIT)).map(({ action, subject }) => [action, subject]);

export function controlSoftLimitSuite(open: OpenControl): void {
  suite('events of soft limits', () => {
    test('an account has one event a month, with one entry in the audit log', async (t) => {
      const control = await open(t);
      const add = (event: SoftLimitEvent) =>
        control.addSoftLimitEvent(event, null, auditEntry({ subject: `${event.sub} ${event.month}` }));
      const both = await Promise.all([add(eventOf()), add(eventOf({ id: 'event-2', count: 12 }))]);
      assert.deepEqual(both.sort(), [false, true]);
      assert.equal(await add(eventOf({ month: MONTH + 1 })), true);
      assert.equal(await add(eventOf({ sub: BOB.sub })), true);
      const subjects = (await control.auditEntries(ALL_AUDIT)).map(({ subject }) => subject).sort();
      assert.deepEqual(subjects, [`${ADA.sub} ${MONTH}`, `${ADA.sub} ${MONTH + 1}`, `${BOB.sub} ${MONTH}`]);
    });

    test('a due event is claimed by one node until its lease is over, and not after it was delivered', async (t) => {
      const control = await open(t);
      await control.addSoftLimitEvent(eventOf(), TS, auditEntry({}));
      await control.addSoftLimitEvent(eventOf({ sub: BOB.sub, id: 'no webhook' }), null, auditEntry({}));
      assert.equal(await control.claimSoftLimitEvent(TS - 1, TS + 60), null);
      const claims = await Promise.all([1, 2, 3].map(() => control.claimSoftLimitEvent(TS, TS + 60)));
      assert.deepEqual(
        claims.filter((claim) => claim !== null),
        [{ ...eventOf(), attempts: 1 }],
      );
      assert.equal(await control.claimSoftLimitEvent(TS + 59, TS + 119), null);
      assert.deepEqual(await control.claimSoftLimitEvent(TS + 60, TS + 120), { ...eventOf(), attempts: 2 });
      await control.endSoftLimitAttempt(eventOf(), { deliveredTs: null, nextTs: TS + 200, error: 'away \0' });
      assert.equal(await control.claimSoftLimitEvent(TS + 199, TS + 999), null);
      assert.equal((await control.claimSoftLimitEvent(TS + 200, TS + 999))?.attempts, 3);
      await control.endSoftLimitAttempt(eventOf(), { deliveredTs: TS + 201, nextTs: null, error: null });
      assert.equal(await control.claimSoftLimitEvent(TS + 9_999, TS + 9_999), null);
    });

    test('old events are removed', async (t) => {
      const control = await open(t);
      await control.addSoftLimitEvent(eventOf(), TS, auditEntry({}));
      await control.removeSoftLimitEvents(TS);
      assert.notEqual(await control.claimSoftLimitEvent(TS, TS), null);
      await control.removeSoftLimitEvents(TS + 1);
      assert.equal(await control.claimSoftLimitEvent(TS, TS), null);
    });

    test('the events of an account are removed with it', async (t) => {
      const control = await open(t);
      await control.putTier(GOLD);
      await control.addAccount(ADA);
      await control.addSoftLimitEvent(eventOf(), TS, auditEntry({}));
      await control.removeAccount(ADA.sub, TS);
      assert.equal(await control.claimSoftLimitEvent(TS, TS), null);
    });

    test('queries above the limit make one event a month, on any number of nodes and after a restart', async (t) => {
      const control = await open(t);
      await control.putTier(GOLD);
      await control.addAccount({ ...ADA, tier: 'gold' });
      const nodes = [watchOf(control), watchOf(control)];
      for (const { watch } of nodes) for (const count of [11, 12, 13]) watch.above(aboveOf({ count }));
      await Promise.all(nodes.map(({ watch }) => watch.close()));
      const events = nodes.flatMap(({ events }) => events);
      assert.equal(events.length, 1);
      const { id, ...event } = events[0] as SoftLimitEvent;
      assert.match(id, /^[0-9a-f-]{36}$/);
      assert.deepEqual({ ...event, count: 0 }, { ...eventWithoutId(), count: 0 });
      const restarted = watchOf(control);
      restarted.watch.above(aboveOf({ count: 14 }));
      await restarted.watch.close();
      assert.deepEqual(restarted.events, []);
      restarted.watch.above(aboveOf({ ts: NEXT_MONTH_TS }));
      restarted.watch.above(aboveOf({ sub: '99999999' })); // removed since
      await restarted.watch.close();
      assert.deepEqual(
        restarted.events.map(({ month }) => month),
        [MONTH + 1],
      );
      assert.deepEqual(await auditOf(control), Array(2).fill(['account.soft-limit', ADA.username]));
    });

    test('an event that could not be stored is tried again', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      let isAway = true;
      const addSoftLimitEvent: Control['addSoftLimitEvent'] = (...args) =>
        isAway ? Promise.reject(new Error('away')) : control.addSoftLimitEvent(...args);
      const { watch, events, failures } = watchOf(control, { ...control, addSoftLimitEvent });
      watch.above(aboveOf());
      watch.above(aboveOf());
      await watch.close();
      await watch.retry();
      assert.deepEqual([events.length, failures.length], [0, 2], 'one attempt for all queries, and one retry');
      isAway = false;
      await watch.retry();
      await watch.retry();
      assert.deepEqual([events.length, failures.length], [1, 2]);
    });

    test('accounts above their limit are found without a query', async (t) => {
      const control = await open(t);
      await control.putTier(GOLD);
      await control.addAccount({ ...ADA, tier: 'gold' });
      await control.addAccount({ ...BOB, tier: 'gold' });
      const used = (sub: string, month: number, count: number) => ({ sub, day: 1, month, count });
      await control.addUsage([used(ADA.sub, MONTH, GOLD.qms + 1), used(BOB.sub, MONTH, GOLD.qms)]);
      await control.addUsage([used(BOB.sub, MONTH - 1, GOLD.qms + 1), used('99999999', MONTH, 99)]);
      const { watch, events } = watchOf(control);
      await watch.findAll(TS);
      await watch.findAll(TS);
      assert.deepEqual(
        events.map(({ id: _, ...event }) => event),
        [eventWithoutId()],
      );
    });

    test('the usage of a month is read in pages, without accounts that have an event in it', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      await control.addAccount(BOB);
      await control.addUsage([ADA, BOB].map(({ sub }, i) => ({ sub, day: MONTH, month: MONTH, count: i + 1 })));
      const page = async (after: string, limit: number) =>
        (await control.monthUsageWithoutEvent(MONTH, after, limit)).map(({ sub, count }) => [sub, count]);
      assert.deepEqual(await page('', 1), [[ADA.sub, 1]]);
      assert.deepEqual(await page(ADA.sub, 1), [[BOB.sub, 2]]);
      assert.deepEqual(await page(BOB.sub, 1), []);
      await control.addSoftLimitEvent(eventOf({ month: MONTH - 1 }), null, auditEntry({}));
      await control.addSoftLimitEvent(eventOf({ sub: BOB.sub }), null, auditEntry({}));
      assert.deepEqual(await page('', 9), [[ADA.sub, 1]]);
    });

    test('an account above its limit is found on any page', async (t) => {
      const control = await open(t);
      const usageOf = (sub: string, count: number) => ({ sub, username: sub, tier: 'gold', count });
      const monthUsageWithoutEvent = async (_month: number, after: string, limit: number) =>
        after === ''
          ? Array.from({ length: limit }, (_, i) => usageOf(String(i), 1))
          : [usageOf(ADA.sub, GOLD.qms + Number(after))];
      const { watch, events } = watchOf(control, { ...control, monthUsageWithoutEvent });
      await watch.findAll(TS);
      assert.deepEqual(
        events.map(({ sub }) => sub),
        [ADA.sub],
      );
    });
  });
}

function eventWithoutId() {
  const { id: _, ...event } = eventOf();
  return event;
}
