import { currentTs } from '../../clock.ts';
import { controlCommand } from '../../data-command.ts';
import { feedJson, stateText } from '../../present-feed.ts';
import { table, timeText } from '../../table.ts';
import { spanText } from '../../time-span.ts';

export const feedList = controlCommand(
  {
    synopsis: 'feed list',
    about: `Lists all feeds and how they are: ok, new (not fetched yet), failing (tried again), stale (no success for
three intervals), paused.
`,
  },
  async (control) => {
    const nowTs = currentTs();
    const feeds = await control.feeds();
    const rows = feeds.map((feed) => [
      feed.name,
      stateText(feed, nowTs),
      feed.format,
      spanText(feed.intervalSeconds),
      feed.lastSuccessTs === null ? 'never' : timeText(feed.lastSuccessTs),
      feed.rows ?? '',
      feed.lastError ?? '',
    ]);
    const text = rows.length > 0 ? table(HEADINGS, rows) : NONE;
    return { text, json: feeds.map((feed) => feedJson(feed, nowTs)) };
  },
);

const HEADINGS = ['NAME', 'STATE', 'FORMAT', 'EVERY', 'LAST SUCCESS', 'ROWS', 'LAST ERROR'];
const NONE = 'There are no feeds. Add one with: urlwarden feed add urlhaus\n';
