import { totalmem } from 'node:os';
import type { Settings } from '../config/settings.ts';
import { createListCopies, type ListCopies } from '../exports/copies.ts';
import type { ListBuilder } from '../exports/list-builder.ts';
import type { Log, Outages } from '../health/outages.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { allowMemoryRelease } from '../threads/release-memory.ts';
import { createWorkerThread, workerEntry } from '../threads/worker-thread.ts';
import type { Control, DataPlace, Intelligence } from './stores.ts';

/** What the thread that builds lists gets. */
export type ListBuilderStart = { place: DataPlace; allowReserved: boolean; maxBytes: number };

type ListParts = {
  store: Intelligence;
  control: Control;
  settings: Settings;
  metrics: Metrics | undefined;
  outages: Outages;
  log: Log<'error'>;
  now(): number;
};

const LIST_FAILED = 'a list could not be built; its last copy is served';

/** The lists of this process, built on a thread that starts with the first fetch. */
export function openListCopies({ store, control, settings, metrics, outages, log, now }: ListParts): ListCopies & {
  close(): Promise<void>;
} {
  const { dataDir, databaseUrl, allowReserved } = settings;
  allowMemoryRelease();
  const thread = createWorkerThread<ListBuilder>(workerEntry('list-builder-thread', import.meta.url), {
    // Without replicas: a copy is current as long as the primary has no newer change, so a list that was built while a
    // replica lagged would stay.
    place: { dataDir, databaseUrl, databaseConnections: CONNECTIONS },
    allowReserved,
    maxBytes: MAX_BYTES,
  } satisfies ListBuilderStart);
  const copies = createListCopies({
    builder: {
      build: (...args) => thread.call('build', ...args),
      render: (...args) => thread.call('render', ...args),
      compress: (...args) => thread.call('compress', ...args),
      explain: (...args) => thread.call('explain', ...args),
    },
    now,
    clockMs: () => performance.now(),
    newestChange: store.newestChange,
    listsVersion: control.listsVersion,
    exclusions: control.exclusions,
    listSerial: control.listSerial,
    maxBytes: MAX_BYTES,
    onFailure(err, list) {
      metrics?.failed('list_build');
      if (!outages.report(err)) log.error({ err, task: 'list_build', list }, LIST_FAILED);
    },
  });
  return { ...copies, close: thread.close };
}

/**
 * Of the entries of all lists, and of their variants: an eighth of the memory of the machine or the container. A list of a million
 * URLs has 110 MB of entries, and 48 MB as text.
 */
const MAX_BYTES = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / 8;

/** It reads one list at a time. */
const CONNECTIONS = 2;
