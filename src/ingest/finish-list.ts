import type { Batch } from './batch.ts';
import { FORCE_HINT, type ImportEndState, LOST_SHARE_MAX } from './complete-listing.ts';
import type { ImportStores } from './retry.ts';
import { addCounts, type ImportCounts } from './store.ts';

type FinishOptions = { into: ImportStores | null; feed: string; isForced?: boolean };

/** Deletes the entries that the new version of a list lacks; not if the list looks cut off, or nothing in it was usable. */
export async function finishList(
  { into, feed, isForced }: FinishOptions,
  { listEnd, endsInReject }: Pick<Batch, 'listEnd' | 'endsInReject'>,
  counts: ImportCounts,
): Promise<ImportEndState | null> {
  if (listEnd === null || counts.evidence === 0) return null;
  const list = listEnd.source ?? feed;
  if (!isForced) {
    const reason = endsInReject && !listEnd.isWhole ? LIST_ENDS_IN_REJECT : await shrinkReason(into, list, listEnd.ts);
    if (reason !== null) return { outcome: 'refused', error: `${reason} ${LIST_KEPT} ${FORCE_HINT}`, listingTs: null };
  }
  const deleted = await into?.store.finishList(list, listEnd.ts);
  addCounts(counts, { listsChanged: deleted ?? 0 });
  return null;
}

const LIST_ENDS_IN_REJECT = 'The last row of the list was rejected, so the list may be cut off.';
const LIST_KEPT = 'Its entries were applied, but none was deleted.';

/** Shorter lists are edited by hand, and may lose most of their entries in one version. */
const GUARDED_ENTRIES_MIN = 20;

/** A list that lost its entries by a fault would exclude nothing: devices would block sites that many people share. */
async function shrinkReason(into: ImportStores | null, list: string, ts: number): Promise<string | null> {
  if (into === null) return null;
  const { entries, missing } = await into.store.listEffect(list, ts);
  if (entries < GUARDED_ENTRIES_MIN || missing <= entries * LOST_SHARE_MAX) return null;
  return `The list would delete ${missing} of the ${entries} entries of ${list}, more than half.`;
}
