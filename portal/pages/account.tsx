import { useState } from 'preact/hooks';
import type { EndSessionsResponse, SessionsResponse } from '../../src/accounts/wire.ts';
import type { UsageByDayResponse } from '../../src/limits/wire.ts';
import { post } from '../api.ts';
import { askLine, counted, dateText, loginLine, NO_LIMIT, nowTs, numberText, spanText, visible } from '../format.ts';
import { getLimits, type Limits } from '../limits.ts';
import { useGet, useLoad } from '../load.ts';
import type { PageProps } from '../main.tsx';
import { Ago, Badge, Card, CopyButton, Facts, Show, say, useAct } from '../parts/basics.tsx';
import { Bars, dayBars, Meter } from '../parts/charts.tsx';
import { Field, Form } from '../parts/forms.tsx';
import { LogOut } from '../parts/login.tsx';
import { Table } from '../parts/table.tsx';
import { type Session, session } from '../session.ts';

export function AccountPage(_: PageProps) {
  const who = session.value;
  const limits = useLoad('limits', getLimits);
  const usage = useGet<UsageByDayResponse>('/api/portal/v1/usage?days=90');
  if (!who) return null;
  return (
    <>
      <div class="page-head">
        <h1>{visible(who.username)}</h1>
        <span class="row dim">
          subscription {who.sub}, tier {visible(who.tier)} {who.admin && <Badge tone="info">administrator</Badge>}
          <LogOut />
        </span>
      </div>
      <div class="columns">
        <div>
          <Card title="Your limits">
            <Show loaded={limits}>{(response) => <LimitBars {...response} />}</Show>
          </Card>
          <Card title="Queries by day, last 90 days">
            <Show loaded={usage}>{(response) => <UsageChart usage={response} />}</Show>
          </Card>
          <Sessions />
        </div>
        <div>
          <Card title="Call the API">
            <ApiHelp username={who.username} />
          </Card>
          <Show loaded={limits}>
            {({ limits: { ads } }) => (
              <Card title="Your datasets">
                <div class="chips">
                  {ads.split(',').map((name) => (
                    <span key={name} class="chip">
                      {name}
                    </span>
                  ))}
                </div>
              </Card>
            )}
          </Show>
          <Card title="Change the password">
            <PasswordForm />
          </Card>
        </div>
      </div>
    </>
  );
}

type Limit = { label: string; used: number; limit: number; soft?: number; resets: string };

function LimitBars({ limits, current }: Limits) {
  const now = new Date();
  const monthEndTs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1_000;
  const inDays = `starts again on ${dateText(monthEndTs)}, in ${spanText(monthEndTs - nowTs())}`;
  const minutesLeft = 60 - now.getUTCMinutes();
  const rows: Limit[] = [
    { label: 'This month', used: current.qpm, limit: limits.qmh, soft: limits.qms, resets: inDays },
    {
      label: 'This hour',
      used: current.rl_qph,
      limit: limits.rl_qph,
      resets: `starts again in ${counted(minutesLeft, 'minute')}`,
    },
    {
      label: 'This minute',
      used: current.rl_qpm,
      limit: limits.rl_qpm,
      resets: `starts again in ${counted(60 - now.getUTCSeconds(), 'second')}`,
    },
    { label: 'This second', used: current.rl_qps, limit: limits.rl_qps, resets: 'starts again with the next second' },
  ];
  return (
    <div class="limits">
      {rows.map((row) => (
        <LimitRow key={row.label} {...row} />
      ))}
      <p class="dim small">Today (UTC): {counted(current.qpd, 'query', 'queries')}. A day has no limit of its own.</p>
    </div>
  );
}

function LimitRow({ label, used, limit, soft, resets }: Limit) {
  if (limit >= NO_LIMIT) {
    return (
      <div class="limit free">
        <span>{label}</span>
        <strong>
          {numberText(used)} <span class="dim">queries</span>
        </strong>
        <span class="dim">no limit</span>
      </div>
    );
  }
  const softText = soft !== undefined && soft < limit ? `, soft limit ${numberText(soft)}` : '';
  return (
    <div class="limit">
      <span>{label}</span>
      <strong>
        {numberText(used)}{' '}
        <span class="dim">
          of {numberText(limit)}
          {softText}
        </span>
      </strong>
      <span class="dim">{resets}</span>
      <Meter
        value={used}
        max={limit}
        soft={soft ?? null}
        label={`${label}: ${numberText(used)} of ${numberText(limit)} queries`}
      />
    </div>
  );
}

export function UsageChart({ usage }: { usage: UsageByDayResponse }) {
  const bars = dayBars(usage.days, usage.from_day, usage.to_day);
  const sum = bars.reduce((total, { value }) => total + value, 0);
  const most = bars.reduce((best, bar) => (bar.value > best.value ? bar : best), { label: '', value: 0 });
  if (sum === 0) return <p class="empty">No query in these 90 days.</p>;
  return (
    <>
      <Bars bars={bars} caption={`${counted(sum, 'query', 'queries')} from ${usage.from_day} to ${usage.to_day}`} />
      <p class="axis dim small">
        <span>{usage.from_day}</span>
        <span>
          {numberText(sum)} in all; most on {most.label}: {numberText(most.value)}
        </span>
        <span>{usage.to_day}</span>
      </p>
    </>
  );
}

function Sessions() {
  const loaded = useGet<SessionsResponse>('/api/portal/v1/sessions');
  const { isSending, act } = useAct();
  const end = (body: { id: string } | { others: true }) =>
    act(async () => {
      const { ended } = await post<EndSessionsResponse>('/api/portal/v1/sessions/end', body).finally(loaded.reload);
      say(`${counted(ended, 'session')} ended.`);
    });
  const endOthers = (
    <button type="button" class="button" aria-disabled={isSending} onClick={() => end({ others: true })}>
      End all others
    </button>
  );
  return (
    <Card title="Where you are logged in" aside={(loaded.data?.items.length ?? 0) > 1 && endOthers}>
      <Show loaded={loaded}>
        {({ items }) => (
          <Table
            caption="Sessions of this account"
            rows={items}
            keyOf={({ id }) => id}
            empty="No session: you use a token."
            columns={[
              { title: 'Browser', cell: ({ agent }) => browserName(agent) },
              { title: 'From', isWide: true, cell: ({ address }) => <span class="mono">{visible(address)}</span> },
              { title: 'Logged in', isWide: true, cell: ({ created_ts: ts }) => <Ago ts={ts} /> },
              { title: 'Last used', cell: ({ used_ts: ts }) => <Ago ts={ts} /> },
              {
                title: 'Actions',
                cell: ({ id, current }) =>
                  current ? (
                    <Badge tone="ok">this one</Badge>
                  ) : (
                    <button type="button" class="button" aria-disabled={isSending} onClick={() => end({ id })}>
                      End
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Show>
    </Card>
  );
}

const BROWSERS: [pattern: RegExp, name: string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [pattern: RegExp, name: string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** `Firefox on Linux`; another program by its first word. */
function browserName(agent: string): string {
  const find = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(agent))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser === undefined) return visible(agent.split(' ')[0] ?? '') || 'unknown';
  return system === undefined ? browser : `${browser} on ${system}`;
}

function PasswordForm() {
  const [round, setRound] = useState(0);
  return (
    <Form
      key={round}
      submit="Change the password"
      onSubmit={async ({ current = '', new: chosen = '' }) => {
        session.value = await post<Session>('/api/portal/v1/password', { current, new: chosen });
        say('The password is changed. All other sessions and all tokens are over.');
        setRound(round + 1);
      }}
    >
      <input
        type="text"
        name="username"
        autoComplete="username"
        value={session.value?.username ?? ''}
        hidden
        readOnly
      />
      <Field label="Current password" name="current" type="password" isRequired autoComplete="current-password" />
      <Field label="New password" name="new" type="password" isRequired autoComplete="new-password" />
      <p class="dim small">All your other sessions and all tokens become invalid.</p>
    </Form>
  );
}

function ApiHelp({ username }: { username: string }) {
  const { origin } = location;
  const login = loginLine({ origin, username, password: '…' });
  const ask = askLine(`${origin}/api/intel/v2/byobject/url/last`, { url: 'http://203.0.113.7/bin.sh' });
  return (
    <div class="stack">
      <Facts facts={{ 'Base address': <span class="mono">{origin}</span> }} />
      <p class="dim small">Log in once, the token is valid for a day. Put your password in place of …</p>
      <pre>{login}</pre>
      <CopyButton text={login} what="Login command copied">
        Copy the login
      </CopyButton>
      <pre>{ask}</pre>
      <CopyButton text={ask} what="Request copied">
        Copy the request
      </CopyButton>
      <a href="/api">All operations</a>
    </div>
  );
}
