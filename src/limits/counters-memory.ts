import {
  type Cells,
  closeStream,
  createCellFinder,
  isAhead,
  openStream,
  type Place,
  read,
  refund,
  take,
  takeCall,
} from './count-cells.ts';
import type { CountsPort } from './shared-counts.ts';
import type { Counters, Reading } from './store.ts';

type MemoryCountersOptions = {
  nowMs(): number;
  /** The number of this thread in the process. */
  thread: number;
  /** Counts of an account that may be newer than those in the store. */
  newestReading?(sub: string): Reading | null;
};

/**
 * Counters of one process, in memory that its threads share. A query waits for the owner of the counts only when its
 * account is the first time on this thread.
 */
export function createMemoryCounters(
  counts: CountsPort,
  { nowMs, thread, newestReading = () => null }: MemoryCountersOptions,
): Counters {
  const now = () => Math.floor(nowMs() / 1000);
  const loaded = createAccountCells(
    (sub) => counts.loaded(sub, newestReading(sub)),
    (cells) => !isAhead(cells, now()),
  );
  const placed = createAccountCells(counts.place);

  return {
    take(sub, policies, weight) {
      const cells = loaded(sub);
      if (cells instanceof Promise) return cells.then((found) => take(found, thread, now(), policies, weight));
      return take(cells, thread, now(), policies, weight);
    },
    takeCall: async (sub, limit) => takeCall(await placed(sub), thread, now(), limit),
    read: async (sub) => read(await loaded(sub), thread, now()),
    async refund(sub, weight, ts) {
      // Without the store the account may not be loaded; the refund is written when the store is back.
      const cells = await Promise.resolve(loaded(sub)).catch(() => null);
      if (cells === null) counts.add(sub, ts, -weight);
      else refund(cells, thread, ts, weight);
    },
    ...createStreams(placed, thread),
  };
}

/** Returns a promise only until the account is found, and while it is found again. Concurrent callers share it. */
export function createAccountCells(
  find: (sub: string) => Place | Promise<Place>,
  isUsable: (cells: Cells) => boolean = () => true,
): (sub: string) => Cells | Promise<Cells> {
  const accounts = new Map<string, Promise<Cells> | Cells>();
  const cellsOf = createCellFinder();

  async function keep(sub: string): Promise<Cells> {
    const cells = cellsOf(await find(sub));
    accounts.set(sub, cells);
    return cells;
  }

  return (sub) => {
    const known = accounts.get(sub);
    if (known instanceof Promise || (known !== undefined && isUsable(known))) return known;
    const finding = keep(sub);
    accounts.set(sub, finding);
    finding.catch(() => accounts.delete(sub));
    return finding;
  };
}

/** Open streams are counted by process, also when queries are counted over several nodes. */
export function createStreams(
  cellsOf: (sub: string) => Cells | Promise<Cells>,
  thread: number,
): Pick<Counters, 'openStream' | 'countStreams'> {
  let open = 0;
  return {
    async openStream(sub, max) {
      const cells = await cellsOf(sub);
      if (!openStream(cells, thread, max)) return null;
      open++;
      return () => {
        open--;
        closeStream(cells, thread);
      };
    },
    countStreams: () => open,
  };
}
