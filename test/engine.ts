import type { TestContext } from 'node:test';
import { createReceivedUploads, createRemoteOwner } from '../src/app/owner-calls.ts';
import type { WriteFor } from '../src/app/sqlite-stores.ts';
import { type Control, type DataPlace, type Intelligence, openControl, openIntelligence } from '../src/app/stores.ts';
import { createMemoryCounters } from '../src/limits/counters-memory.ts';
import { createSharedCounts } from '../src/limits/shared-counts.ts';
import type { Counters } from '../src/limits/store.ts';
import { createKnownUrlsBuffer } from '../src/urls/sqlite/known-urls.ts';
import { emptyDataFolder } from './empty-folder.ts';
import { memoryCounters } from './limits/process-counters.ts';
import { temporaryRedisCounters } from './limits/temporary-redis-counters.ts';
import { temporaryDatabase } from './servers/temporary-database.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { alternating, callByMessage } from './threads/two-threads.ts';

// Suites that use these functions run three times: on the embedded store, and with this variable on PostgreSQL and Redis
// (npm run test:scaled) and on the embedded store as two threads share it
// (npm run test:threads; only suites with data or accounts, the others would repeat the same).
const engine = process.env.URLWARDEN_TEST_ENGINE;
const isScaled = engine === 'scaled';
const hasThreads = engine === 'threads';

/** An empty place for the data of a test, removed afterwards. */
async function temporaryPlace(t: TestContext): Promise<DataPlace> {
  return isScaled
    ? { dataDir: temporaryFolder(t), databaseUrl: await temporaryDatabase(t) }
    : { dataDir: emptyDataFolder(t) };
}

/** Empty stores, closed and removed after the test. */
export function temporaryIntelligence(t: TestContext): Promise<Intelligence> {
  const knownUrls = createKnownUrlsBuffer();
  return openOnThreads(t, (place, writeFor) => openIntelligence(place, { knownUrls, ...(writeFor && { writeFor }) }));
}
export const temporaryControl = (t: TestContext): Promise<Control> => openOnThreads(t, openControl);

type Opened = Pick<Control, 'write' | 'close'>;

async function openOnThreads<Store extends Opened>(
  t: TestContext,
  open: (place: DataPlace, writeFor?: WriteFor) => Promise<Store>,
): Promise<Store> {
  const place = await temporaryPlace(t);
  const first = await open(place);
  let second: Store | undefined;
  // The second one may still write through the first one. Registered before the channel, which is closed later.
  t.after(async () => {
    await second?.close();
    await first.close();
  });
  if (!hasThreads) return first;
  const write: WriteFor = (_part, name, args) => first.write?.(name, args) ?? Promise.reject(new Error('no writes'));
  const call = callByMessage(t, { write });
  second = await open(place, (...args) => call('write', ...args));
  return alternating(first, second);
}

/** Counters with the given clock, closed after the test. */
export async function temporaryCounters(t: TestContext, control: Control, nowMs: () => number): Promise<Counters> {
  if (isScaled) return temporaryRedisCounters(t, control, { nowMs });
  if (hasThreads) return countersOnThreads(t, control, nowMs);
  const counters = memoryCounters(control, { nowMs });
  t.after(() => counters.close());
  return counters;
}

function countersOnThreads(t: TestContext, control: Control, nowMs: () => number): Counters {
  const counts = createSharedCounts(control, { nowMs });
  t.after(() => counts.close());
  const remote = createRemoteOwner(callByMessage(t, counts), createReceivedUploads());
  const first = createMemoryCounters(counts, { nowMs, thread: 0 });
  const second = createMemoryCounters(remote.counts, { nowMs, thread: 1 });
  return { ...alternating(first, second), countStreams: () => first.countStreams() + second.countStreams() };
}
