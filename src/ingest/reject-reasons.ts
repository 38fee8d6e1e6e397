import type { Reject } from './store.ts';

/** `first`: the first of its rows. */
type RejectReason = { reason: string; rows: number; first: Reject[] };

/** Not `""`: a reason that explains quotes has them. */
const QUOTED_VALUE = /"(?:[^"\\]|\\.)+"/g;

/** Counts reasons, and keeps the first rows of each. Reasons that differ only in a quoted value are one. */
export function createReasons(keep: number) {
  const found = new Map<string, RejectReason>();
  return {
    add(reject: Reject): void {
      const reason = reject.reason.replace(QUOTED_VALUE, '"…"');
      const known = found.get(reason) ?? { reason, rows: 0, first: [] };
      found.set(reason, known);
      known.rows += 1;
      if (known.first.length < keep) known.first.push(reject);
    },
    /** The most frequent first. */
    all: (): RejectReason[] => [...found.values()].sort((a, b) => b.rows - a.rows),
  };
}
