import { createHash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { Encoding } from '../http/encoding.ts';
import type { BuildOptions, ListReads } from './build.ts';
import type { ListContent } from './content.ts';
import { dropOldest } from './drop-oldest.ts';
import { buildEntries } from './entries.ts';
import { type Explanation, explainEntry } from './explain.ts';
import { type ListToRender, type RenderedList, renderList, requireFormat } from './formats/formats.ts';
import { findProfile } from './formats/profiles.ts';
import { type PackedList, packList, unpackEntries } from './packed-list.ts';
import type { Exclusion, ListDefinition } from './store.ts';

// Builds lists on a thread of its own: reading, sorting and compressing 100,000 entries would delay every lookup.

/** A form in which a list can be fetched. Null: no bound, no device. */
export type Variant = { format: string; profile: string | null; max: number | null };

/** One variant without compression, in shared memory. The ETags of compressed bytes follow from those of the plain ones. */
export type Rendered = { bytes: Uint8Array; etags: Record<Encoding, string> };

/** What is known about a list when its entries were built. The entries stay with the builder. */
export type Built = Pick<ListContent, 'leftOut' | 'nextEndTs'> & {
  /** Of every field of the entries, and of what was left out. */
  hash: Uint8Array;
  /** Of the keys of the entries, and of what was left out. The serial follows from it. */
  keysHash: Uint8Array;
  count: number;
  /** How long it took, without the start of the thread. */
  tookMs: number;
};

/** Builds lists while the threads that answer requests go on. */
export type ListBuilder = {
  build(definition: ListDefinition, exclusions: readonly Exclusion[], nowTs: number): Promise<Built>;
  /** Null if the builder no longer has these entries. */
  render(name: string, hash: Uint8Array, serial: number, variant: Variant): Promise<Rendered | null>;
  /** Needs nothing but the bytes, so a builder that has lost the entries can do it too. */
  compress(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array>;
  /** Why something is on the list or not. Null if the text is no URL, name, address or network. */
  explain(
    definition: ListDefinition,
    exclusions: readonly Exclusion[],
    nowTs: number,
    text: string,
  ): Promise<Explanation | null>;
};

/** Lists whose entries are kept for further formats. */
const MAX_KEPT = 8;

type ListBuilderOptions = BuildOptions & {
  /** Of the entries that are kept. */
  maxBytes: number;
  /** Called after work that needed much memory. */
  afterWork(): void;
};

export function createListBuilder(stores: ListReads, options: ListBuilderOptions): ListBuilder {
  const { maxBytes, afterWork } = options;
  const kept = new Map<string, PackedList>();
  return {
    async build(definition, exclusions, nowTs) {
      const startedMs = performance.now();
      const packed = packList(await buildEntries(stores, definition, exclusions, nowTs, options));
      const { name, hash, keysHash, count, leftOut, nextEndTs } = packed;
      kept.delete(name);
      kept.set(name, packed);
      dropOldest(kept, MAX_KEPT, maxBytes);
      const tookMs = performance.now() - startedMs;
      afterWork();
      return { hash, keysHash, count, leftOut, nextEndTs, tookMs };
    },

    async render(name, hash, serial, variant) {
      const found = kept.get(name);
      if (found === undefined || Buffer.compare(found.hash, hash) !== 0) return null;
      const { hasAllFields } = requireFormat(found.kind, variant.format);
      afterWork();
      return withEtags(
        renderVariant({ ...found, serial, entries: unpackEntries(found, hasAllFields) }, variant).pieces,
      );
    },

    compress: async (bytes, encoding) => shared([COMPRESS[encoding](bytes)]),

    explain: (definition, exclusions, nowTs, text) =>
      explainEntry(stores, definition, exclusions, nowTs, options, text),
  };
}

/** Throws if the list has no such format. */
export function renderVariant(content: ListToRender, { format, profile, max }: Variant): RenderedList {
  return renderList(content, requireFormat(content.kind, format), {
    profile: profile === null ? null : findProfile(profile),
    max,
  });
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

function withEtags(pieces: readonly Uint8Array[]): Rendered {
  const sha256 = createHash('sha256');
  for (const piece of pieces) sha256.update(piece);
  const hash = sha256.digest('base64url');
  const etags = { identity: `"${hash}"`, gzip: `"${hash}-gzip"`, zstd: `"${hash}-zstd"` };
  return { bytes: shared(pieces), etags };
}

/** All threads send the same bytes, without a copy for each. */
function shared(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(pieces.reduce((sum, { length }) => sum + length, 0)));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
