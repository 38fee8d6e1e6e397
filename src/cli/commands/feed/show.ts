import { shownUrl } from '../../../ingest/fetch-url.ts';
import { currentTs } from '../../clock.ts';
import { controlCommand } from '../../data-command.ts';
import { feedJson, requireFeed, stateText } from '../../present-feed.ts';
import { listing, timeText } from '../../table.ts';
import { spanText } from '../../time-span.ts';

export const feedShow = controlCommand(
  {
    synopsis: 'feed show NAME',
    about: 'Shows a feed: where it comes from, how its last run went, when the next one is.\n',
    operands: ['NAME'],
  },
  async (control, { operands: [name = ''] }) => {
    const nowTs = currentTs();
    const feed = await requireFeed(control, name);
    const time = (ts: number | null) => (ts === null ? 'never' : timeText(ts));
    const text = listing([
      ['name', feed.name],
      ['state', stateText(feed, nowTs)],
      ['format', feed.format],
      ['url', shownUrl(feed.url)],
      ['headers', Object.keys(feed.headers).join(', ') || 'none'],
      ['every', spanText(feed.intervalSeconds)],
      ['complete listing', feed.isComplete ? 'yes' : 'no'],
      ['private network', feed.allowsPrivate ? 'yes' : 'no'],
      ['last run', time(feed.lastRunTs)],
      ['last success', time(feed.lastSuccessTs)],
      ['rows', feed.rows ?? 'none yet'],
      ['last error', feed.lastError ?? 'none'],
      ['failures in a row', feed.failures],
      ['next run', feed.isPaused ? 'when it is resumed' : timeText(feed.nextRunTs)],
    ]);
    return { text, json: feedJson(feed, nowTs) };
  },
);
