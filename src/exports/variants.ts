import { AppError } from '../core/errors.ts';
import type { Encoding } from '../http/encoding.ts';
import { dropOldest } from './drop-oldest.ts';
import type { ListBuilder, Rendered, Variant } from './list-builder.ts';
import { countShared } from './shared-bytes.ts';

/** One content of a list in its variants, each rendered when it is asked for. */
export type Variants = {
  /** In the encoding that is asked for. Null if the builder no longer has the entries. */
  get(variant: Variant, encoding: Encoding): Promise<Rendered | null>;
  /** Whether the variant was asked for, of this content or of an older one, and was not dropped since. */
  isKnown(variant: Variant): boolean;
  /** Those of which `isKnown` is true, the newest last. */
  known(): string[];
  /** Of all that is kept. */
  sizeBytes(): number;
  clear(): void;
};

type VariantsOptions = {
  render(variant: Variant): ReturnType<ListBuilder['render']>;
  compress: ListBuilder['compress'];
  /** Variants of older content. They may be the same as before: a time of another field has changed. */
  former: readonly string[];
  /** More bytes are kept. */
  onGrown(): void;
};

/** Of one list: formats, profiles and bounds that devices ask for. The oldest is dropped. */
const MAX_VARIANTS = 32;
/** The same, with their encodings. 100,000 URLs are 5 MB in most formats. */
const MAX_VARIANT_BYTES = 2 ** 27;
/** Of a fetch that is refused because as many variants are being made. */
const RETRY_SECONDS = 5;

/** Promises, so that a thousand devices wait for one. */
type RenderedVariant = {
  isReady: boolean;
  /** In bytes, of all that is ready. */
  size: number;
  plain: Promise<Rendered | null>;
  /** Encodings that somebody asked for: most devices ask for one, and those with the current ETag for none. */
  compressed: Map<Encoding, Promise<Uint8Array>>;
};

export function createVariants(options: VariantsOptions): Variants {
  const { compress, onGrown } = options;
  const former = new Set(options.former.slice(-MAX_VARIANTS));
  const rendered = new Map<string, RenderedVariant>();

  function render(variant: Variant): RenderedVariant {
    const key = keyOf(variant);
    const known = rendered.get(key);
    if (known !== undefined) return known;
    refuseMany(rendered);
    const started: RenderedVariant = {
      isReady: false,
      size: 0,
      plain: options.render(variant),
      compressed: new Map(),
    };
    rendered.set(key, started);
    former.delete(key);
    const forget = () => rendered.delete(key);
    started.plain.then((found) => (found === null ? forget() : grow(started, found.bytes)), forget);
    return started;
  }

  function encode(variant: RenderedVariant, plain: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
    if (encoding === 'identity') return Promise.resolve(plain);
    const { compressed } = variant;
    const known = compressed.get(encoding);
    if (known !== undefined) return known;
    const started = compress(plain, encoding);
    compressed.set(encoding, started);
    started.then(
      (bytes) => grow(variant, bytes),
      () => compressed.delete(encoding),
    );
    return started;
  }

  function grow(variant: RenderedVariant, bytes: Uint8Array): void {
    variant.isReady = true;
    variant.size += bytes.byteLength;
    countShared(bytes);
    dropOldest(rendered, MAX_VARIANTS, MAX_VARIANT_BYTES);
    onGrown();
  }

  return {
    async get(variant, encoding) {
      const found = render(variant);
      const plain = await found.plain;
      return plain && { bytes: await encode(found, plain.bytes, encoding), etags: plain.etags };
    },
    isKnown: (variant) => rendered.has(keyOf(variant)) || former.has(keyOf(variant)),
    known: () => [...former, ...rendered.keys()],
    sizeBytes: () => [...rendered.values()].reduce((sum, { size }) => sum + size, 0),
    clear: () => rendered.clear(),
  };
}

/** One takes up to a second, and more than are kept would be made in vain: a client that fetches all of them asks for nothing useful. */
function refuseMany(rendered: ReadonlyMap<string, RenderedVariant>): void {
  const waiting = [...rendered.values()].filter(({ isReady }) => !isReady).length;
  if (waiting < MAX_VARIANTS) return;
  throw new AppError('overloaded', 'too many variants of a list are being made', { retryAfterSeconds: RETRY_SECONDS });
}

const keyOf = ({ format, profile, max }: Variant): string => JSON.stringify([format, profile, max]);
