import type { Feed } from '../store.ts';
import { feedState } from './feed-state.ts';

/** A state for people. `late`: no success for three intervals. `failing`: the last run failed; the server retries. */
export const PAGE_STATES = ['healthy', 'late', 'failing', 'paused', 'new'] as const;
export type PageState = (typeof PAGE_STATES)[number];

/** The state that commands, metrics and `/readyz` show, in the words of the pages. */
export function pageState(feed: Feed, nowTs: number): PageState {
  const state = feedState(feed, nowTs);
  if (state === 'ok') return 'healthy';
  return state === 'stale' ? 'late' : state;
}
