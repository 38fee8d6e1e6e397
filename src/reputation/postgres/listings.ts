import type { Awaitable } from '../../core/awaitable.ts';
import { toByteText } from '../../core/byte-text.ts';
import { containsNetwork, KEY_BITS, type KeyNetwork, keyRanges, networkAt } from '../../core/ip/key-network.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database, Query } from '../../database/postgres/database.ts';
import { columns, type Param } from '../../database/postgres/parameters.ts';
import { createReadTogether } from '../../database/postgres/read-together.ts';
import { toListingEvidenceRows } from '../episode-rows.ts';
import { blocksAround } from '../listing-blocks.ts';
import {
  createListingExport,
  datasetCodes,
  EPISODE_COLUMNS,
  EPISODE_JOINS,
  EPISODE_KEY,
  type EpisodeRow,
  isSingleAddress,
  toListing,
} from '../listing-rows.ts';
import type { ListingKey, ListingQuery, ReputationStore, StoredListing } from '../store.ts';
import { createDerivedListings, createDerivedOfEach } from './derived.ts';
import { createApplyListings } from './episodes.ts';

export function createListings(
  primary: Database,
  read: Query,
): Pick<ReputationStore, 'applyListings' | 'listings' | 'exportListings'> {
  const applyListings = createApplyListings(primary);
  return {
    applyListings: async (evidence) => (evidence.length === 0 ? 0 : applyListings(toListingEvidenceRows(evidence))),
    listings: createReadListings(read),
    exportListings: createListingExport((after) => primary.query(EXPORT, after)),
  };
}

const COLUMNS = `e.details, ${EPISODE_COLUMNS}`;

type Row = [details: string, ...EpisodeRow];
type PageRow = [familyId: number, ...Row];

const toStored = ([details, ...row]: Row) => toListing(row, details);

/** A feed may name every port of an address. The event loop needs some milliseconds for so many rows. */
const ROWS_PER_READ = 2_000;

const FILTER = 'e.seen_ts >= $3 and e.dataset = any($4::smallint[])';

// $1, $2: the asked network and all wider ones. Read are those not wider than $5, and those with a length in use in a block
// around the asked network ($6, $7). As many rows as the limit may not be all.
const AROUND = `
  select ${COLUMNS}
  from unnest($1::bytea[], $2::smallint[]) as n (ip, prefix)
  join episodes e on e.ip = n.ip and e.prefix = n.prefix
  ${EPISODE_JOINS} where ${FILTER} and (n.prefix >= $5 or n.prefix = any (array(
    select l.prefix from unnest($6::bytea[], $7::smallint[]) as b (ip, block_prefix)
    join listing_blocks l on l.ip = b.ip and l.block_prefix = b.block_prefix)))
  limit ${ROWS_PER_READ}`;

// Not filtered: a statement must not examine more rows than it returns.
const PAGE = `
  select e.family_id, ${COLUMNS}
  from (
    select * from episodes e where (${EPISODE_KEY}) > ($1, $2, $3, $4, $5, $6, $7) and (e.ip, e.prefix) <= ($8, $9)
    order by ${EPISODE_KEY} limit ${ROWS_PER_READ}) e
  ${EPISODE_JOINS} order by ${EPISODE_KEY}`;

// Not filtered, so the primary key is enough. A network without rows is not returned; none has more than a statement reads.
const COUNTS = `
  select n.ip, n.prefix, count(*)
  from unnest($1::bytea[], $2::smallint[]) as n (ip, prefix)
  cross join lateral (select from episodes e where e.ip = n.ip and e.prefix = n.prefix limit ${ROWS_PER_READ}) e
  group by n.ip, n.prefix`;

type CountRow = [ip: Uint8Array, prefix: number, count: number];

/** Each group has fewer rows than a statement reads, or is one network. */
function groupsOf(counts: readonly CountRow[]): KeyNetwork[][] {
  const groups: KeyNetwork[][] = [];
  let rows = ROWS_PER_READ;
  for (const [ip, prefix, count] of counts) {
    rows += count;
    if (rows < ROWS_PER_READ) groups.at(-1)?.push({ ip, prefix });
    else {
      groups.push([{ ip, prefix }]);
      rows = count;
    }
  }
  return groups;
}

const keyOfRow = ([familyId, , ip, prefix, dataset, port, listedTs, , , sourceId]: PageRow): ListingKey => {
  return [ip, prefix, dataset, sourceId, familyId, port, listedTs];
};

/** Before all episodes of a network. */
const firstOf = ({ ip, prefix }: KeyNetwork): ListingKey => [ip, prefix, -1, 0, 0, 0, 0];

/** The networks whose listings are read: the asked one, if `isOwnIncluded`, and wider ones. */
function networksAround({ network, covering }: ListingQuery, isOwnIncluded: boolean) {
  const { ip, prefix } = network;
  const blocks = covering ? blocksAround(network) : [];
  const widest = blocks[0]?.prefix ?? prefix;
  const count = prefix - widest + (isOwnIncluded ? 1 : 0);
  return { blocks, networks: Array.from({ length: count }, (_, i) => networkAt(ip, widest + i)) };
}

type Around = ReturnType<typeof networksAround>;

type Asked = Pick<ListingQuery, 'seenSinceTs' | 'datasets'> & {
  signal?: Pick<AbortSignal, 'throwIfAborted'> | undefined;
};

/** Queries with the same filter as one for these networks: aborted if all queries are whose address is in one of them. */
function askedTogether(queries: readonly ListingQuery[], networks: readonly KeyNetwork[]): Asked {
  const { seenSinceTs, datasets } = queries[0] as ListingQuery;
  const throwIfAborted = () => {
    const asking = queries.filter(({ network }) => networks.some((one) => containsNetwork(one, network)));
    if (asking.every(({ signal }) => signal?.aborted)) asking[0]?.signal?.throwIfAborted();
  };
  return { seenSinceTs, datasets, signal: { throwIfAborted } };
}

function createReadListings(query: Query): ReputationStore['listings'] {
  const readDerived = createDerivedListings(query);
  const readDerivedOfEach = createDerivedOfEach(query);

  function readAround({ networks, blocks }: Around, prefix: number, filter: Param[]): Promise<Row[]> {
    return query<Row>(AROUND, [...toArrays(networks), ...filter, prefix, ...toArrays(blocks)]);
  }

  /** The listings of the networks from `first` to `last`, in order of their keys. */
  async function readPages(first: KeyNetwork, last: KeyNetwork, asked: Asked): Promise<StoredListing[]> {
    const found: StoredListing[] = [];
    for (let after: ListingKey | null = firstOf(first); after !== null; ) {
      asked.signal?.throwIfAborted();
      const rows: PageRow[] = await query<PageRow>(PAGE, [...after, last.ip, last.prefix]);
      for (const [, ...row] of rows) {
        const listing = toStored(row);
        if (listing.seenTs >= asked.seenSinceTs && asked.datasets.includes(listing.dataset)) found.push(listing);
      }
      const end = rows.at(-1);
      after = end === undefined || rows.length < ROWS_PER_READ ? null : keyOfRow(end);
    }
    return found;
  }

  async function readInside(asked: ListingQuery): Promise<StoredListing[]> {
    const { network } = asked;
    const ranges = keyRanges(network).map(([from, to]) =>
      readPages({ ip: from, prefix: network.prefix }, { ip: to, prefix: KEY_BITS }, asked),
    );
    return (await Promise.all(ranges)).flat().filter((listing) => listing.network.prefix >= network.prefix);
  }

  async function readNetworks(around: Around, prefix: number, asked: Asked): Promise<StoredListing[]> {
    const rows = await readAround(around, prefix, filterOf(asked));
    if (rows.length < ROWS_PER_READ) return rows.map(toStored);
    const found: StoredListing[][] = [];
    for (const network of around.networks) found.push(await readPages(network, network, asked));
    return found.flat();
  }

  async function readOne(query: ListingQuery): Promise<StoredListing[]> {
    const { network, inside, covering, datasets } = query;
    const isSingle = isSingleAddress(network);
    const isRange = inside && !isSingle;
    const isDerivable = datasets.includes('XBL') && (inside || isSingle);
    const [own, around, derived] = await Promise.all([
      isRange ? readInside(query) : [],
      covering || !isRange ? readNetworks(networksAround(query, !isRange), network.prefix, query) : [],
      isDerivable ? readDerived(network, query) : [],
    ]);
    return [...own, ...around, ...derived];
  }

  /**
   * The listings of each network, if they are too many for one statement: each network once, together with others if it has
   * few. One with many does not delay the others.
   */
  async function readGroups(networks: readonly KeyNetwork[], queries: readonly ListingQuery[]): Promise<ByNetwork> {
    const found: ByNetwork = new Map();
    for (const group of groupsOf(await query<CountRow>(COUNTS, toArrays(networks)))) {
      const read = readNetworks({ networks: group, blocks: [] }, 0, askedTogether(queries, group)).then(byNetwork);
      for (const network of group) {
        const key = keyOf(network);
        const own = read.then((listings) => listings.get(key) ?? []);
        found.set(key, own);
      }
    }
    return found;
  }

  /**
   * Of single addresses with the same filter. Each has some thirty networks around it, and most of these are common to many.
   * An address with many URLs does not delay the others.
   */
  function readMany(queries: readonly ListingQuery[]): Promise<StoredListing[]>[] {
    const first = queries[0] as ListingQuery;
    const around = queries.map((query) => networksAround(query, true));
    const all = {
      networks: distinct(around.flatMap(({ networks }) => networks)),
      blocks: distinct(around.flatMap(({ blocks }) => blocks)),
    };
    const stored = readAround(all, KEY_BITS, filterOf(first)).then(
      (rows): Awaitable<ByNetwork> =>
        rows.length < ROWS_PER_READ ? byNetwork(rows.map(toStored)) : readGroups(all.networks, queries),
    );
    const derived = first.datasets.includes('XBL') ? readDerivedOfEach(queries) : [];
    return around.map(async ({ networks }, i) => {
      // To wait for all thirty networks of an address takes 30 µs; few of them have listings.
      const own = stored.then((found) =>
        Promise.all(networks.map((network) => found.get(keyOf(network))).filter((listings) => listings !== undefined)),
      );
      const [ofNetworks, ofUrls = []] = await Promise.all([own, derived[i]]);
      return [...ofNetworks.flat(), ...ofUrls];
    });
  }

  /**
   * The score of a domain needs those of up to some thousand addresses: with two statements for each, 10,000 took longer
   * than a query may take.
   */
  const readTogether = createReadTogether(
    async (queries: readonly ListingQuery[]) => (queries.length === 1 ? queries.map(readOne) : readMany(queries)),
    ({ covering, seenSinceTs, datasets }) => [covering, seenSinceTs, ...datasets].join(' '),
  );
  return (query) => (isSingleAddress(query.network) ? readTogether(query) : readOne(query));
}

const filterOf = ({ seenSinceTs, datasets }: Asked): Param[] => [seenSinceTs, datasetCodes(datasets)];

const keyOf = ({ ip, prefix }: KeyNetwork): string => `${prefix} ${toByteText(ip)}`;

const toArrays = (networks: readonly KeyNetwork[]) => columns(2, networks, ({ ip, prefix }) => [ip, prefix]);

type ByNetwork = Map<string, Awaitable<StoredListing[]>>;

const byNetwork = (listings: readonly StoredListing[]) => Map.groupBy(listings, ({ network }) => keyOf(network));

const distinct = (networks: readonly KeyNetwork[]): KeyNetwork[] => [
  ...new Map(networks.map((network) => [keyOf(network), network])).values(),
];

const EXPORT = `
  select ${EPISODE_KEY}, e.seen_ts, e.details, sources.name, families.name
  from (
    select * from episodes e where (${EPISODE_KEY}) > ($1, $2, $3, $4, $5, $6, $7)
    order by ${EPISODE_KEY} limit ${PAGE_ROWS}) e
  ${EPISODE_JOINS} order by ${EPISODE_KEY}`;
