import type { OverviewResponse } from '../../src/portal/schemas.ts';
import { FEED_TONES } from '../feeds.ts';
import { numberText, visible } from '../format.ts';
import { useGet } from '../load.ts';
import type { PageProps } from '../main.tsx';
import { Ago, Badge, Card, Empty, Facts, Show } from '../parts/basics.tsx';
import { LookupBox } from '../parts/box.tsx';
import { POLL_IDLE_MS, usePoll } from '../parts/poll.ts';
import { UrlTable } from '../parts/urls.tsx';
import { forgetRecent, recent } from '../recent.ts';
import { session } from '../session.ts';

export function StartPage(_: PageProps) {
  const loaded = useGet<OverviewResponse>('/api/portal/v1/overview');
  usePoll(loaded.data, loaded.reload, loaded.data?.totals.urls ? null : POLL_IDLE_MS); // until the first import is counted
  return (
    <>
      <section class="hero">
        <h1>Is it dangerous?</h1>
        <p class="dim">
          Paste a URL, an address, a network, a host name, an AS number, a SHA-256 or a malware family. Defanged forms
          work too.
        </p>
        <LookupBox isLarge />
        <p class="dim">
          A list, a log or a mail? <a href="/bulk">Look up all its URLs at once</a>
        </p>
      </section>
      <Show loaded={loaded}>{(overview) => <Knowledge overview={overview} />}</Show>
    </>
  );
}

function Knowledge({ overview }: { overview: OverviewResponse }) {
  const { totals, newest_event_ts: newestTs, confirmed_ts: confirmedTs, counted_ts: countedTs } = overview;
  const total = (count: number | null) => (count === null ? <span class="dim">being counted</span> : numberText(count));
  return (
    <div class="columns">
      <div>
        <Card title="Newest URLs">
          <UrlTable caption="The newest URLs" rows={overview.newest} empty={<NoUrls />} />
        </Card>
        <RecentLookups />
      </div>
      <div>
        <Card
          title="Data"
          aside={
            countedTs !== null && (
              <span class="dim">
                counted <Ago ts={countedTs} />
              </span>
            )
          }
        >
          <Facts
            facts={{
              URLs: total(totals.urls),
              'Online now': total(totals.online),
              'Live listings of addresses': total(totals.listings),
              Domains: total(totals.domains),
              'Newest change': <Ago ts={newestTs} />,
              'Newest confirmation': <Ago ts={confirmedTs} />,
            }}
          />
        </Card>
        <Card title="Feeds" aside={session.value?.admin && <a href="/admin/feeds">Add or change</a>}>
          <Feeds feeds={overview.feeds} />
        </Card>
      </div>
    </div>
  );
}

function NoUrls() {
  if (!session.value?.admin) return <>There are no URLs yet. An administrator can add a feed or import a file.</>;
  return (
    <>
      There are no URLs yet. <a href="/admin/feeds">Add a feed</a> or <a href="/admin/imports">import a file</a>.
    </>
  );
}

function NoFeeds() {
  if (!session.value?.admin) return <>No feed is fetched. An administrator can add one.</>;
  return (
    <>
      No feed is fetched. <a href="/admin/feeds">Add a feed</a>.
    </>
  );
}

function Feeds({ feeds }: { feeds: OverviewResponse['feeds'] }) {
  if (feeds.length === 0)
    return (
      <Empty>
        <NoFeeds />
      </Empty>
    );
  return (
    <ul class="plain-list">
      {feeds.map(({ name, state, last_success_ts: ts }) => (
        <li key={name}>
          <span>{visible(name)}</span>
          <span class="row">
            <span class="dim">
              <Ago ts={ts} />
            </span>
            <Badge tone={FEED_TONES[state]}>{state}</Badge>
          </span>
        </li>
      ))}
    </ul>
  );
}

function RecentLookups() {
  if (recent.value.length === 0) return null;
  const forget = (
    <button type="button" class="button quiet" onClick={forgetRecent}>
      Forget them
    </button>
  );
  return (
    <Card title="Your last lookups" aside={forget}>
      <ul class="plain-list">
        {recent.value.map(({ kind, text, path, ts }) => (
          <li key={path}>
            <a class="mono cut" href={path}>
              {visible(text)}
            </a>
            <span class="dim">
              {kind}, <Ago ts={ts} />
            </span>
          </li>
        ))}
      </ul>
      <p class="dim small">Kept in this browser only.</p>
    </Card>
  );
}
