import { hostParts } from '../core/domain-name.ts';
import { FIRST_OFFLINE_KIND } from '../urls/store.ts';
import type { RebuildProgress } from './store.ts';

/** The steps of a rebuild, stored by their index. A step walks through a table by id. */
const REBUILD_STEPS = ['hosts', 'urls'] as const;

export type RebuildStep = (typeof REBUILD_STEPS)[number];

/**
 * Where a rebuild continues: after the row `afterId` of a step, up to `lastId`, which was the last row when the step began.
 * Rows that imports add meanwhile are right, and there may be more of them than a rebuild can follow.
 */
export type RebuildPlace = { step: RebuildStep; afterId: number; lastId: number };

export type PlaceRow = [step: number, afterId: number, lastId: number];

export function toPlace([step, afterId, lastId]: PlaceRow): RebuildPlace {
  return { step: REBUILD_STEPS[step] ?? 'hosts', afterId, lastId };
}

export function placeRow({ step, afterId, lastId }: RebuildPlace): PlaceRow {
  return [REBUILD_STEPS.indexOf(step), afterId, lastId];
}

/** What a page has done. `lastId`: its last row; null if there is no further one. */
export type RebuiltPage = { lastId: number | null; changed: number };

/** The place in the same step after a page; null after its last page. */
export function afterPage(place: RebuildPlace, { lastId }: RebuiltPage): RebuildPlace | null {
  return lastId === null || lastId >= place.lastId ? null : { ...place, afterId: lastId };
}

/** The part of the time that hosts take: there are fewer of them than URLs, and each takes less. */
const SHARE_OF_HOSTS = 0.2;

/** `next`: null at the end of the rebuild. */
export function progressOf(step: RebuildStep, { changed }: RebuiltPage, next: RebuildPlace | null): RebuildProgress {
  return {
    isDone: next === null,
    share: next === null ? 1 : shareAt(next),
    hostsChanged: step === 'hosts' ? changed : 0,
    urlsChanged: step === 'urls' ? changed : 0,
  };
}

function shareAt({ step, afterId, lastId }: RebuildPlace): number {
  const share = lastId === 0 ? 1 : afterId / lastId;
  return step === 'hosts' ? share * SHARE_OF_HOSTS : SHARE_OF_HOSTS + share * (1 - SHARE_OF_HOSTS);
}

export type HostRow = [id: number, host: string, domainId: number | null, ip: Uint8Array | null];

/** A host with its stored domain and address, and the right ones. */
export type HostChange = { id: number; oldId: number | null; domain: string | null; ip: Uint8Array | null };

/** The hosts whose domain or address may be another one. `idOf`: null for a domain that is not stored. */
export function hostChanges(rows: readonly HostRow[], idOf: (domain: string) => number | null): HostChange[] {
  const changes: HostChange[] = [];
  for (const [id, host, oldId, oldIp] of rows) {
    const { domain, ip } = hostParts(host);
    const isSameDomain = domain === null ? oldId === null : oldId !== null && idOf(domain) === oldId;
    const isSameIp = ip === null || oldIp === null ? ip === oldIp : Buffer.compare(ip, oldIp) === 0;
    if (!isSameDomain || !isSameIp) changes.push({ id, oldId, domain, ip });
  }
  return changes;
}

/** Entries of `events` that say that the URL was seen online. */
export const IS_ONLINE = `kind < ${FIRST_OFFLINE_KIND} and confirmed_ts is not null`;
