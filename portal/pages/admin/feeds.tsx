import '../../main.tsx';
import { useState } from 'preact/hooks';
import type { KnownFeedResponse } from '../../../src/admin/feeds.ts';
import { post } from '../../api.ts';
import {
  adviceText,
  everyText,
  FEED_STATE_OPTIONS,
  FEED_TONES,
  type Feed,
  type FeedRun,
  filterFeeds,
  importPath,
  importsOfPath,
  intervalOptions,
  isBusy,
  isNeverFetched,
  lastRun,
  nextText,
  readChange,
  runBars,
  runningRun,
  sinceText,
  unhealthyFeeds,
} from '../../feeds.ts';
import { counted, numberText, visible, withoutCommands } from '../../format.ts';
import { formatOf } from '../../formats.ts';
import { useGet } from '../../load.ts';
import type { PageProps } from '../../main.tsx';
import { Ask } from '../../parts/ask.tsx';
import { Ago, Badge, Card, Show, say, useAct } from '../../parts/basics.tsx';
import { Bars } from '../../parts/charts.tsx';
import { Check, Field, Select } from '../../parts/forms.tsx';
import { POLL_BUSY_MS, POLL_IDLE_MS, usePoll } from '../../parts/poll.ts';
import { Folded } from '../../parts/subject.tsx';
import { Table } from '../../parts/table.tsx';
import { NoMatch, TableFilter } from '../../parts/table-filter.tsx';
import { encoded } from '../../query.ts';
import { AddFeed, FEEDS, HeaderFields } from './add-feed.tsx';

const feedApi = (name: string): string => `${FEEDS}/${encoded(name)}`;

export function FeedsAdmin({ query }: PageProps) {
  const loaded = useGet<{ items: Feed[] }>(FEEDS);
  const known = useGet<{ items: KnownFeedResponse[] }>(`${FEEDS}/known`);
  const [isAdding, setAdding] = useState(false);
  const feeds = loaded.data?.items ?? [];
  usePoll(loaded.data, loaded.reload, isBusy(feeds) ? POLL_BUSY_MS : POLL_IDLE_MS);
  const reload = () => {
    loaded.reload();
    known.reload();
  };
  const abouts = new Map(known.data?.items.map(({ name, about }) => [name, about]));
  return (
    <>
      <div class="page-head">
        <h1>Feeds</h1>
        <button type="button" class="button primary" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
          Add a feed
        </button>
      </div>
      {isAdding && <AddFeed known={known} onAdded={reload} />}
      <Show loaded={loaded}>
        {({ items }) => <FeedCards feeds={items} query={query} abouts={abouts} reload={reload} />}
      </Show>
    </>
  );
}

type FeedsProps = { feeds: Feed[]; abouts: Map<string, string>; reload(): void };

/** In the document at first. */
const MOST_UNHEALTHY = 3;
const MOST_SHOWN = 50;

function FeedCards({ feeds, query, ...more }: FeedsProps & { query: URLSearchParams }) {
  const found = filterFeeds(feeds, query);
  const unhealthy = unhealthyFeeds(found);
  return (
    <>
      <TableFilter
        label="Name or address"
        choices={[{ label: 'State', name: 'state', options: FEED_STATE_OPTIONS }]}
        found={found.length}
        total={feeds.length}
        noun="feeds"
      />
      {unhealthy.length > 0 && (
        <Card title={`Failing or late: ${counted(unhealthy.length, 'feed')}`}>
          <Folded rows={unhealthy} class="listings" first={MOST_UNHEALTHY}>
            {(feed) => <IllFeed key={feed.name} feed={feed} />}
          </Folded>
        </Card>
      )}
      <Card>
        <FeedTable feeds={found} hasOthers={found.length < feeds.length} {...more} />
      </Card>
    </>
  );
}

/** Since when, why, and what to do. */
function IllFeed({ feed }: { feed: Feed }) {
  const run = lastRun(feed);
  const hasRejects = run?.outcome === 'failed' && run.rejected > 0;
  return (
    <li>
      <div class="unhealthy-feed">
        <Badge tone={FEED_TONES[feed.state]}>{feed.state}</Badge>
        <div class="unhealthy">
          <p>
            <strong>{visible(feed.name)}</strong> {sinceText(feed)} Data that depends on it gets older.
          </p>
          {feed.last_error !== null && <p class="said">{visible(withoutCommands(feed.last_error))}</p>}
          <p>{adviceText(feed)}</p>
          {isNeverFetched(feed) && <p class="dim">A feed of the demo: this server does not fetch it.</p>}
        </div>
        <a class="button" href={hasRejects ? importPath(run.id) : importsOfPath(feed.name)}>
          {hasRejects ? 'Show the rejected rows' : 'Show its imports'}
        </a>
      </div>
    </li>
  );
}

function FeedTable({ feeds, hasOthers, abouts, reload }: FeedsProps & { hasOthers: boolean }) {
  return (
    <Table
      caption="Feeds, their states and their newest runs"
      rows={feeds}
      keyOf={({ name }) => name}
      empty={
        hasOthers ? <NoMatch noun="feed" /> : 'No feed is fetched yet. Add one: a well-known feed needs one click.'
      }
      most={MOST_SHOWN}
      columns={[
        {
          title: 'Feed',
          cell: (feed) => (
            <div class="feed-name">
              <a href={importsOfPath(feed.name)} title="Its imports">
                {visible(feed.name)}
              </a>
              <small class="sub">{visible(abouts.get(feed.name) ?? formatOf(feed.format)?.text ?? feed.format)}</small>
              <small class="sub mono" title={visible(feed.url)}>
                {visible(hostOf(feed.url))}
              </small>
              <small class="sub narrow">
                success <Ago ts={feed.last_success_ts} />, next {nextText(feed)}
              </small>
            </div>
          ),
        },
        { title: 'State', cell: ({ state }) => <Badge tone={FEED_TONES[state]}>{state}</Badge> },
        { title: 'Last success', isWide: true, cell: ({ last_success_ts: ts }) => <Ago ts={ts} /> },
        { title: 'Rows, 14 runs', isWide: true, cell: (feed) => <Runs feed={feed} /> },
        { title: 'New', isNumber: true, isWide: true, cell: (feed) => <News run={lastRun(feed)} /> },
        { title: 'Rejected', isNumber: true, isWide: true, cell: (feed) => <Rejected feed={feed} /> },
        {
          title: 'Next run',
          isWide: true,
          cell: (feed) => (
            <div class="feed-name">
              <span class="nowrap">{nextText(feed)}</span>
              <small class="sub">{everyText(feed.interval_seconds)}</small>
            </div>
          ),
        },
        { title: 'Actions', cell: (feed) => <Actions feed={feed} reload={reload} /> },
      ]}
    />
  );
}

const countText = (count: number | undefined) => (count === undefined ? '–' : numberText(count));

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function Runs({ feed }: { feed: Feed }) {
  if (feed.runs.length === 0) return <span class="dim">no run yet</span>;
  const running = runningRun(feed);
  const newest = feed.runs.at(-1)?.read ?? 0;
  return (
    <div class="spark">
      <Bars
        bars={runBars(feed.runs)}
        height={26}
        caption={`Rows of the last ${counted(feed.runs.length, 'run')} of ${visible(feed.name)}, the newest with ${numberText(newest)}`}
      />
      {running && (
        <small class="sub nowrap" role="status">
          {counted(running.read, 'row')} read
        </small>
      )}
    </div>
  );
}

/** New URLs; a feed about addresses or domains has none, and changes other things. */
function News({ run }: { run: FeedRun | null }) {
  return (
    <>
      {countText(run?.added)}
      {run !== null && run.changed > 0 && <small class="sub nowrap">{numberText(run.changed)} changed</small>}
    </>
  );
}

function Rejected({ feed }: { feed: Feed }) {
  const run = lastRun(feed);
  if (run === null || run.rejected === 0) return <>{countText(run?.rejected)}</>;
  return (
    <a href={importPath(run.id)} aria-label={`${counted(run.rejected, 'rejected row')} of ${visible(feed.name)}`}>
      {numberText(run.rejected)}
    </a>
  );
}

function Actions({ feed, reload }: { feed: Feed; reload(): void }) {
  const { isSending, act } = useAct();
  const shown = visible(feed.name);
  const send = (path: string, body: object, done: string) =>
    act(async () => {
      await post(path, body).finally(reload);
      say(done);
    });
  return (
    <div class="row tight small-buttons">
      {!feed.paused && (
        <button
          type="button"
          class="button"
          aria-label={`Run now: ${shown}`}
          aria-disabled={isSending || feed.running}
          onClick={() => feed.running || send(`${feedApi(feed.name)}/run`, {}, `${shown} is fetched now.`)}
        >
          {feed.running ? 'Running …' : 'Run now'}
        </button>
      )}
      {/* One button, so that it keeps the focus. */}
      <button
        type="button"
        class="button"
        aria-label={`${feed.paused ? 'Resume' : 'Pause'}: ${shown}`}
        aria-disabled={isSending}
        onClick={() =>
          feed.paused
            ? send(feedApi(feed.name), { paused: false }, `${shown} is resumed and fetched at once.`)
            : send(feedApi(feed.name), { paused: true }, `${shown} is paused. Its data stays.`)
        }
      >
        {feed.paused ? 'Resume' : 'Pause'}
      </button>
      <Ask
        text="Edit"
        about={feed.name}
        title={`Edit ${shown}`}
        submit="Save"
        act={async (texts) => post(feedApi(feed.name), readChange(texts, feed))}
        onDone={() => {
          say(`${shown} is changed.`);
          reload();
        }}
      >
        <EditFields feed={feed} />
      </Ask>
      <Ask
        text="Remove"
        about={feed.name}
        title={`Remove ${shown}?`}
        submit="Remove the feed"
        isDangerous
        act={() => post(`${feedApi(feed.name)}/remove`, {})}
        onDone={() => {
          say(`${shown} is removed.`);
          reload();
        }}
      >
        <p>It is no longer fetched, and its access key is deleted. The data that it brought stays.</p>
      </Ask>
    </div>
  );
}

function EditFields({ feed }: { feed: Feed }) {
  return (
    <>
      <Field
        label="New address"
        name="url"
        hint={`Empty: as it is now, ${visible(feed.url)}. What follows a question mark is not shown.`}
      />
      <Select
        label="How often"
        name="every"
        value={String(feed.interval_seconds)}
        options={intervalOptions(feed.interval_seconds)}
      />
      <HeaderFields hint="Empty: as it is now. The value is never shown again." />
      <Check label="Forget the headers that are sent now" name="no_headers" />
      <Check label="Each fetch lists everything that is online" name="complete" isChecked={feed.complete} />
      <Check label="It is in a private network that the server allows" name="private" isChecked={feed.private} />
    </>
  );
}
