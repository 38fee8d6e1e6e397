import assert from 'node:assert/strict';
import type { Intelligence } from '../../../src/app/stores.ts';
import { createFeed } from '../../../src/changes/feed.ts';
import type { AskedChanges } from '../../../src/changes/store.ts';
import { ADDRESS_DATASETS } from '../../../src/core/evidence.ts';
import { createAddressListCopy } from '../../../src/reputation/address-lists.ts';
import { createChangeViews } from '../../../src/reputation/change-views.ts';

export const ALL: AskedChanges = { urls: true, datasets: ADDRESS_DATASETS, domains: true };

export type Line = {
  seq: number;
  ts: number;
  op: 'add' | 'update' | 'remove';
  kind: 'url' | 'listing' | 'domain';
  key: string;
  id?: number;
  status?: { ts: number; status: string; removal: string; reporter: string } | null;
  payload?: { ts: number; sha256_hash: string | null; 'malware-family': string | null } | null;
  valid_until?: number;
  'is-listed'?: boolean;
  'listed-until'?: number;
};

/** The feed of a store as the server reads it, for documentation addresses too. `now` in Unix seconds. */
export function feedOf(store: Intelligence, now: () => number) {
  const lists = createAddressListCopy(store, { nowMs: () => now() * 1000 });
  const current = { listings: store.currentListings, domainState: store.currentDomain };
  const views = createChangeViews({ store: current, lists, now, allowReserved: true });
  return createFeed({ store, views, isStopping: () => false });
}

/** Reads a feed from a cursor to its newest entry. */
export async function readLines(
  store: Intelligence,
  after: number | null,
  { now, limit = 10_000, asked = ALL }: { now: number; limit?: number; asked?: AskedChanges },
): Promise<Line[]> {
  const { signal } = new AbortController();
  let text = '';
  for await (const page of feedOf(store, () => now).lines({ after, asked }, limit, signal)) text += page;
  const lines = text === '' ? [] : text.trimEnd().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  let last = after ?? -1;
  for (const { seq } of parsed) {
    assert.ok(seq > last, 'the numbers grow');
    last = seq;
  }
  return parsed;
}

/** `op kind key`, sorted. */
export const textOf = (lines: readonly Line[]): string[] =>
  lines.map(({ op, kind, key }) => `${op} ${kind} ${key}`).sort();
