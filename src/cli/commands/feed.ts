import { shownUrl } from '../../ingest/sources/fetch-url.ts';
import type { FeedChange } from '../../ingest/store.ts';
import type { Command, CommandGroup } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { feedJson, requireFeed, stateText } from '../feed-output.ts';
import { listing, table, timeText } from '../output.ts';
import { confirm } from '../terminal.ts';
import { currentTs, spanText } from '../time.ts';

export const feed: CommandGroup = {
  entries: [
    {
      name: 'add',
      summary: 'Add a feed; well-known ones need only their name.',
      load: async () => (await import('./feed-add.ts')).feedAdd,
    },
    {
      name: 'list',
      summary: 'List all feeds and how they are.',
      load: async () => feedList,
    },
    {
      name: 'show',
      summary: 'Show a feed, its last error and its next run.',
      load: async () => feedShow,
    },
    {
      name: 'pause',
      summary: 'Stop fetching a feed until it is resumed.',
      load: async () => feedPause,
    },
    {
      name: 'resume',
      summary: 'Fetch a paused feed again.',
      load: async () => feedResume,
    },
    {
      name: 'run',
      summary: 'Fetch a feed now, in this process.',
      load: async () => (await import('./feed-run.ts')).feedRun,
    },
    {
      name: 'remove',
      summary: 'Remove a feed; what it brought stays.',
      load: async () => feedRemove,
    },
  ],
};

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
    const text = rows.length > 0 ? table(HEADINGS, rows) : NO_FEEDS;
    return { text, json: feeds.map((feed) => feedJson(feed, nowTs)) };
  },
);

const HEADINGS = ['NAME', 'STATE', 'FORMAT', 'EVERY', 'LAST SUCCESS', 'ROWS', 'LAST ERROR'];
const NO_FEEDS = 'There are no feeds. Add one with: urlwarden feed add urlhaus\n';

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

type Switch = { name: string; about: string; outcome: string; change(nowTs: number): FeedChange };

export const feedPause = feedSwitch({
  name: 'pause',
  about: 'Stops fetching the feed until urlwarden feed resume; a run that is under way ends as usual.\n',
  outcome: 'is paused',
  change: () => ({ isPaused: true }),
});

export const feedResume = feedSwitch({
  name: 'resume',
  about: 'Fetches a paused feed again, within seconds where a server runs. Also ends the waiting after failures.\n',
  outcome: 'is fetched again',
  change: (nowTs) => ({ isPaused: false, nextRunTs: nowTs }),
});

function feedSwitch({ name: verb, about, outcome, change }: Switch): Command {
  return controlCommand(
    { synopsis: `feed ${verb} NAME`, about, operands: ['NAME'] },
    async (control, { operands: [name = ''] }) => {
      await requireFeed(control, name);
      await control.changeFeed(name, change(currentTs()));
      const json = feedJson(await requireFeed(control, name), currentTs());
      return { text: `${name} ${outcome}.\n`, json };
    },
  );
}

export const feedRemove = controlCommand(
  {
    synopsis: 'feed remove NAME [--yes]',
    about: `Removes a feed and its headers. What it brought stays. To keep it and stop fetching it, see urlwarden feed pause.
`,
    flags: `  --yes        do not ask
`,
    operands: ['NAME'],
    options: { yes: { type: 'boolean' } },
  },
  async (control, { operands: [name = ''], options }) => {
    const feed = await requireFeed(control, name);
    if (!options.yes) await confirm(`Remove the feed ${feed.name}?`);
    await control.removeFeed(feed.name);
    return { text: `Removed ${feed.name}.\n`, json: feedJson(feed, currentTs()) };
  },
);
