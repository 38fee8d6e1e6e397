import { createHash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { AppError } from '../core/errors.ts';
import { formatKeyNetwork } from '../core/ip/key-network.ts';
import { ENCODINGS, type Encoding } from '../http/encoding.ts';
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
      return encoded(renderVariant({ ...found.entries, serial }, variant).text);
    },

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
  const keys = keysOf(list);
  for (let at = 0; at < keys.length; at += HASHED_AT_ONCE) {
    const some = JSON.stringify(keys.slice(at, at + HASHED_AT_ONCE));
    keysHash.update(some);
    hash.update(some).update(JSON.stringify(fieldsOf(list, at)));
  }
  return { hash: hash.digest(), keysHash: keysHash.digest() };
}

/** As one text, a million entries would be longer than a string can be. */
const HASHED_AT_ONCE = 1_000;

/** Without the bytes of networks, which JSON would write one by one: their texts are among the keys. */
function fieldsOf(list: ListWithoutSerial, at: number): readonly object[] {
  const end = at + HASHED_AT_ONCE;
  if (list.kind !== 'addresses') return list.entries.slice(at, end);
  return list.entries.slice(at, end).map(({ network: _network, ...fields }) => fields);
}

/** In a fixed order: that of the reasons depends on which was met first. */
function leftOutOf({ leftOut }: ListWithoutSerial): [string, number][] {
  return Object.entries(leftOut).sort(([a], [b]) => (a < b ? -1 : 1));
}

function keysOf(list: ListWithoutSerial): string[] {
  if (list.kind === 'urls') return list.entries.map(({ url }) => url);
  if (list.kind === 'hosts') return list.entries.map(({ host }) => host);
  return list.entries.map(({ network, dataset }) => `${formatKeyNetwork(network)} ${dataset}`);
}

const COMPRESS: Record<Encoding, (plain: Buffer) => Buffer> = {
  identity: (plain) => plain,
  gzip: (plain) => gzipSync(plain),
  zstd: (plain) => zstdCompressSync(plain),
};

function encoded(text: string): Rendered {
  const plain = Buffer.from(text);
  const hash = createHash('sha256').update(plain).digest('base64url');
  const entries = ENCODINGS.map((encoding) => {
    const etag = encoding === 'identity' ? `"${hash}"` : `"${hash}-${encoding}"`;
    return [encoding, { bytes: shared(COMPRESS[encoding](plain)), etag }] as const;
  });
  return {
    bytes: Object.fromEntries(entries.map(([encoding, { bytes }]) => [encoding, bytes])) as Rendered['bytes'],
    etags: Object.fromEntries(entries.map(([encoding, { etag }]) => [encoding, etag])) as Rendered['etags'],
  };
}

/** All threads send the same bytes, without a copy for each. */
function shared(bytes: Buffer): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
