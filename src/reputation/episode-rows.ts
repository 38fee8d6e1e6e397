import { type ByteText, toByteText } from '../core/byte-text.ts';
import { ADDRESS_DATASETS, type ListingEvidence } from '../core/evidence.ts';
import type { Episode } from './episode-rules.ts';

/** Evidence as a row that is cheap to send to the writer thread. */
export type ListingEvidenceRow = [
  ip: ByteText,
  prefix: number,
  dataset: number,
  source: string,
  /** Empty without a family. */
  family: string,
  port: number,
  listedTs: number,
  ts: number,
  details: string,
];

/** The port of a listing without a port. */
export const NO_PORT = -1;
/** The id of the family of a listing without a family. */
export const NO_FAMILY = 0;

/** Evidence in order of key: neighbours in the index are written together. */
export function toListingEvidenceRows(evidence: readonly ListingEvidence[]): ListingEvidenceRow[] {
  return evidence
    .map(({ network, dataset, source, family, port, listedTs, ts, details }): ListingEvidenceRow => {
      const code = ADDRESS_DATASETS.indexOf(dataset);
      const ip = toByteText(network.ip);
      return [ip, network.prefix, code, source, family ?? '', port ?? NO_PORT, listedTs, ts, details];
    })
    .sort(compareRows);
}

/** How many columns identify a listing. */
const KEY_COLUMNS = 6;

function compareRows(a: ListingEvidenceRow, b: ListingEvidenceRow): number {
  for (let i = 0; i < KEY_COLUMNS; i++) {
    const [x, y] = [a[i] as string | number, b[i] as string | number];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

/** Calls `apply` once per listing, with its first row and all of its evidence. The rows are in order of key. */
export function forEachListing(
  rows: readonly ListingEvidenceRow[],
  apply: (row: ListingEvidenceRow, evidence: readonly Episode[]) => void,
): void {
  for (let at = 0; at < rows.length; ) {
    const first = rows[at] as ListingEvidenceRow;
    const evidence: Episode[] = [];
    for (
      let row: ListingEvidenceRow | undefined = first;
      row !== undefined && compareRows(first, row) === 0;
      row = rows[++at]
    ) {
      evidence.push({ listedTs: row[6], seenTs: row[7], details: row[8] });
    }
    apply(first, evidence);
  }
}

/** The times of the evidence that a known episode must be near to be joined with it. */
export function spanOf(evidence: readonly Episode[]): { fromTs: number; toTs: number } {
  let [fromTs, toTs] = [Number.POSITIVE_INFINITY, 0];
  for (const { listedTs, seenTs } of evidence) {
    fromTs = Math.min(fromTs, listedTs);
    toTs = Math.max(toTs, seenTs);
  }
  return { fromTs, toTs };
}
