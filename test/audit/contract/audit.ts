import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { cleanUpAudit } from '../../../src/audit/clean-up.ts';
import type { Actor } from '../../../src/audit/entry.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ALL_AUDIT, auditEntry } from '../audit-entry.ts';

const SERVER: Actor = { source: 'server', name: 'server', origin: 'host.example' };
/** 2026-03-15T12:00:00Z */
const NOW = 1_773_576_000;
const DAY = 86_400;

export function controlAuditSuite(open: OpenControl): void {
  suite('audit log', () => {
    test('entries are returned as they were added, the newest first', async (t) => {
      const control = await open(t);
      const changes = { reason: { old: null, new: 'a "quoted" ü' }, ads: { old: ['URL'], new: [] } };
      await control.addAudit(auditEntry({ ts: 20, changes }));
      await control.addAudit(auditEntry({ ts: 10, subject: 'gold', action: 'tier.set' }));
      await control.addAudit(auditEntry({ ts: 20, actor: SERVER, action: 'account.add', changes: {} }));
      const entries = await control.auditEntries(ALL_AUDIT);
      assert.deepEqual(
        entries.map(({ id: _, ...entry }) => entry),
        [
          {
            ts: 20,
            source: 'server',
            actor: 'server',
            origin: 'host.example',
            action: 'account.add',
            subject: 'ada@example.com',
            changes: {},
          },
          {
            ts: 20,
            source: 'cli',
            actor: 'grace',
            origin: 'host.example',
            action: 'account.set',
            subject: 'ada@example.com',
            changes,
          },
          {
            ts: 10,
            source: 'cli',
            actor: 'grace',
            origin: 'host.example',
            action: 'tier.set',
            subject: 'gold',
            changes: { tier: { old: 'standard', new: 'enterprise' } },
          },
        ],
      );
    });

    test('entries are found by time, subject and action', async (t) => {
      const control = await open(t);
      await control.addAudit(auditEntry({ ts: 1, action: 'account.add' }));
      await control.addAudit(auditEntry({ ts: 2, action: 'account.set', subject: 'bob' }));
      await control.addAudit(auditEntry({ ts: 3, action: 'allow.add', subject: 'bob' }));
      const times = async (filter: Partial<typeof ALL_AUDIT>) =>
        (await control.auditEntries({ ...ALL_AUDIT, ...filter })).map(({ ts }) => ts);
      assert.deepEqual(await times({ sinceTs: 2 }), [3, 2]);
      assert.deepEqual(await times({ sinceTs: 2, untilTs: 2 }), [2]);
      assert.deepEqual(await times({ subject: 'bob' }), [3, 2]);
      assert.deepEqual(await times({ subject: 'bo' }), []);
      assert.deepEqual(await times({ action: 'account.add' }), [1]);
      assert.deepEqual(await times({ action: 'account' }), [2, 1]);
      assert.deepEqual(await times({ action: 'a' }), []);
      assert.deepEqual(await times({ action: '%' }), []);
      assert.deepEqual(await times({ limit: 1 }), [3]);
    });

    test('the cleanup deletes all entries before the retention, once a day, and records it', async (t) => {
      const control = await open(t);
      for (let i = 0; i < 501; i++) await control.addAudit(auditEntry({ ts: 1_000 + i }));
      await control.addAudit(auditEntry({ ts: NOW - 59 * DAY, subject: 'two months ago, less one day' }));
      const { signal } = new AbortController();
      const cleanUp = (nowTs: number, months = 2) =>
        cleanUpAudit({ store: control, months, actor: SERVER, signal }, nowTs);
      const counts = await Promise.all([cleanUp(NOW), cleanUp(NOW)]);
      assert.deepEqual(counts.sort(), [0, 501], 'one of two nodes does it');
      const left = await control.auditEntries(ALL_AUDIT);
      assert.deepEqual(
        left.map(({ subject }) => subject),
        ['audit', 'two months ago, less one day'],
      );
      assert.deepEqual(left[0]?.changes, {
        entries: { old: null, new: 501 },
        before: { old: null, new: '2026-01-15T12:00:00Z' },
      });
      assert.equal(await control.startDailyTask('usage_cleanup', NOW), true, 'each task by itself');
      assert.equal(await cleanUp(NOW + DAY - 1, 1), 0, 'not yet due');
      assert.equal(await cleanUp(NOW + DAY, 1), 1);
    });

    test('a server that stops ends the cleanup after a batch, records it, and leaves the rest', async (t) => {
      const control = await open(t);
      for (let i = 0; i < 501; i++) await control.addAudit(auditEntry({ ts: 1_000 + i }));
      const stop = new AbortController();
      const removeOldAudit = (beforeTs: number, limit: number) => {
        stop.abort();
        return control.removeOldAudit(beforeTs, limit);
      };
      const store = { ...control, removeOldAudit };
      assert.equal(await cleanUpAudit({ store, months: 2, actor: SERVER, signal: stop.signal }, NOW), 500);
      const left = await control.auditEntries(ALL_AUDIT);
      assert.deepEqual([left.length, left[0]?.changes.entries?.new], [2, 500]);
    });

    test('a clock that is far ahead deletes nothing', async (t) => {
      const control = await open(t);
      const { signal } = new AbortController();
      const cleanUp = (nowTs: number) => cleanUpAudit({ store: control, months: 2, actor: SERVER, signal }, nowTs);
      await control.addAudit(auditEntry({ ts: NOW }));
      await cleanUp(NOW);
      assert.deepEqual(
        [await cleanUp(NOW + 365 * DAY), await cleanUp(NOW + 366 * DAY - 1), await cleanUp(NOW)],
        [0, 0, 0],
      );
      assert.equal((await control.auditEntries(ALL_AUDIT)).length, 1);
      assert.equal(await cleanUp(NOW + 100 * DAY), 0, 'the server was off');
      assert.equal(await cleanUp(NOW + 101 * DAY), 1);
    });
  });
}
