import { AppError } from '../core/errors.ts';
import type { Encoding } from '../http/encoding.ts';
import type { ListContent } from './content.ts';
import { dropOldest } from './drop-oldest.ts';
import type { Explanation } from './explain.ts';
import { countShared } from './shared-bytes.ts';
import type { Exclusion, ListDefinition } from './store.ts';

// Lists as devices fetch them: built once for each change, and kept.
//
//     fetch → is the copy fresh? the data, the definitions and the next end of an entry say so
//           → no: build the entries (list-builder.ts), then each variant that is asked for, and each encoding of it

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

/** A list as it is sent: the bytes are those of the encoding that was asked for. */
export type ListCopy = Rendered &
  Pick<Built, 'count' | 'leftOut'> & {
    serial: number;
    /** Since when it may be out of date, because it could not be built again; null if it is not. */
    staleSinceTs: number | null;
  };

/** A list as it was when somebody fetched it last. */
export type KnownList = Pick<Built, 'count' | 'leftOut'> &
  Pick<ListDefinition, 'name' | 'changedTs'> & {
    serial: number;
  };

export type ListCopies = {
  /** Throws what the builder throws, if there is no copy yet. */
  copy(definition: ListDefinition, variant: Variant, encoding: Encoding): Promise<ListCopy>;
  /** The same without compression, if this variant was made before and not dropped since; otherwise null, and nothing is made. */
  keptCopy(definition: ListDefinition, variant: Variant): Promise<ListCopy | null>;
  /** Those that were built since the start. Builds nothing. */
  known(): KnownList[] | Promise<KnownList[]>;
  explain(definition: ListDefinition, text: string): Promise<Explanation | null>;
};

type CopiesOptions = {
  builder: ListBuilder;
  /** Unix seconds. */
  now(): number;
  /** Never set back. */
  clockMs(): number;
  /** Grows with each change of the data. */
  newestChange(): number | Promise<number>;
  /** Grows with each change of definitions and exclusions. */
  listsVersion(): number | Promise<number>;
  exclusions(): Promise<Exclusion[]>;
  listSerial(name: string, contentHash: Uint8Array, nowTs: number): Promise<number>;
  /** Of the variants of all lists, with their encodings. */
  maxBytes: number;
  /** A list could not be built; the last copy is served. */
  onFailure(error: unknown, list: string): void;
};

/** How long a copy is used without asking the store whether it is out of date. */
export const CHECK_MS = 500;

/** Building takes at most a tenth of the time: after a build of one second the next begins nine seconds later. */
const REST_PER_BUILD = 9;

/** After a failed build. Long enough that a broken database is not asked by every device. */
const RETRY_MS = 5_000;

/** Of one list: formats, profiles and bounds that devices ask for. The oldest is dropped. */
const MAX_VARIANTS = 32;
/** Of a fetch that is refused because as many variants are being made. */
const RETRY_SECONDS = 5;
/** The same, with their encodings. 100,000 URLs are 5 MB in most formats. */
const MAX_VARIANT_BYTES = 2 ** 27;

type State = {
  /** Of the definition that was built. */
  changedTs: number;
  /** Of the data and the definitions; null if the builder has lost the entries. */
  version: string | null;
  built: Built;
  builtTs: number;
  serial: number;
  /** When the store is asked again. */
  nextCheckMs: number;
  nextBuildMs: number;
  isStale: boolean;
  /** By variant. */
  rendered: Map<string, RenderedVariant>;
  /** Variants of older content that nobody has asked for again. They may be the same as before: a time of another field has changed. */
  former: Set<string>;
};

/** Promises, so that a thousand devices wait for one. */
type RenderedVariant = {
  isReady: boolean;
  /** In bytes, of all that is ready. */
  size: number;
  plain: Promise<Rendered | null>;
  /** Encodings that somebody asked for: most devices ask for one, and those with the current ETag for none. */
  compressed: Map<Encoding, Promise<Uint8Array>>;
};

export function createListCopies(options: CopiesOptions): ListCopies {
  const { builder, now, clockMs, newestChange, listsVersion, exclusions, listSerial, maxBytes, onFailure } = options;
  /** The list that was fetched last is the last one. */
  const states = new Map<string, State>();
  const refreshing = new Map<string, Promise<State>>();

  function freshState(definition: ListDefinition): State | Promise<State> {
    const { name } = definition;
    const known = states.get(name);
    if (known !== undefined && clockMs() < known.nextCheckMs) return known;
    const running = refreshing.get(name);
    if (running !== undefined) return running;
    const started = bringUpToDate(definition, known).finally(() => refreshing.delete(name));
    refreshing.set(name, started);
    return started;
  }

  async function bringUpToDate(definition: ListDefinition, known: State | undefined): Promise<State> {
    try {
      // Read before the entries: a change that is made meanwhile leads to another build.
      const version = JSON.stringify([await newestChange(), await listsVersion(), definition]);
      const isCurrent = known?.version === version && !hasEnded(known, now());
      if (known !== undefined && !isCurrent && clockMs() < known.nextBuildMs) {
        known.nextCheckMs = clockMs() + CHECK_MS;
        return known;
      }
      const state = isCurrent ? await confirm(definition, known) : await build(definition, version, known);
      states.delete(definition.name);
      states.set(definition.name, state);
      return state;
    } catch (error) {
      if (known === undefined) throw error;
      onFailure(error, definition.name);
      known.isStale = true;
      known.nextCheckMs = clockMs() + RETRY_MS;
      return known;
    }
  }

  /** A node that was behind may have stored older content since: then the same content has a new serial. */
  async function confirm(definition: ListDefinition, known: State): Promise<State> {
    const { built } = known;
    const serial = await listSerial(definition.name, built.keysHash, now());
    return { ...known, serial, ...keptOf(known, built, serial), isStale: false, nextCheckMs: clockMs() + CHECK_MS };
  }

  async function build(definition: ListDefinition, version: string, known: State | undefined): Promise<State> {
    const builtTs = now();
    const built = await builder.build(definition, await exclusions(), builtTs);
    const serial = await listSerial(definition.name, built.keysHash, builtTs);
    const endedMs = clockMs();
    return {
      changedTs: definition.changedTs,
      version,
      built,
      builtTs,
      serial,
      isStale: false,
      nextCheckMs: endedMs + CHECK_MS,
      nextBuildMs: endedMs + REST_PER_BUILD * built.tookMs,
      ...keptOf(known, built, serial),
    };
  }

  function render({ built, serial, rendered, former }: State, name: string, variant: Variant): RenderedVariant {
    const key = variantKey(variant);
    const ready = rendered.get(key);
    if (ready !== undefined) return ready;
    refuseMany(rendered);
    const started: RenderedVariant = {
      isReady: false,
      size: 0,
      plain: builder.render(name, built.hash, serial, variant),
      compressed: new Map(),
    };
    rendered.set(key, started);
    former.delete(key);
    const forget = () => rendered.delete(key);
    started.plain.then((found) => (found === null ? forget() : grow(rendered, started, found.bytes)), forget);
    return started;
  }

  function encode(
    { rendered }: State,
    variant: RenderedVariant,
    plain: Uint8Array,
    encoding: Encoding,
  ): Promise<Uint8Array> {
    if (encoding === 'identity') return Promise.resolve(plain);
    const { compressed } = variant;
    const ready = compressed.get(encoding);
    if (ready !== undefined) return ready;
    const started = builder.compress(plain, encoding);
    compressed.set(encoding, started);
    started.then(
      (bytes) => grow(rendered, variant, bytes),
      () => compressed.delete(encoding),
    );
    return started;
  }

  function grow(rendered: State['rendered'], variant: RenderedVariant, bytes: Uint8Array): void {
    variant.isReady = true;
    variant.size += bytes.byteLength;
    countShared(bytes);
    dropOldest(rendered, MAX_VARIANTS, MAX_VARIANT_BYTES);
    dropOtherLists(rendered);
  }

  function dropOtherLists(kept: State['rendered']): void {
    const lists = [...states.values()].map(({ rendered }) => ({ rendered, bytes: bytesOf(rendered) }));
    let all = lists.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { rendered, bytes } of lists) {
      if (all <= maxBytes) return;
      if (rendered === kept) continue;
      rendered.clear();
      all -= bytes;
    }
  }

  async function copyOrNull(
    definition: ListDefinition,
    variant: Variant,
    encoding: Encoding,
  ): Promise<ListCopy | null> {
    const state = await freshState(definition);
    const rendering = render(state, definition.name, variant);
    const rendered = await rendering.plain;
    if (rendered === null) {
      // The thread of the builder has ended, and its entries with it.
      state.version = null;
      state.nextCheckMs = state.nextBuildMs = 0;
      return null;
    }
    const bytes = await encode(state, rendering, rendered.bytes, encoding);
    const { built, builtTs, serial, isStale } = state;
    const { count, leftOut } = built;
    return { bytes, etags: rendered.etags, serial, count, leftOut, staleSinceTs: isStale ? builtTs : null };
  }

  async function copy(...question: Parameters<ListCopies['copy']>): Promise<ListCopy> {
    const found = (await copyOrNull(...question)) ?? (await copyOrNull(...question));
    const [definition] = question;
    if (found === null) throw new AppError('unavailable', `the list ${definition.name} could not be built`);
    return found;
  }

  return {
    copy,
    async keptCopy(definition, variant) {
      const known = states.get(definition.name);
      const key = variantKey(variant);
      const isKept = known !== undefined && (known.rendered.has(key) || known.former.has(key));
      return isKept ? copy(definition, variant, 'identity') : null;
    },
    known: () =>
      [...states].map(([name, { changedTs, serial, built }]) => {
        return { name, changedTs, serial, count: built.count, leftOut: built.leftOut };
      }),
    explain: async (definition, text) => builder.explain(definition, await exclusions(), now(), text),
  };
}

/** One takes up to a second, and more than are kept would be made in vain: a client that fetches all of them asks for nothing useful. */
function refuseMany(rendered: State['rendered']): void {
  const waiting = [...rendered.values()].filter(({ isReady }) => !isReady).length;
  if (waiting < MAX_VARIANTS) return;
  throw new AppError('overloaded', 'too many variants of a list are being made', { retryAfterSeconds: RETRY_SECONDS });
}

function bytesOf(rendered: State['rendered']): number {
  return [...rendered.values()].reduce((sum, { size }) => sum + size, 0);
}

const variantKey = ({ format, profile, max }: Variant): string => JSON.stringify([format, profile, max]);

/** What was rendered before and still is the same; of other content only which variants there were. */
function keptOf(known: State | undefined, { hash }: Built, serial: number): Pick<State, 'rendered' | 'former'> {
  if (known === undefined) return { rendered: new Map(), former: new Set() };
  const { rendered, former } = known;
  if (known.serial === serial && Buffer.compare(known.built.hash, hash) === 0) return { rendered, former };
  return { rendered: new Map(), former: new Set([...former, ...rendered.keys()].slice(-MAX_VARIANTS)) };
}

/** Also if the clock was ahead at the time of the build: entries may be missing that are not too old yet. */
const hasEnded = ({ built: { nextEndTs }, builtTs }: State, nowTs: number): boolean =>
  builtTs > nowTs || (nextEndTs !== null && nextEndTs <= nowTs);
