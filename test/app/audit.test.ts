import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServerAudit } from '../../src/app/audit.ts';
import { DEFAULT_SETTINGS } from '../../src/config/settings.ts';
import { createOutages } from '../../src/health/outages.ts';
import { postgresControl } from '../postgres-control.ts';
import { until } from '../until.ts';

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
    ...{ control: { ...control, tiers: slow }, settings: DEFAULT_SETTINGS, log, outages },
    now: () => 1_794_800_000,
  });
  audit.start();
  await audit.close();
  await until(() => hasFailed, 'the read after the close');
  assert.deepEqual(lines, []);
});
