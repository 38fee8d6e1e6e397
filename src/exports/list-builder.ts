import { createHash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { AppError } from '../core/errors.ts';
import type { Encoding } from '../http/encoding.ts';
import type { ListReads } from './build.ts';
import type { ListContent } from './content.ts';
import type { ListBuilder, Rendered, Variant } from './copies.ts';
import { buildEntries, type ListWithoutSerial } from './entries.ts';
import { explainEntry } from './explain.ts';
import { findFormat, type RenderedList, renderList } from './formats/formats.ts';
import { findProfile } from './formats/profiles.ts';
import { hashesOf, type PackedList, packList, unpackList } from './packed-list.ts';

// Builds lists on a thread of its own: reading, sorting and compressing 100,000 entries would delay every lookup.

/** Lists whose entries are kept for further formats. */
const MAX_KEPT = 8;

export function createListBuilder(stores: ListReads, { allowReserved }: { allowReserved: boolean }): ListBuilder {
  const { signal } = new AbortController(); // a build is never given up: others wait for it
  const kept = new Map<string, { packed: PackedList; hash: Uint8Array }>();
  /** The list that was built last, which somebody waits for. */
  let last: { packed: PackedList; list: ListWithoutSerial } | null = null;
  return {
    async build(definition, exclusions, nowTs) {
      const startedMs = performance.now();
      last = null; // makes room for the next one
      const list = await buildEntries(stores, definition, exclusions, nowTs, { allowReserved, signal });
      const packed = packList(list);
      const { hash, keysHash } = hashesOf(packed);
      const { name, leftOut, nextEndTs } = list;
      kept.delete(name);
      for (const oldest of kept.keys()) if (kept.size >= MAX_KEPT) kept.delete(oldest);
      kept.set(name, { packed, hash });
      last = { packed, list };
      const tookMs = performance.now() - startedMs;
      return { hash, keysHash, count: list.entries.length, leftOut, nextEndTs, tookMs };
    },

    async render(name, hash, serial, variant) {
      const found = kept.get(name);
      if (found === undefined || Buffer.compare(found.hash, hash) !== 0) return null;
      const list = last?.packed === found.packed ? last.list : unpackList(found.packed);
      return withEtags(Buffer.from(renderVariant({ ...list, serial }, variant).text));
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
