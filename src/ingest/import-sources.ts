import { basename, extname } from 'node:path';
import { type AppError, badRequest } from '../core/errors.ts';
import { DEFAULT_TRUST_PERMILLE, OPERATOR_SOURCE, type Source } from '../core/evidence.ts';
import { textFault } from '../core/text.ts';
import { URL_SOURCE } from '../reputation/store.ts';
import type { ImportedListKind } from './evidence.ts';
import type { ImportStores } from './retry.ts';
import type { Feed } from './store.ts';

/** Trust and life of evidence; null: that of the feed, or the default. */
export type SourceChoices = { trustPermille?: number | null | undefined; lifeSeconds?: number | null | undefined };

/** Lines of one import name their sources themselves; a file with more of them is not what `urlwarden export` writes. */
const MAX_SOURCES = 1_000;

/**
 * Stores the sources of evidence before the evidence itself. A source is the feed of the same name, with its trust and
 * life, otherwise it has those of the import.
 */
export function createImportSources({ store, control }: ImportStores, importFeed: string, choices: SourceChoices) {
  const stored = new Set<string>();
  let feeds: Map<string, Feed> | null = null;

  function toSource(name: string): Source {
    const feed = feeds?.get(name);
    const given = name === OPERATOR_SOURCE || (feed !== undefined && name !== importFeed) ? {} : choices;
    return {
      name,
      trustPermille: given.trustPermille ?? feed?.trustPermille ?? DEFAULT_TRUST_PERMILLE,
      lifeSeconds: given.lifeSeconds ?? feed?.lifeSeconds ?? null,
      intervalSeconds: feed?.intervalSeconds ?? null,
    };
  }

  return {
    async put(names: Iterable<string>): Promise<void> {
      const added = [...names].filter((name) => !stored.has(name));
      if (added.length === 0) return;
      if (stored.size + added.length > MAX_SOURCES) throw tooManySources();
      feeds ??= new Map((await control.feeds()).map((feed) => [feed.name, feed]));
      await store.putSources(added.map(toSource));
      for (const name of added) stored.add(name);
    },
  };
}

export function feedSource({ name, trustPermille, lifeSeconds, intervalSeconds }: Feed): Source {
  return { name, trustPermille, lifeSeconds, intervalSeconds };
}

/** Why no source of evidence can have this name; null if one can. `|` separates the parts of a key in the change feed. */
export function sourceNameFault(name: string): string | null {
  if (name === '') return 'the name is empty';
  if (name === URL_SOURCE.name) return 'this name is used for what follows from URLs';
  return name.includes('|') ? 'the character | is not allowed' : textFault(name);
}

/** The same for a feed: what an operator sets by hand comes from no feed. */
export function feedNameFault(name: string): string | null {
  return name === OPERATOR_SOURCE ? 'Urlwarden uses this name itself' : sourceNameFault(name);
}

function tooManySources(): AppError {
  return badRequest(`The import has more than ${MAX_SOURCES} sources: check the values of "feed"`);
}

const URL_START = /^https?:\/\//i;

/**
 * The feed of data that names none. Two lists must not be versions of each other: `office.txt` and `partner.txt` are
 * different allow lists.
 */
export function defaultFeedName(format: string, listKind: ImportedListKind | null, source: string): string {
  const isFile = !URL_START.test(source) && source !== '-';
  return (listKind !== null && isFile && basename(source, extname(source))) || format;
}
