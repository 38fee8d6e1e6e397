import { toBytes } from '../../core/byte-text.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { forEachListing, type ListingEvidenceRow, NO_FAMILY, spanOf } from '../episode-rows.ts';
import {
  type Episode,
  episodeChanges,
  lifeOf,
  mergeEpisodes,
  recordedOperation,
  type SourceLife,
} from '../episode-rules.ts';
import { blockOf } from '../listing-blocks.ts';
import { datasetOf, recordedListing } from '../listing-rows.ts';

const KEY = 'ip = ? and prefix = ? and dataset = ? and source_id = ? and family_id = ? and port = ?';

// The episodes that evidence may be joined with: usually none or one.
const NEAR = `
  select listed_ts, seen_ts, details from episodes where ${KEY} and listed_ts <= ? and seen_ts >= ?`;

const ADD = `
  insert into episodes (ip, prefix, dataset, source_id, family_id, port, listed_ts, seen_ts, details)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set seen_ts = excluded.seen_ts, details = excluded.details`;

const DELETE = `delete from episodes where ${KEY} and listed_ts = ?`;

const ADD_BLOCK = 'insert or ignore into listing_blocks (ip, block_prefix, prefix) values (?, ?, ?)';

const LIFE = 'select life_seconds, interval_seconds from sources where id = ?';

type NearRow = [listedTs: number, seenTs: number, details: string];
type LifeRow = [lifeSeconds: number | null, intervalSeconds: number | null];
type BatchSource = SourceLife & { id: number };

/** Applies evidence of listings, in order of key; returns how many episodes changed. */
export function createApplyListings(db: Database, { sources, families, changes, transaction }: Dictionaries) {
  const near = db.prepare<NearRow>(NEAR);
  const put = db.prepare(ADD);
  const remove = db.prepare(DELETE);
  const addBlock = db.prepare(ADD_BLOCK);
  const life = db.prepare<LifeRow>(LIFE);

  function sourceOf(name: string): BatchSource {
    const id = sources.idOf(name);
    const [lifeSeconds, intervalSeconds] = life.one(id);
    return { id, lifeSeconds, intervalSeconds };
  }

  function applyListing(row: ListingEvidenceRow, evidence: readonly Episode[], source: BatchSource): number {
    const [ipText, prefix, dataset, , family, port] = row;
    const ip = toBytes(ipText);
    const key = [ip, prefix, dataset, source.id, family === '' ? NO_FAMILY : families.idOf(family), port];
    const lifeSeconds = lifeOf(source, datasetOf(dataset));
    const { fromTs, toTs } = spanOf(evidence);
    const known = near
      .all(...key, toTs + lifeSeconds, fromTs - lifeSeconds)
      .map(([listedTs, seenTs, details]): Episode => ({ listedTs, seenTs, details }));
    const merged = mergeEpisodes(known, evidence, lifeSeconds);
    const { puts, deletes } = episodeChanges(known, merged);
    const op = recordedOperation(known, merged);
    if (op !== null) changes.listing(recordedListing(row), op);
    for (const { listedTs } of deletes) remove.run(...key, listedTs);
    for (const { listedTs, seenTs, details } of puts) put.run(...key, listedTs, seenTs, details);
    const block = known.length === 0 ? blockOf({ ip, prefix }) : null;
    if (block !== null) addBlock.run(block.ip, block.prefix, prefix);
    return puts.length + deletes.length;
  }

  return (rows: readonly ListingEvidenceRow[]): number =>
    transaction(() => {
      const known = new Map<string, BatchSource>();
      let changed = 0;
      forEachListing(rows, (row, evidence) => {
        const [, , , name] = row;
        const source = known.get(name) ?? sourceOf(name);
        known.set(name, source);
        changed += applyListing(row, evidence, source);
      });
      return changed;
    });
}
