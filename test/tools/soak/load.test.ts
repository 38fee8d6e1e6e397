import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoadOptions, loadSoak } from '../../../tools/soak/load.ts';

const SHORT = {
  minutes: 0.05,
  urls: 2_000,
  importRows: 500,
  warmUpMs: 300,
  peakMs: 700,
  downMs: 300,
  log: () => {},
} satisfies Partial<LoadOptions>;

test('under load, with an import and changes of an account, the embedded store answers and counts exactly', async (t) => {
  const only = ['import', 'revoke', 'disable and enable'];
  const { problems, answered, statuses } = await loadSoak('embedded', { ...SHORT, only, signal: t.signal });
  assert.deepEqual(problems, []);
  assert.ok(answered > 500, `${answered} answers`);
  assert.ok((statuses[401] ?? 0) > 0 && (statuses[403] ?? 0) > 0, JSON.stringify(statuses));
});

test('under load, with a restart of Redis, PostgreSQL and Redis answer and count exactly', async (t) => {
  const { problems, answered } = await loadSoak('scaled', { ...SHORT, only: ['restart of Redis'], signal: t.signal });
  assert.deepEqual(problems, []);
  assert.ok(answered > 200, `${answered} answers`);
});
