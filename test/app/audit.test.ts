import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createServerAudit } from '../../src/app/audit.ts';
import { DEFAULT_SETTINGS } from '../../src/config/settings.ts';
import { createOutages } from '../../src/health/outages.ts';
import { ALL_AUDIT, auditEntry } from '../audit/audit-entry.ts';
import { postgresControl } from '../postgres-control.ts';
import { temporaryControl } from '../temporary-control.ts';
import { until } from '../until.ts';

const NOW = 1_794_800_000;

test('a server that is stopped right after its start reports no outage of the database', async (t) => {
  const control = await postgresControl(t);
  const lines: string[] = [];
  const write = (_details: object, message: string) => void lines.push(message);
  const log = { error: write, warn: write, info: write };
  const outages = createOutages(log, () => performance.now());
  let hasFailed = false;
  const read = control.tiers;
  const slow = async () => {
    await control.close();
    return read().finally(() => {
      hasFailed = true;
    });
  };
  const audit = createServerAudit({
    control: { ...control, tiers: slow },
    settings: DEFAULT_SETTINGS,
    log,
    outages,
    now: () => NOW,
  });
  audit.start();
  await audit.close();
  await until(() => hasFailed, 'the read after the close');
  assert.deepEqual(lines, []);
});

test('a stop waits for the batch of the cleanup that is running, and no other follows', async (t) => {
  const control = await temporaryControl(t);
  for (let i = 0; i < 501; i++) await control.addAudit(auditEntry({ ts: 1_000 + i }));
  const log = { error: assert.fail, warn: assert.fail, info: () => {} };
  const parts = { settings: DEFAULT_SETTINGS, log, outages: createOutages(log, () => 0), now: () => NOW };

  const gate = Promise.withResolvers<void>();
  let isCleaned = false;
  const stopped = createServerAudit({
    ...parts,
    control: {
      ...control,
      tiers: () => gate.promise.then(control.tiers),
      startDailyTask: async () => (isCleaned = true),
    },
  });
  stopped.start();
  await stopped.close();
  gate.resolve();
  await setImmediate();
  assert.equal(isCleaned, false, 'a stop before the cleanup');

  const started = Promise.withResolvers<void>();
  const removeOldAudit = async (beforeTs: number, limit: number) => {
    started.resolve();
    await setImmediate();
    return control.removeOldAudit(beforeTs, limit);
  };
  const audit = createServerAudit({ ...parts, control: { ...control, removeOldAudit } });
  audit.start();
  await started.promise;
  await audit.close();
  const left = await control.auditEntries(ALL_AUDIT);
  assert.deepEqual([left.length, left[0]?.changes.entries?.new], [2, 500]);
});
