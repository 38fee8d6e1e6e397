/** A set of URLs that may claim to have a URL that was never added, but never the opposite. */
export type UrlFilter = {
  add(url: string): void;
  mayHave(url: string): boolean;
};

/** With 16 bits for each URL one unknown URL in a thousand is taken for a known one. */
export const WORDS_PER_TWO_URLS = 1;

/** A URL sets one bit in each word of one block, so that a lookup reads one line of the processor's cache. */
const BLOCK_WORDS = 8;
/** Odd numbers that spread the bits: those of Apache Parquet, whose split block Bloom filter this is. */
const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31] as const;

/**
 * `words`: all zero at first, a power of two of them. Threads may share it: bits are set atomically and never cleared.
 * Not by the key of the URL, because SHA-256 takes five times as long. Somebody who finds URLs with equal hashes only makes
 * lookups of them as slow as those of known URLs.
 */
export function createUrlFilter(words: Int32Array<SharedArrayBuffer>): UrlFilter {
  const lastBlock = words.length / BLOCK_WORDS - 1;
  // Two results of `locate`, without an object for each URL.
  let [start, bits] = [0, 0];

  function locate(url: string): void {
    let hash = 0x811c9dc5 | 0; // FNV-1a
    for (let i = 0; i < url.length; i++) hash = Math.imul(hash ^ url.charCodeAt(i), 0x01000193);
    start = (mixed(hash) & lastBlock) * BLOCK_WORDS;
    bits = mixed(~hash);
  }

  const bitOf = (word: number): number => 1 << (Math.imul(bits, SALTS[word] as number) >>> 27);

  return {
    add(url) {
      locate(url);
      for (let i = 0; i < BLOCK_WORDS; i++) Atomics.or(words, start + i, bitOf(i));
    },
    mayHave(url) {
      locate(url);
      for (let i = 0; i < BLOCK_WORDS; i++) if (((words[start + i] as number) & bitOf(i)) === 0) return false;
      return true;
    },
  };
}

/** The last step of MurmurHash3: every bit of the result depends on every bit of the hash. */
function mixed(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
