import { AppError } from '../core/errors.ts';
import type { Encoding } from '../http/encoding.ts';
import type { Explanation } from './explain.ts';
import type { Built, ListBuilder, Rendered, Variant } from './list-builder.ts';
import type { Exclusion, ListDefinition } from './store.ts';
import { createVariants, type Variants } from './variants.ts';

// Lists as devices fetch them: built once for each change, and kept.
//
//     fetch → is the copy fresh? the data, the definitions and the next end of an entry say so
//           → no: build the entries (list-builder.ts), then each variant that is asked for, and each encoding of it

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
  variants: Variants;
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
    const variants = variantsOf(definition.name, known, built, serial);
    return { ...known, serial, variants, isStale: false, nextCheckMs: clockMs() + CHECK_MS };
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
      variants: variantsOf(definition.name, known, built, serial),
    };
  }

  /** Those of before, as long as the content is the same. */
  function variantsOf(name: string, known: State | undefined, { hash }: Built, serial: number): Variants {
    if (known?.serial === serial && Buffer.compare(known.built.hash, hash) === 0) return known.variants;
    const variants = createVariants({
      render: (variant) => builder.render(name, hash, serial, variant),
      compress: builder.compress,
      former: known?.variants.known() ?? [],
      onGrown: () => dropOtherLists(variants),
    });
    return variants;
  }

  function dropOtherLists(kept: Variants): void {
    const lists = [...states.values()].map(({ variants }) => ({ variants, bytes: variants.sizeBytes() }));
    let all = lists.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { variants, bytes } of lists) {
      if (all <= maxBytes) return;
      if (variants === kept) continue;
      variants.clear();
      all -= bytes;
    }
  }

  async function copyOrNull(
    definition: ListDefinition,
    variant: Variant,
    encoding: Encoding,
  ): Promise<ListCopy | null> {
    const state = await freshState(definition);
    const rendered = await state.variants.get(variant, encoding);
    if (rendered === null) {
      // The thread of the builder has ended, and its entries with it.
      state.version = null;
      state.nextCheckMs = state.nextBuildMs = 0;
      return null;
    }
    const { built, builtTs, serial, isStale } = state;
    const { count, leftOut } = built;
    return { ...rendered, serial, count, leftOut, staleSinceTs: isStale ? builtTs : null };
  }

  async function copy(...wanted: Parameters<ListCopies['copy']>): Promise<ListCopy> {
    const found = (await copyOrNull(...wanted)) ?? (await copyOrNull(...wanted));
    const [definition] = wanted;
    if (found === null) throw new AppError('unavailable', `the list ${definition.name} could not be built`);
    return found;
  }

  return {
    copy,
    async keptCopy(definition, variant) {
      const isKnown = states.get(definition.name)?.variants.isKnown(variant) ?? false;
      return isKnown ? copy(definition, variant, 'identity') : null;
    },
    known: () =>
      [...states].map(([name, { changedTs, serial, built }]) => {
        return { name, changedTs, serial, count: built.count, leftOut: built.leftOut };
      }),
    explain: async (definition, text) => builder.explain(definition, await exclusions(), now(), text),
  };
}

/** Also if the clock was ahead at the time of the build: entries may be missing that are not too old yet. */
const hasEnded = ({ built: { nextEndTs }, builtTs }: State, nowTs: number): boolean =>
  builtTs > nowTs || (nextEndTs !== null && nextEndTs <= nowTs);
