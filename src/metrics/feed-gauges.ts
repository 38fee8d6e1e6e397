import { Gauge, type Registry } from 'prom-client';

/** How a feed is. Its name is a label: an operator has a handful of them, and chose the names. */
export type FeedGauges = {
  name: string;
  lastSuccessTs: number | null;
  rows: number | null;
  failures: number;
  isStale: boolean;
};

const GAUGES: readonly [name: string, help: string, value: (feed: FeedGauges) => number | null][] = [
  ['last_success_timestamp_seconds', 'When the feed was last fetched with success', (feed) => feed.lastSuccessTs],
  ['rows', 'Rows in the newest import of the feed', (feed) => feed.rows],
  ['failures', 'Runs of the feed that failed since its last success', (feed) => feed.failures],
  ['stale', '1 when the feed had no success for three intervals', (feed) => Number(feed.isStale)],
];

/** Asks for every scrape, so that a feed that is gone is gone here, and a node knows what others fetched. */
export function registerFeedGauges(registry: Registry, feeds: () => Promise<FeedGauges[]>): void {
  for (const [name, help, value] of GAUGES) {
    new Gauge({
      name: `urlwarden_feed_${name}`,
      help,
      labelNames: ['feed'],
      registers: [registry],
      async collect() {
        const found = await feeds().catch(() => []); // the other metrics are needed most when the store is away
        this.reset();
        for (const feed of found) {
          const current = value(feed);
          if (current !== null) this.set({ feed: feed.name }, current);
        }
      },
    });
  }
}
