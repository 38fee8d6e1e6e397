import type { ComponentType } from 'preact';
import { visible } from '../format.ts';
import '../main.tsx';
import type { PageProps } from '../main.tsx';
import { session } from '../session.ts';
import { AccountsAdmin } from './admin/accounts.tsx';
import { AuditAdmin } from './admin/audit.tsx';
import { FeedsAdmin } from './admin/feeds.tsx';
import { HealthAdmin } from './admin/health.tsx';
import { ImportsAdmin } from './admin/imports.tsx';
import { KeysAdmin } from './admin/keys.tsx';
import { ListsAdmin } from './admin/lists.tsx';
import { OverviewAdmin } from './admin/overview.tsx';
import { TiersAdmin } from './admin/tiers.tsx';

type AdminSubPage = { name: string; text: string; component: ComponentType<PageProps> };

/** The server has the same list (src/app/portal-files.ts). */
const SUB_PAGES: AdminSubPage[] = [
  { name: '', text: 'Overview', component: OverviewAdmin },
  { name: 'accounts', text: 'Accounts', component: AccountsAdmin },
  { name: 'tiers', text: 'Tiers', component: TiersAdmin },
  { name: 'feeds', text: 'Feeds', component: FeedsAdmin },
  { name: 'imports', text: 'Imports', component: ImportsAdmin },
  { name: 'lists', text: 'Lists by hand', component: ListsAdmin },
  { name: 'keys', text: 'Keys', component: KeysAdmin },
  { name: 'audit', text: 'Audit log', component: AuditAdmin },
  { name: 'health', text: 'Health', component: HealthAdmin },
];

export function AdminPage(props: PageProps) {
  const who = session.value;
  if (!who?.admin) return <NotForYou username={who?.username ?? ''} />;
  const name = props.values.page ?? '';
  const found = SUB_PAGES.find((page) => page.name === name);
  if (found === undefined) return <h1>This page does not exist</h1>;
  const Page = found.component;
  return (
    <>
      <nav class="tabs" aria-label="Administration">
        {SUB_PAGES.map((page) => (
          <a
            key={page.name}
            href={page.name === '' ? '/admin' : `/admin/${page.name}`}
            {...(page === found && { 'aria-current': 'page' as const })}
          >
            {page.text}
          </a>
        ))}
      </nav>
      <Page {...props} />
    </>
  );
}

function NotForYou({ username }: { username: string }) {
  return (
    <section class="card stack">
      <h1>Only for administrators</h1>
      <p>
        You are logged in as {visible(username)}, which is not an administrator: the server responds with 403 to this
        account. Another administrator can give you the role under Admin, Accounts, or with{' '}
        <code>urlwarden account set NAME --admin yes</code>.
      </p>
      <p>
        <a href="/">Start page</a>
      </p>
    </section>
  );
}
