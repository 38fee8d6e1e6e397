import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { formatKeyNetwork, KEY_BITS } from '../core/ip/key-network.ts';
import { URL_SOURCE } from '../reputation/store.ts';
import { NULL, statusJson, toJson } from '../urls/wire.ts';
import type { Change, ListingSubject, UrlState } from './store.ts';

// The JSON of the change feed. A key whose value is unknown is absent in listings and domains, and null in URLs, as in the
// other responses about them.

/** The present state of listings and domains. */
export type ChangeViews = {
  /** To be called after the changes were read, once for a page of them. */
  listings(): Promise<(listing: string | ListingSubject) => Promise<ListingView | null>>;
  domain(name: string): Promise<object | null>;
};
/** `isShown`: false if the operator has taken it away. */
type ListingView = { validUntilTs: number; isShown: boolean };

/** The line of a change; null if nobody is shown its subject. */
export async function changeLine(
  change: Change,
  viewListing: (listing: string | ListingSubject) => Promise<ListingView | null>,
  viewDomain: ChangeViews['domain'],
): Promise<string | null> {
  const { seq, ts, op } = change;
  const start = (shownOp: string, key: string) =>
    `{"seq":${seq},"ts":${ts},"op":"${shownOp}","kind":"${change.kind}","key":${JSON.stringify(key)}`;
  if (change.kind === 'url') return `${start(op, change.url.url)},${urlMembers(change.url)}}`;
  if (change.kind === 'domain') {
    const view = await viewDomain(change.domain);
    return view && `${start(op, change.domain)},${JSON.stringify(view).slice(1)}`;
  }
  const view = await viewListing(change.listing);
  if (view === null) return null;
  const { members, key } = listingParts(change.listing);
  if (!view.isShown) return `${start('remove', key)},${members}}`;
  return `${start(op === 'remove' ? 'update' : op, key)},${members},"valid_until":${view.validUntilTs}}`;
}

function urlMembers({ id, status, payload }: UrlState): string {
  const { ts, kind, removal, reporter } = status ?? { ts: 0, kind: 0, removal: '', reporter: '' };
  const statusText = status === null ? NULL : statusJson(ts, kind, toJson(removal), toJson(reporter));
  const payloadText =
    payload === null
      ? NULL
      : `{"ts":${payload.ts},"sha256_hash":${toJson(payload.sha256)},"malware-family":${toJson(payload.family)}}`;
  return `"id":${id},"status":${statusText},"payload":${payloadText}`;
}

/** The key of a listing, and its parts. The family of a listing that follows from URLs may change, so it has none. */
function listingParts(listing: string | ListingSubject): { key: string; members: string } {
  const isDerived = typeof listing === 'string';
  const [ip, prefix, code, source, family, port] = isDerived
    ? [listing, KEY_BITS, 0, URL_SOURCE.name, null, null]
    : listing;
  const ipaddress = formatKeyNetwork({ ip: Buffer.from(ip, 'hex'), prefix });
  const dataset = ADDRESS_DATASETS[code] ?? '';
  const parts = {
    dataset,
    ipaddress,
    source,
    ...(family !== null && { botname: family }),
    ...(port !== null && { dstport: port }),
  };
  return {
    key: [dataset, ipaddress, source, family ?? '', port ?? ''].join('|'),
    members: JSON.stringify(parts).slice(1, -1),
  };
}
