import { type KeyNetwork, keyRanges, networkAt } from '../../core/ip/key-network.ts';
import { PAGE_ROWS, readPages, runSteps } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import { NO_FAMILY, toEvidenceRows } from '../episode-rows.ts';
import { blocksAround } from '../listing-blocks.ts';
import {
  datasetCodes,
  datasetOf,
  type ExportRow,
  inNetworkOrder,
  isSingleAddress,
  portOf,
  type SourceRow,
  toSource,
} from '../listing-rows.ts';
import type { ListingQuestion, ReputationStore, StoredListing } from '../store.ts';
import { createDerivedListings } from './derived.ts';
import type { ReputationWrites } from './writes.ts';

export function createListings({
  db,
  write,
}: DatabaseFile<ReputationWrites>): Pick<ReputationStore, 'applyListings' | 'listings' | 'exportListings'> {
  return {
    applyListings: async (evidence) => (evidence.length === 0 ? 0 : write('applyListings', toEvidenceRows(evidence))),
    listings: createReadListings(db),
    exportListings: createExportListings(db),
  };
}

// Without most of the empty texts and all blobs: a blob costs 1.4 µs, its digits 0.6, an empty text 0.4 more than a null.
const VALUES = "dataset, source_id, family_id, port, listed_ts, seen_ts, nullif(details, '')";

type ValueRow = [
  dataset: number,
  sourceId: number,
  familyId: number,
  port: number,
  listedTs: number,
  seenTs: number,
  details: string | null,
];

const IN_BLOCK = 'select prefix from listing_blocks where ip = ? and block_prefix = ?';

const OF_NETWORK = `select ${VALUES} from episodes where ip = ? and prefix = ?`;

// Not filtered by time: a statement must not examine more rows than it returns.
const IN_RANGE = `
  select hex(ip), prefix, ${VALUES} from episodes
  where (ip, prefix, dataset, source_id, family_id, port, listed_ts) > (?, ?, ?, ?, ?, ?, ?) and ip <= ?
  order by ip, prefix, dataset, source_id, family_id, port, listed_ts limit ${PAGE_ROWS}`;

type RangeRow = [ipHex: string, prefix: number, ...ValueRow];

/** Before all rows of an address. */
const FIRST_OF_ADDRESS = [-1, 0, 0, 0, 0, 0];

function createReadListings(db: Database): ReputationStore['listings'] {
  const inBlock = db.prepare<[prefix: number]>(IN_BLOCK);
  const ofNetwork = db.prepare<ValueRow>(OF_NETWORK);
  const inRange = db.prepare<RangeRow>(IN_RANGE);
  const names = createNames(db);
  const readDerived = createDerivedListings(db);

  /** Adds a row to the result if it is asked for. `at`: where the values begin in the row. */
  function addRow(found: StoredListing[], question: Asked, network: KeyNetwork, row: readonly unknown[], at: number) {
    const dataset = row[at] as number;
    const seenTs = row[at + 5] as number;
    if (seenTs < question.seenSinceTs || !question.codes.includes(dataset)) return;
    const familyId = row[at + 2] as number;
    found.push({
      network,
      dataset: datasetOf(dataset),
      source: names.source(row[at + 1] as number),
      family: familyId === NO_FAMILY ? null : names.family(familyId),
      port: portOf(row[at + 3] as number),
      listedTs: row[at + 4] as number,
      seenTs,
      details: (row[at + 6] as string | null) ?? '',
    });
  }

  function addNetwork(found: StoredListing[], question: Asked, network: KeyNetwork): void {
    for (const row of ofNetwork.all(network.ip, network.prefix)) addRow(found, question, network, row, 0);
  }

  function addWider(found: StoredListing[], question: Asked): void {
    for (const block of blocksAround(question.network)) {
      for (const [prefix] of inBlock.all(block.ip, block.prefix)) {
        if (prefix < question.network.prefix) addNetwork(found, question, networkAt(question.network.ip, prefix));
      }
    }
  }

  function* addInside(found: StoredListing[], question: Asked): Steps {
    for (const [from, to] of keyRanges(question.network)) {
      for (let key: RangeKey | null = [from, ...FIRST_OF_ADDRESS]; key !== null; ) {
        const rows: RangeRow[] = inRange.all(...(key as never[]), to);
        for (const row of rows) {
          const prefix = row[1];
          if (prefix < question.network.prefix) continue;
          addRow(found, question, { ip: Buffer.from(row[0], 'hex'), prefix }, row, 2);
        }
        key = nextKey(rows);
        if (key === null) continue;
        key[0] = Buffer.from(key[0] as string, 'hex');
        yield;
      }
    }
  }

  function* read(question: Asked): Generator<void, StoredListing[], void> {
    const { network, inside, covering, datasets, seenSinceTs } = question;
    const isSingle = isSingleAddress(network);
    const found: StoredListing[] = [];
    names.renew();
    if (covering) addWider(found, question);
    if (inside && !isSingle) yield* addInside(found, question);
    else addNetwork(found, question, network);
    if (datasets.includes('XBL') && (inside || isSingle)) {
      for (const listing of yield* readDerived(network)) if (listing.seenTs >= seenSinceTs) found.push(listing);
    }
    return found;
  }

  return (question) => runSteps(read({ ...question, codes: datasetCodes(question.datasets) }));
}

type Steps = Generator<void, void, void>;
type Asked = ListingQuestion & { codes: readonly number[] };

/** The values of the primary key. */
type RangeKey = (Uint8Array | number | string)[];
const KEY_COLUMNS = 7;

/** The key after which the next page begins; null after the last page. */
function nextKey(rows: readonly unknown[][]): RangeKey | null {
  return rows.length < PAGE_ROWS ? null : ((rows.at(-1) as unknown[]).slice(0, KEY_COLUMNS) as RangeKey);
}

/** There are some thousands of families. A full cache is cleared. */
const MAX_FAMILIES = 10_000;

const SOURCE = 'select id, name, trust_permille, life_seconds, interval_seconds from sources where id = ?';
const FAMILY = 'select name from families where id = ?';

/** Sources and families by id. A join would cost 1 µs a row. */
function createNames(db: Database) {
  const findSource = db.prepare<SourceRow>(SOURCE);
  const findFamily = db.prepare<[string]>(FAMILY);
  const version = db.prepare<[number]>('pragma data_version');
  const sources = new Map<number, StoredListing['source']>();
  const families = new Map<number, string>();
  let readVersion: number | undefined;
  return {
    /** To be called first in each read transaction: sources may have changed. */
    renew(): void {
      const current = version.get()?.[0];
      if (current !== readVersion) sources.clear();
      readVersion = current;
    },

    source(id: number): StoredListing['source'] {
      const cached = sources.get(id);
      if (cached !== undefined) return cached;
      const source = toSource(findSource.one(id));
      sources.set(id, source);
      return source;
    },

    /** The name of a family never changes. */
    family(id: number): string {
      const cached = families.get(id);
      if (cached !== undefined) return cached;
      const [name] = findFamily.one(id);
      if (families.size >= MAX_FAMILIES) families.clear();
      families.set(id, name);
      return name;
    },
  };
}

const EXPORT = `
  select e.ip, e.prefix, e.dataset, e.source_id, e.family_id, e.port, e.listed_ts, e.seen_ts, e.details, sources.name,
    families.name
  from episodes e join sources on sources.id = e.source_id left join families on families.id = e.family_id
  where (e.ip, e.prefix, e.dataset, e.source_id, e.family_id, e.port, e.listed_ts) > (?, ?, ?, ?, ?, ?, ?)
  order by e.ip, e.prefix, e.dataset, e.source_id, e.family_id, e.port, e.listed_ts limit ${PAGE_ROWS}`;

const BEFORE_ALL: RangeKey = [new Uint8Array(0), ...FIRST_OF_ADDRESS];

function createExportListings(db: Database): ReputationStore['exportListings'] {
  const rows = db.prepare<ExportRow>(EXPORT);
  return (signal) =>
    inNetworkOrder(
      readPages<ExportRow, RangeKey>(BEFORE_ALL, { limit: Number.POSITIVE_INFINITY, signal }, (after) => {
        const items = rows.all(...(after as never[]));
        return { items, next: nextKey(items) };
      }),
    );
}
