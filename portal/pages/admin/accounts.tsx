import '../../main.tsx';
import { useMemo } from 'preact/hooks';
import type { AccountItem, AddAccountResponse, TierItem } from '../../../src/admin/wire.ts';
import { ACCOUNT_STATE_OPTIONS, ADMIN_API, accountName, accountPath, filterAccounts, usedShare } from '../../admin.ts';
import { get, post } from '../../api.ts';
import { dateText, visible } from '../../format.ts';
import { useLoad } from '../../load.ts';
import type { PageProps } from '../../main.tsx';
import { Ask } from '../../parts/ask.tsx';
import { Card, Show, say } from '../../parts/basics.tsx';
import { Check, Field, type FormTexts, Select } from '../../parts/forms.tsx';
import { countColumn, MANY, Table } from '../../parts/table.tsx';
import { NoMatch, TableFilter } from '../../parts/table-filter.tsx';
import { NewPassword, OneAccount, States, tierOptions, Used } from './account.tsx';

type Known = { accounts: AccountItem[]; tiers: TierItem[] };

async function readAccounts(abort: AbortSignal): Promise<Known> {
  const [accounts, tiers] = await Promise.all([
    get<{ items: AccountItem[] }>(`${ADMIN_API}/accounts`, abort),
    get<{ items: TierItem[] }>(`${ADMIN_API}/tiers`, abort),
  ]);
  return { accounts: accounts.items, tiers: tiers.items };
}

/** All accounts, or the one that the address names. */
export function AccountsAdmin({ query }: PageProps) {
  const name = query.get('name');
  const loaded = useLoad('accounts', readAccounts);
  const { reload } = loaded;
  return (
    <>
      {loaded.state !== 'done' && <h1>{name === null ? 'Accounts' : accountName(name)}</h1>}
      <Show loaded={loaded}>
        {(known) =>
          name === null ? (
            <AllAccounts {...known} query={query} reload={reload} />
          ) : (
            <Named name={name} known={known} reload={reload} />
          )
        }
      </Show>
    </>
  );
}

function Named({ name, known, reload }: { name: string; known: Known; reload(): void }) {
  const account = known.accounts.find(({ username }) => username === name);
  if (account) return <OneAccount key={account.sub} account={account} tiers={known.tiers} reload={reload} />;
  return (
    <>
      <h1>{accountName(name)}</h1>
      <p>
        There is no account with this name. <a href="/admin/accounts">All accounts</a>
      </p>
    </>
  );
}

function AllAccounts({ accounts, tiers, query, reload }: Known & { query: URLSearchParams; reload(): void }) {
  const sorted = useMemo(() => accounts.toSorted((a, b) => b.queries_month - a.queries_month), [accounts]);
  const rows = filterAccounts(sorted, query);
  const tierNames = new Set([...tiers.map(({ name }) => name), ...accounts.map(({ tier }) => tier)]);
  return (
    <>
      <div class="page-head">
        <h1>Accounts</h1>
        <AddAccount tiers={tiers} onDone={reload} />
      </div>
      <Card>
        <TableFilter
          label="Name or subscription"
          choices={[
            {
              label: 'Tier',
              name: 'tier',
              options: [
                { value: '', text: 'all' },
                ...[...tierNames].map((name) => ({ value: name, text: visible(name) })),
              ],
            },
            { label: 'State', name: 'state', options: ACCOUNT_STATE_OPTIONS },
          ]}
          found={rows.length}
          total={accounts.length}
          noun="accounts"
        />
        <Table
          caption="Accounts, the most queries first"
          rows={rows}
          keyOf={({ sub }) => sub}
          empty={<NoMatch noun="account" />}
          most={MANY}
          columns={[
            { title: 'Account', sort: ({ username }) => username.toLowerCase(), cell: (one) => <Name account={one} /> },
            { title: 'Tier', isWide: true, sort: ({ tier }) => tier, cell: ({ tier }) => visible(tier) },
            { title: 'This month', sort: ({ queries_month: used }) => used, cell: (one) => <Used account={one} /> },
            { title: 'Of the limit', isNumber: true, isWide: true, sort: usedShare, cell: shareText },
            countColumn('Today', (row: AccountItem) => row.queries_day),
            {
              title: 'Added',
              isWide: true,
              sort: ({ created_ts: ts }) => ts,
              cell: ({ created_ts: ts }) => dateText(ts),
            },
          ]}
        />
      </Card>
    </>
  );
}

function shareText(account: AccountItem): string {
  const share = usedShare(account);
  return share === null ? '–' : `${Math.floor(share * 100)} %`;
}

function Name({ account }: { account: AccountItem }) {
  return (
    <span class="row tight">
      <a class="cut" href={accountPath(account.username)}>
        {accountName(account.username)}
      </a>
      <States account={account} />
    </span>
  );
}

const DEFAULT_TIER = 'standard';

function AddAccount({ tiers, onDone }: { tiers: TierItem[]; onDone(): void }) {
  const add = async ({ username, tier, password, admin }: FormTexts) => {
    const body = { username, tier, admin: admin !== undefined, ...(password !== undefined && { password }) };
    const response = await post<AddAccountResponse>(`${ADMIN_API}/accounts`, body);
    if (response.password === null) say(`Account ${visible(response.account.username)} added.`);
    return response.password;
  };
  return (
    <Ask text="Add an account" submit="Add" act={add} onDone={onDone} isPrimary>
      <Field
        label="Username"
        name="username"
        isRequired
        hint="Usually an e-mail address. Letter case does not matter."
      />
      <Select label="Tier" name="tier" value={DEFAULT_TIER} options={tierOptions(tiers)} />
      <NewPassword />
      <Check label="Administrator: may see and change everything here" name="admin" />
    </Ask>
  );
}
