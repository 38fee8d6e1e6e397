import { feedState } from '../../ingest/feeds/feed-state.ts';
import { feedFields, removeFeed, requireFeed, setPaused } from '../../ingest/feeds/manage.ts';
import { shownUrl } from '../../ingest/sources/fetch-url.ts';
import { recordChange } from '../audit-record.ts';
import type { Command, CommandGroup } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { feedJson, stateText } from '../feed-output.ts';
import { fieldList, table, timeText } from '../output.ts';
import { confirm } from '../terminal.ts';
import { currentTs, spanText } from '../time.ts';

export const feed: CommandGroup = {
  entries: [
    {
      name: 'add',
      summary: 'Add a feed; a well-known one needs only its name.',
      load: async () => (await import('./feed-add.ts')).feedAdd,
    },
    { name: 'list', summary: 'List all feeds and their states.', load: async () => feedList },
    { name: 'show', summary: 'Show a feed, its last error and its next run.', load: async () => feedShow },
    {
      name: 'set',
      summary: 'Change a feed: its URL, interval, headers, trust and others.',
      load: async () => (await import('./feed-set.ts')).feedSet,
    },
    { name: 'pause', summary: 'Stop fetching a feed until it is resumed.', load: async () => feedPause },
    { name: 'resume', summary: 'Fetch a paused feed again.', load: async () => feedResume },
    {
      name: 'run',
      summary: 'Fetch and import a feed now, in this process.',
      load: async () => (await import('./feed-run.ts')).feedRun,
    },
    { name: 'remove', summary: 'Remove a feed; the data from it stays.', load: async () => feedRemove },
  ],
};

const feedList = controlCommand(
  {
    synopsis: 'feed list',
    about: `Lists all feeds and their states. The error of the last run is below its feed.

  ok        the last run succeeded
  new       not fetched yet
  failing   the last run failed; the server retries
  stale     no success for three intervals
  paused    not fetched until urlwarden feed resume`,
  },
  async (control) => {
    const nowTs = currentTs();
    const feeds = await control.feeds();
    const rows = feeds.map((feed) => [
      feed.name,
      feedState(feed, nowTs),
      feed.format,
      spanText(feed.intervalSeconds),
      timeOrNever(feed.lastSuccessTs),
      feed.rows ?? '',
    ]);
    const headings = ['NAME', 'STATE', 'FORMAT', 'EVERY', 'LAST SUCCESS', 'ROWS'];
    const notes = feeds.map(({ lastError }) => (lastError === null ? [] : [lastError]));
    const text = rows.length > 0 ? table(headings, rows, { shortened: ['NAME', 'FORMAT'], notes }) : NO_FEEDS;
    return { text, json: feeds.map((feed) => feedJson(feed, nowTs)) };
  },
);

const NO_FEEDS = 'There are no feeds. Add one with: urlwarden feed add urlhaus\n';

const feedShow = controlCommand(
  {
    synopsis: 'feed show NAME',
    about: 'Shows a feed: its source, the result of its last run, and the time of the next one.',
    operands: ['NAME'],
  },
  async (control, { operands: [name = ''] }) => {
    const nowTs = currentTs();
    const feed = await requireFeed(control, name);
    const text = fieldList([
      ['name', feed.name],
      ['state', stateText(feed, nowTs)],
      ['format', feed.format],
      ['url', shownUrl(feed.url)],
      ['headers', Object.keys(feed.headers).join(', ') || 'none'],
      ['every', spanText(feed.intervalSeconds)],
      ['complete listing', feed.isComplete ? 'yes' : 'no'],
      ['private network', feed.allowsPrivate ? 'yes' : 'no'],
      ['trust', feed.trustPermille / 1000],
      ['life of listings', feed.lifeSeconds === null ? 'that of the dataset' : spanText(feed.lifeSeconds)],
      ['dataset, kind or list', feed.dataset ?? feed.evidenceKind ?? feed.listKind ?? 'as the data says'],
      ['last run', timeOrNever(feed.lastRunTs)],
      ['last success', timeOrNever(feed.lastSuccessTs)],
      ['rows', feed.rows ?? 'none yet'],
      ['last error', feed.lastError ?? 'none'],
      ['failures in a row', feed.failures],
      ['next run', feed.isPaused ? 'when it is resumed' : timeText(feed.nextRunTs)],
    ]);
    return { text, json: feedJson(feed, nowTs) };
  },
);

const feedPause = pauseCommand({
  name: 'pause',
  about: 'Stops fetching a feed until urlwarden feed resume. A run in progress is stopped within seconds.',
  outcome: 'is paused',
});

const feedResume = pauseCommand({
  name: 'resume',
  about: `Fetches a paused feed again; a running server does it within seconds. A feed that waits for a retry after
failures is fetched now as well.`,
  outcome: 'is fetched again',
});

const feedRemove = controlCommand(
  {
    synopsis: 'feed remove NAME',
    about: `Removes a feed and its headers, and stops a run in progress. The data from it stays. To stop fetching it
without removing it, use urlwarden feed pause.`,
    operands: ['NAME'],
    flags: { yes: { meaning: 'do not ask for confirmation' } },
  },
  async (control, { operands: [name = ''], flags }) => {
    const feed = await requireFeed(control, name);
    if (!flags.yes) await confirm(`Remove the feed ${feed.name}?`);
    await removeFeed(control, feed.name);
    await recordChange(control, { action: 'feed.remove', subject: feed.name, before: feedFields(feed) });
    return { text: `Removed ${feed.name}.\n`, json: feedJson(feed, currentTs()) };
  },
);

type PauseWords = {
  name: 'pause' | 'resume';
  about: string;
  /** The result, which completes the sentence "urlhaus …". */
  outcome: string;
};

function pauseCommand({ name: verb, about, outcome }: PauseWords): Command {
  return controlCommand(
    { synopsis: `feed ${verb} NAME`, about, operands: ['NAME'] },
    async (control, { operands: [name = ''] }) => {
      const { before, after } = await setPaused(control, name, verb === 'pause', currentTs());
      const fields = { before: feedFields(before), after: feedFields(after) };
      await recordChange(control, { action: `feed.${verb}`, subject: name, ...fields });
      return { text: `${name} ${outcome}.\n`, json: feedJson(after, currentTs()) };
    },
  );
}

function timeOrNever(ts: number | null): string {
  return ts === null ? 'never' : timeText(ts);
}
