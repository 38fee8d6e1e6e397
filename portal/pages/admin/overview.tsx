import type { AccountItem } from '../../../src/admin/wire.ts';
import { ADMIN_API, accountName, accountPath, NEAR_LIMIT_PATH, nearLimit } from '../../admin.ts';
import { FEED_TONES, type Feed, UNHEALTHY_FEEDS_PATH, unhealthyFeeds } from '../../feeds.ts';
import { counted, visible, withoutCommands } from '../../format.ts';
import { useGet } from '../../load.ts';
import type { PageProps } from '../../main.tsx';
import { Ago, Badge, Card, Empty, Show } from '../../parts/basics.tsx';
import { Used } from './account.tsx';
import { NewestChanges } from './audit.tsx';
import { HealthList, useHealth } from './health.tsx';

/** What an administrator should look at first. */
export function OverviewAdmin(_: PageProps) {
  const health = useHealth();
  const feeds = useGet<{ items: Feed[] }>(`${ADMIN_API}/feeds`);
  const accounts = useGet<{ items: AccountItem[] }>(`${ADMIN_API}/accounts`);
  return (
    <>
      <h1>Administration</h1>
      <div class="columns even">
        <div>
          <Card title="Health" aside={<a href="/admin/health">Details</a>}>
            <Show loaded={health}>{(response) => <HealthList health={response} />}</Show>
          </Card>
          <Card title="Unhealthy feeds" aside={<a href="/admin/feeds">All feeds</a>}>
            <Show loaded={feeds}>{({ items }) => <IllFeeds feeds={items} />}</Show>
          </Card>
        </div>
        <div>
          <Card title="Accounts near their limit" aside={<a href="/admin/accounts">All accounts</a>}>
            <Show loaded={accounts}>{({ items }) => <FullAccounts accounts={items} />}</Show>
          </Card>
          <Card title="Newest changes" aside={<a href="/admin/audit">Audit log</a>}>
            <NewestChanges />
          </Card>
        </div>
      </div>
    </>
  );
}

const MOST_SHOWN = 10;

function IllFeeds({ feeds }: { feeds: Feed[] }) {
  if (feeds.length === 0) return <Empty>No feed is fetched. Add one under Feeds.</Empty>;
  const unhealthy = unhealthyFeeds(feeds);
  if (unhealthy.length === 0) return <p>All is well: {counted(feeds.length, 'feed')}, none late or failing.</p>;
  return (
    <>
      <ul class="plain-list">
        {unhealthy.slice(0, MOST_SHOWN).map(({ name, state, last_success_ts: ts, last_error: error }) => (
          <li key={name}>
            <div class="unhealthy">
              <strong>{visible(name)}</strong>
              <p class="dim small">
                Last success: <Ago ts={ts} />. {error !== null && visible(withoutCommands(error))}
              </p>
            </div>
            <Badge tone={FEED_TONES[state]}>{state}</Badge>
          </li>
        ))}
      </ul>
      <More of={unhealthy.length} noun="feed" path={UNHEALTHY_FEEDS_PATH} />
    </>
  );
}

function FullAccounts({ accounts }: { accounts: AccountItem[] }) {
  const near = nearLimit(accounts);
  if (near.length === 0) {
    return <p>None of {counted(accounts.length, 'account')} has used four fifths of its month.</p>;
  }
  return (
    <>
      <ul class="plain-list">
        {near.slice(0, MOST_SHOWN).map((account) => (
          <li key={account.sub}>
            <a class="cut" href={accountPath(account.username)}>
              {accountName(account.username)}
            </a>
            <Used account={account} />
          </li>
        ))}
      </ul>
      <More of={near.length} noun="account" path={NEAR_LIMIT_PATH} />
    </>
  );
}

/** The link to the rest, if there are more than are shown. */
function More({ of: all, noun, path }: { of: number; noun: string; path: string }) {
  if (all <= MOST_SHOWN) return null;
  return (
    <p class="small">
      <a href={path}>And {counted(all - MOST_SHOWN, noun)} more</a>
    </p>
  );
}
