import { createHash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { AppError } from '../core/errors.ts';
import { formatKeyNetwork } from '../core/ip/key-network.ts';
import type { Encoding } from '../http/encoding.ts';
import type { ListReads } from './build.ts';
import type { ListContent } from './content.ts';
import type { ListBuilder, Rendered, Variant } from './copies.ts';
import { buildEntries, type ListWithoutSerial } from './entries.ts';
import { explainEntry } from './explain.ts';
import { findFormat, type RenderedList, renderList } from './formats/formats.ts';
import { findProfile } from './formats/profiles.ts';

// Builds lists on a thread of its own: reading, sorting and compressing 100,000 entries would delay every look-up.

/** Lists whose entries are kept for further formats. 100,000 entries take about 50 MB. */
const MAX_KEPT = 8;

export function createListBuilder(stores: ListReads, { allowReserved }: { allowReserved: boolean }): ListBuilder {
  const { signal } = new AbortController(); // a build is never given up: others wait for it
  const kept = new Map<string, { entries: ListWithoutSerial; hash: Uint8Array }>();
  return {
    async build(definition, exclusions, nowTs) {
      const startedMs = performance.now();
      const entries = await buildEntries(stores, definition, exclusions, nowTs, { allowReserved, signal });
      const { hash, keysHash } = hashesOf(entries);
      const { name } = definition;
      kept.delete(name);
      for (const oldest of kept.keys()) if (kept.size >= MAX_KEPT) kept.delete(oldest);
      kept.set(name, { entries, hash });
      const { leftOut, nextEndTs } = entries;
      const tookMs = performance.now() - startedMs;
      return { hash, keysHash, count: entries.entries.length, leftOut, nextEndTs, tookMs };
    },

    async render(name, hash, serial, variant) {
      const found = kept.get(name);
      if (found === undefined || Buffer.compare(found.hash, hash) !== 0) return null;
      return withEtags(Buffer.from(renderVariant({ ...found.entries, serial }, variant).text));
    },

    compress: async (bytes, encoding) => shared(COMPRESS[encoding](bytes)),

    explain: (definition, exclusions, nowTs, text) =>
      explainEntry(stores, definition, exclusions, nowTs, { allowReserved, signal }, text),
  };
}

/** Throws if the list has no such format. */
export function renderVariant(content: ListContent, { format, profile, max }: Variant): RenderedList {
  const found = findFormat(content.kind, format);
  if (found === null) throw new AppError('not_found', `A list of ${content.kind} has no format ${format}`);
  return renderList(content, found, { profile: profile === null ? null : findProfile(profile), max });
}

/**
 * `keysHash`: of the keys in their order, and of what was left out. Formats for devices have nothing else, so the serial
 * follows from it, and stays while entries are only confirmed. `hash`: of every field.
 */
export function hashesOf(list: ListWithoutSerial): { hash: Uint8Array; keysHash: Uint8Array } {
  const [hash, keysHash] = [createHash('sha256'), createHash('sha256')];
  for (const one of [hash, keysHash]) one.update(JSON.stringify(leftOutOf(list)));
  for (let at = 0; at < list.entries.length; at += HASHED_AT_ONCE) {
    const { keys, fields } = hashedOf(list, at, at + HASHED_AT_ONCE);
    // No key has a line break.
    const keysText = `${keys.join('\n')}\n`;
    keysHash.update(keysText);
    hash.update(keysText).update(JSON.stringify(fields));
  }
  return { hash: hash.digest(), keysHash: keysHash.digest() };
}

/** As one text, a million entries would be longer than a string can be. */
const HASHED_AT_ONCE = 1_000;

/** `fields`: of all entries one after the other, because JSON of an object for each entry takes twice as long. */
type Hashed = { keys: string[]; fields: unknown[] };

function hashedOf(list: ListWithoutSerial, from: number, to: number): Hashed {
  const hashed: Hashed = { keys: [], fields: [] };
  const { keys, fields } = hashed;
  switch (list.kind) {
    case 'urls':
      for (const { url, id, status, sinceTs, seenTs, reporter, family, sha256, tags } of list.entries.slice(from, to)) {
        keys.push(url);
        fields.push(id, status, sinceTs, seenTs, reporter, family, sha256, tags);
      }
      return hashed;
    case 'hosts':
      for (const { host, domain, score, sinceTs, seenTs, families, urls } of list.entries.slice(from, to)) {
        keys.push(host);
        fields.push(domain, score, sinceTs, seenTs, families, urls);
      }
      return hashed;
    case 'addresses':
      for (const { network, dataset, listedTs, seenTs, validUntilTs, ...entry } of list.entries.slice(from, to)) {
        keys.push(`${formatKeyNetwork(network)} ${dataset}`);
        fields.push(listedTs, seenTs, validUntilTs, entry.family, entry.port, entry.sources);
      }
      return hashed;
  }
}

/** In a fixed order: that of the reasons depends on which was met first. */
function leftOutOf({ leftOut }: ListWithoutSerial): [string, number][] {
  return Object.entries(leftOut).sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * With the default levels. Of 100,000 URLs (4.8 MB), gzip makes 1.33 MB in 121 ms, at level 1 1.49 MB in 55 ms; zstd 1.43 MB
 * in 52 ms. It is done once, and sent to every device.
 */
const COMPRESS: Record<Encoding, (plain: Uint8Array) => Uint8Array> = {
  identity: (plain) => plain,
  gzip: (plain) => gzipSync(plain),
  zstd: (plain) => zstdCompressSync(plain),
};

function withEtags(plain: Buffer): Rendered {
  const hash = createHash('sha256').update(plain).digest('base64url');
  const etags = { identity: `"${hash}"`, gzip: `"${hash}-gzip"`, zstd: `"${hash}-zstd"` };
  return { bytes: shared(plain), etags };
}

/** All threads send the same bytes, without a copy for each. */
function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
