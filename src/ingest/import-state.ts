import type { ImportOutcome, ImportRecord } from './store.ts';

/** As shown by `import list`. `interrupted`: its process was killed, or the database was unavailable when it ended. */
type ImportState = ImportOutcome | 'running' | 'interrupted';

/**
 * A running import writes a heartbeat every ten seconds, and waits up to 80 s for an unavailable database. The clocks of
 * two machines may differ a little.
 */
export const INTERRUPTED_SECONDS = 120;

/** By heartbeats, not by process ids: the process may be on another machine. */
export function importState({ outcome, startedTs, heartbeatTs }: ImportRecord, nowTs: number): ImportState {
  if (outcome !== null) return outcome;
  return nowTs - (heartbeatTs ?? startedTs) > INTERRUPTED_SECONDS ? 'interrupted' : 'running';
}
