import { Gauge, type Registry } from 'prom-client';

/** The state of a feed. Its name is a label: an operator has only a few feeds and chooses their names. */
export type FeedGauges = {
  name: string;
  lastSuccessTs: number | null;
  rows: number | null;
  failures: number;
  isStale: boolean;
};

const GAUGES: readonly [name: string, help: string, value: (feed: FeedGauges) => number | null][] = [
  ['last_success_timestamp_seconds', 'Time of the last successful run of the feed', (feed) => feed.lastSuccessTs],
  ['rows', 'Rows in the newest import of the feed', (feed) => feed.rows],
  ['failures', 'Failed runs of the feed since its last success', (feed) => feed.failures],
  ['stale', '1 if the feed had no successful run for three intervals', (feed) => Number(feed.isStale)],
];

/** Reads the feeds at every scrape: removed feeds disappear, and runs on other nodes are included. */
export function registerFeedGauges(registry: Registry, feeds: () => Promise<FeedGauges[]>): void {
  for (const [name, help, value] of GAUGES) {
    new Gauge({
      name: `urlwarden_feed_${name}`,
      help,
      labelNames: ['feed'],
      registers: [registry],
      async collect() {
        const found = await feeds().catch(() => []); // the other metrics are most important when the database is down
        this.reset();
        for (const feed of found) {
          const current = value(feed);
          if (current !== null) this.set({ feed: feed.name }, current);
        }
      },
    });
  }
}

/** Without a time there is no row: 0 would be the oldest data. */
export function registerDataGauge(registry: Registry, confirmedTs: () => Promise<number | null>): void {
  new Gauge({
    name: 'urlwarden_data_confirmed_timestamp_seconds',
    help: 'Newest time at which a source saw a URL, online or not',
    registers: [registry],
    async collect() {
      const current = await confirmedTs().catch(() => null);
      if (current === null) this.remove();
      else this.set(current);
    },
  });
}
