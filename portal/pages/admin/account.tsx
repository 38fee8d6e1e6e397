import { useState } from 'preact/hooks';
import type { AccountItem, TierItem } from '../../../src/admin/wire.ts';
import type { UsageByDayResponse } from '../../../src/limits/wire.ts';
import { accountApi, accountName, limitText, newPassword, requireTyped } from '../../admin.ts';
import { post } from '../../api.ts';
import { auditPath, NO_FILTER } from '../../audit-log.ts';
import { dateText, NO_LIMIT, numberText, visible } from '../../format.ts';
import { useGet } from '../../load.ts';
import { Ask } from '../../parts/ask.tsx';
import { Badge, Card, Facts, Show, say } from '../../parts/basics.tsx';
import { Meter } from '../../parts/charts.tsx';
import { Field, Form, Select } from '../../parts/forms.tsx';
import { go } from '../../router.ts';
import { readSession, session } from '../../session.ts';
import { UsageChart } from '../account.tsx';
import { NewestChanges } from './audit.tsx';

export function States({ account: { admin, enabled } }: { account: AccountItem }) {
  return (
    <>
      {admin && <Badge tone="info">administrator</Badge>}
      {!enabled && <Badge tone="off">disabled</Badge>}
    </>
  );
}

/** The queries of the month, and a bar against the hard limit. */
export function Used({ account: { username, queries_month: used, soft, hard } }: { account: AccountItem }) {
  const isLimited = hard !== null && hard < NO_LIMIT;
  return (
    <div class="used">
      <span>
        {numberText(used)}
        <span class="dim">
          {isLimited ? ` of ${numberText(hard)}` : `, ${hard === null ? 'limit unknown' : 'no limit'}`}
        </span>
      </span>
      {isLimited && (
        <Meter
          value={used}
          max={hard}
          soft={soft}
          label={`${visible(username)}: ${numberText(used)} of ${numberText(hard)} queries this month`}
        />
      )}
    </div>
  );
}

export const tierOptions = (tiers: readonly TierItem[]) =>
  tiers.map(({ name, qmh }) => ({
    value: name,
    text: `${visible(name)}: ${limitText(qmh)}${qmh < NO_LIMIT ? ' a month' : ''}`,
  }));

export function NewPassword() {
  const hint = 'Leave it empty: one is generated and shown once.';
  return <Field label="Password" name="password" type="password" autoComplete="new-password" hint={hint} />;
}

type OneProps = { account: AccountItem; tiers: TierItem[]; reload(): void };

export function OneAccount({ account, tiers, reload }: OneProps) {
  const [changes, setChanges] = useState(0);
  const onChange = () => {
    setChanges(changes + 1);
    reload();
  };
  const { username, sub, created_ts: createdTs, queries_day: today } = account;
  const usage = useGet<UsageByDayResponse>(`${accountApi(username)}/usage?days=90`);
  return (
    <>
      <div>
        <a href="/admin/accounts">← All accounts</a>
      </div>
      <div class="page-head">
        <h1>{accountName(username)}</h1>
        <span class="row">
          <States account={account} />
          {account.enabled && <Badge tone="ok">enabled</Badge>}
        </span>
      </div>
      <div class="columns">
        <div>
          <Card title="This month">
            <Used account={account} />
          </Card>
          <Card title="Queries by day, last 90 days">
            <Show loaded={usage}>{(response) => <UsageChart usage={response} />}</Show>
          </Card>
          <Card
            title="Newest changes of this account"
            aside={<a href={auditPath({ ...NO_FILTER, subject: username })}>All of them</a>}
          >
            <NewestChanges key={changes} subject={username} />
          </Card>
        </div>
        <div>
          <Card title="Account">
            <Facts
              facts={{
                Subscription: sub,
                Added: dateText(createdTs),
                'Queries today': numberText(today),
                'Soft limit of a month': limitText(account.soft),
                'Hard limit of a month': limitText(account.hard),
              }}
            />
          </Card>
          <Card title="Tier">
            <TierForm account={account} tiers={tiers} reload={onChange} />
          </Card>
          <Card title="Access">
            <Access account={account} reload={onChange} />
          </Card>
        </div>
      </div>
    </>
  );
}

function TierForm({ account: { username, tier }, tiers, reload }: OneProps) {
  return (
    <Form
      submit="Change the tier"
      onSubmit={async ({ tier: chosen }) => {
        await post(accountApi(username), { tier: chosen });
        say(`${visible(username)} has the tier ${visible(chosen ?? '')}.`);
        reload();
      }}
    >
      <Select label="Tier of this account" name="tier" value={tier} options={tierOptions(tiers)} />
    </Form>
  );
}

/** Everything that decides who can log in. Each asks first, and says what it means. */
function Access({ account, reload }: { account: AccountItem; reload(): void }) {
  const { username, enabled, admin } = account;
  const name = visible(username);
  const change = async (path: string, body: object, words: string) => {
    await post(accountApi(username) + path, body);
    say(words);
    // Whoever takes the role from himself, or ends his own sessions, must see it at once.
    if (username === session.value?.username) await readSession();
  };
  return (
    <div class="actions">
      <Ask
        text={admin ? 'Remove the administrator role' : 'Make administrator'}
        submit={admin ? 'Remove the role' : 'Make administrator'}
        act={() =>
          change('', { admin: !admin }, admin ? `${name} is no administrator now.` : `${name} is an administrator.`)
        }
        onDone={reload}
      >
        <p>
          {admin
            ? `${name} will no longer see these pages. Queries work as before.`
            : `${name} will see and change everything here: accounts, feeds, lists and keys.`}
        </p>
      </Ask>
      <Ask
        text={enabled ? 'Disable' : 'Enable'}
        title={enabled ? 'Disable the account' : 'Enable the account'}
        submit={enabled ? 'Disable' : 'Enable'}
        isDangerous={enabled}
        act={() => change('', { enabled: !enabled }, `${name} is ${enabled ? 'disabled' : 'enabled'}.`)}
        onDone={reload}
      >
        <p>
          {enabled
            ? `${name} cannot log in any more, and its sessions and tokens end within five seconds. It can be enabled again.`
            : `${name} can log in again, with the password it had.`}
        </p>
      </Ask>
      <Ask
        text="End sessions and tokens"
        submit="End them"
        act={() => change('/revoke', {}, `All sessions and tokens of ${name} end within five seconds.`)}
        onDone={reload}
      >
        <p>{name} has to log in again everywhere. The password stays as it is.</p>
      </Ask>
      <Ask
        text="New password"
        submit="Set the password"
        act={async ({ password }) => {
          const chosen = password ?? newPassword();
          await change('', { password: chosen }, `${name} has a new password.`);
          return password === undefined ? chosen : undefined;
        }}
        onDone={reload}
      >
        <p>All sessions and tokens of {name} end within five seconds.</p>
        {/* For programs that keep passwords. */}
        <input type="text" name="username" autoComplete="username" value={username} hidden readOnly />
        <NewPassword />
      </Ask>
      <Ask
        text="Remove"
        title="Remove the account"
        submit="Remove for ever"
        isDangerous
        act={async ({ name: typed }) => {
          requireTyped(typed, username);
          await post(`${accountApi(username)}/remove`, {});
          say(`Account ${name} removed.`);
        }}
        onDone={() => {
          reload();
          go('/admin/accounts');
        }}
      >
        <p>This cannot be undone. Its queries stay in the report of the month. To keep it for later, disable it.</p>
        <Field label={`Type ${name} to confirm`} name="name" isRequired />
      </Ask>
    </div>
  );
}
