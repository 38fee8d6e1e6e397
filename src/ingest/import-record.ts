import { AppError } from '../core/errors.ts';
import type { ImportCounts, ImportStore } from './store.ts';

/** The stored record of a running import. */
export type ImportRecorder = {
  /** Counts a write that the database has confirmed. */
  addWrite(): void;
  /** Stores the counts. Throws if the database lacks writes that it had confirmed. */
  record(): Promise<void>;
  /** Ends the heartbeats and waits for the last one. */
  close(): Promise<void>;
};

type RecorderOptions = {
  control: Pick<ImportStore, 'importRunning'>;
  id: number;
  counts: ImportCounts;
  nowTs: () => number;
  heartbeatMs?: number | undefined;
};

/** An import without a heartbeat for two minutes is shown as interrupted (`import-state.ts`). */
const HEARTBEAT_MS = 10_000;

/**
 * Stores the counts from time to time: without them, a long import and a killed one would look the same. The number of
 * confirmed writes is stored too. If a standby that lagged is promoted, it lacks this number together with the writes.
 */
export function startRecorder({
  control,
  id,
  counts,
  nowTs,
  heartbeatMs = HEARTBEAT_MS,
}: RecorderOptions): ImportRecorder {
  let [writes, recordedWrites] = [0, 0];
  let heartbeat: Promise<void> = Promise.resolve();

  async function record(): Promise<void> {
    const sent = writes;
    const heartbeatTs = nowTs();
    if (!(await control.importRunning(id, { heartbeatTs, counts, writes: sent, recordedWrites }))) throw lostWrites();
    recordedWrites = Math.max(recordedWrites, sent);
  }

  const timer = setInterval(() => {
    // A failure is ignored: the next heartbeat is early enough, and the import itself notices that the store is down.
    heartbeat = record().catch(() => {});
  }, heartbeatMs).unref();

  return {
    addWrite() {
      writes++;
    },
    record,
    async close() {
      clearInterval(timer);
      await heartbeat;
    },
  };
}

function lostWrites(): AppError {
  const message =
    'The database lost changes that it had confirmed: a standby that lagged was promoted. Repeat the import.';
  return new AppError('unavailable', message);
}
