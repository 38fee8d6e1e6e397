import { KEY_BITS } from '../core/ip/key-network.ts';
import { type Episode, lifeOf, mergeEpisodes } from './episode-rules.ts';
import { type StoredListing, URL_SOURCE } from './store.ts';

// A URL whose host is an address puts this address into XBL: every online run of its timeline is evidence from its first to
// its newest sighting. Nothing is stored: such listings are computed from the timelines when somebody asks (docs/timeline.md).

export const DERIVED_LIFE_SECONDS = lifeOf(URL_SOURCE, 'XBL');

/** Newest payloads of a URL that are searched for a family. */
export const MAX_PAYLOADS = 1_000;

/** A family and the time of its payload. */
type NewestFamily = { ts: number; name: string };

/** What the timelines of one address have shown so far. They are read in pages. */
export type DerivedProgress = { ip: Uint8Array; episodes: Episode[]; family: NewestFamily | null };

export function addRuns(progress: DerivedProgress, runs: readonly Pick<Episode, 'listedTs' | 'seenTs'>[]): void {
  const evidence = runs.map(({ listedTs, seenTs }) => ({ listedTs, seenTs, details: '' }));
  progress.episodes = mergeEpisodes(progress.episodes, evidence, DERIVED_LIFE_SECONDS);
}

/** Of two families of one second the greater name counts as newer, so that all engines choose the same one. */
export function addFamily(progress: DerivedProgress, ts: number, name: string): void {
  const { family } = progress;
  if (family === null || ts > family.ts || (ts === family.ts && name > family.name)) progress.family = { ts, name };
}

/** The family is the newest one of all URLs at the address. */
export function derivedListings({ ip, episodes, family }: DerivedProgress, seenSinceTs: number): StoredListing[] {
  const network = { ip, prefix: KEY_BITS };
  const common = { network, dataset: 'XBL', source: URL_SOURCE, family: family?.name ?? null, port: null } as const;
  return episodes
    .filter(({ seenTs }) => seenTs >= seenSinceTs)
    .map(({ listedTs, seenTs }) => ({ ...common, listedTs, seenTs, details: '' }));
}
