import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../config/settings.ts';
import { AppError } from '../core/errors.ts';
import { everyMs } from '../ingest/every.ts';
import { createRunFeed } from '../ingest/feed-import.ts';
import { feedState } from '../ingest/feed-times.ts';
import type { Turn } from '../ingest/feed-turn.ts';
import { inputLimits } from '../ingest/input-limits.ts';
import { openNetworks } from '../ingest/networks.ts';
import { type Schedule, startSchedule } from '../ingest/schedule.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Control } from '../store/control.ts';
import type { Store } from '../store/store.ts';
import { now } from './now.ts';

type FeedParts = {
  store: Store;
  control: Control;
  metrics: Metrics | undefined;
  log: FastifyBaseLogger;
  settings: Settings;
};

/** Fetches what is due until it is closed. */
export function startFeeds({ store, control, metrics, log, settings }: FeedParts): Pick<Schedule, 'close'> {
  const { asnDb, resolvesHosts, feedsAllowPrivate: allowedNetworks } = settings;
  const networks = openNetworks(asnDb, {
    every: everyMs,
    onFailure: (err) => log.warn({ err }, 'the table of networks stays as it was'),
  });
  metrics?.watchFeeds(async () =>
    (await control.feeds()).map((feed) => ({ ...feed, isStale: feedState(feed, now()) === 'stale' })),
  );
  const schedule = startSchedule({
    control,
    runFeed: createRunFeed({
      store,
      control,
      networks,
      allowedNetworks,
      resolvesHosts,
      limits: inputLimits(settings),
      now,
    }),
    now,
    random: Math.random,
    every: everyMs,
    owner: `${hostname()} ${process.pid} ${randomUUID()}`,
    onTurn(feed, turn) {
      metrics?.feedRan(feed, turn.outcome);
      logTurn(log, feed, turn);
    },
    onFailure(err) {
      metrics?.failed('feed_poll');
      log.warn({ err }, 'feeds could not be looked at');
    },
  });
  void schedule.runDue();
  return {
    async close() {
      await schedule.close();
      networks.close();
    },
  };
}

/** A publisher who does not answer is no fault of ours; what is no refusal in words is. */
function logTurn(log: FastifyBaseLogger, feed: string, turn: Turn): void {
  if (turn.outcome !== 'failed') log.info({ feed, outcome: turn.outcome }, 'a feed');
  else if (turn.error instanceof AppError) log.warn({ feed, reason: turn.error.message }, 'a feed failed');
  else log.error({ feed, err: turn.error }, 'a feed failed');
}
