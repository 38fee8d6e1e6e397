import { cached } from '../../core/cached.ts';
import { IPV4_OFFSET, isIpv4Network, type KeyNetwork, lastAddress, networkAt } from '../../core/ip/key-network.ts';
import type { Reader } from '../../database/sqlite/database.ts';
import { blocksAround } from '../listing-blocks.ts';
import { type SourceRow, toSourceWithId } from '../listing-rows.ts';
import type { StoredListing } from '../store.ts';

/** There are some thousands of families. */
const MAX_FAMILIES = 10_000;

const SOURCE = 'select id, name, trust_permille, life_seconds, interval_seconds from sources where id = ?';
const FAMILY = 'select name from families where id = ?';
const IN_BLOCK = 'select prefix from listing_blocks where ip = ? and block_prefix = ?';
const HAS_BLOCKS = 'select 1 from listing_blocks where ip between ? and ? and block_prefix > ? limit 1';

/** Most IPv4 networks of this size have no smaller blocks, so that one lookup in memory answers for all their addresses. */
const CACHED_PREFIX = IPV4_OFFSET + 16;

/** The lengths of listed networks in the blocks down to this size, and whether there are smaller blocks. */
type Surroundings = { prefixes: readonly number[]; hasSmaller: boolean };

/** What most listings and queries have in common, as of the current read transaction. A join would cost 1 µs a row. */
export function createListingCache(db: Reader) {
  const findSource = db.prepare<SourceRow>(SOURCE);
  const findFamily = db.prepare<[string]>(FAMILY);
  const inBlock = db.prepare<[prefix: number]>(IN_BLOCK);
  const hasBlocks = db.prepare<[number]>(HAS_BLOCKS);
  const sources = new Map<number, StoredListing['source']>();
  /** By the first two bytes of an IPv4 address. */
  const surroundings = new Map<number, Surroundings>();
  let readVersion: number | undefined;

  function readPrefixes(blocks: readonly KeyNetwork[]): number[] {
    return blocks.flatMap(({ ip, prefix }) => inBlock.all(ip, prefix).map(([found]) => found));
  }

  function surroundingsOf(ip: Uint8Array): Surroundings {
    const key = ((ip[12] as number) << 8) | (ip[13] as number);
    const known = surroundings.get(key);
    if (known !== undefined) return known;
    const network = networkAt(ip, CACHED_PREFIX);
    const hasSmaller = hasBlocks.get(network.ip, lastAddress(network), CACHED_PREFIX) !== undefined;
    const read = { prefixes: readPrefixes(blocksAround({ ip, prefix: CACHED_PREFIX + 1 })), hasSmaller };
    surroundings.set(key, read);
    return read;
  }

  return {
    /** To be called first in each read transaction: sources and networks may have changed. */
    renew(): void {
      const current = db.version();
      if (current === readVersion) return;
      sources.clear();
      surroundings.clear();
      readVersion = current;
    },

    source(id: number): StoredListing['source'] {
      const known = sources.get(id);
      if (known !== undefined) return known;
      const source = toSourceWithId(findSource.one(id));
      sources.set(id, source);
      return source;
    },

    /** The name of a family never changes. */
    family: cached(MAX_FAMILIES, (id: number) => findFamily.one(id)[0]),

    /** The lengths of listed networks in the blocks around a network. */
    prefixesAround(network: KeyNetwork): readonly number[] {
      if (!isIpv4Network(network) || network.prefix <= CACHED_PREFIX) return readPrefixes(blocksAround(network));
      const { prefixes, hasSmaller } = surroundingsOf(network.ip);
      if (!hasSmaller) return prefixes;
      const smaller = blocksAround(network).filter(({ prefix }) => prefix > CACHED_PREFIX);
      return [...prefixes, ...readPrefixes(smaller)];
    },
  };
}
