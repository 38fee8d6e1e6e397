import type { Intelligence } from '../../src/app/stores.ts';
import type { Bounds } from '../../src/database/pages.ts';
import type { Fact } from '../../src/urls/store.ts';
import { BASE, linesOf, stubStore } from './build.ts';

export const FACTS: Fact[] = Array.from({ length: 500 }, (_, i) => ({
  ts: i,
  id: i + 1,
  url: `http://a.example/${i}`,
}));
/** The lines of all facts. */
export const PAGE = linesOf(FACTS);

export const SEARCH = { method: 'POST' as const, url: `${BASE}/search`, payload: { asn: 1 } };

/** A search that records what became of it. */
export function watchedSearch(pages: (signal: AbortSignal) => AsyncGenerator<string>) {
  const seen = { pages: 0, closed: false, signal: null as AbortSignal | null };
  async function* search(...args: Parameters<Intelligence['search']>): AsyncGenerator<string> {
    const { signal }: Bounds = args[2];
    seen.signal = signal;
    try {
      for await (const page of pages(signal)) {
        seen.pages += 1;
        yield page;
      }
    } finally {
      seen.closed = true;
    }
  }
  return { seen, store: stubStore({ search }) };
}
