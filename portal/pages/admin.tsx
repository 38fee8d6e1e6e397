import type { ComponentType } from 'preact';
import { visible } from '../format.ts';
import { lazy } from '../lazy.tsx';
import '../main.tsx';
import type { PageProps } from '../main.tsx';
import { session } from '../session.ts';
import { OverviewAdmin } from './admin/overview.tsx';

// Loaded when they are opened, so that no page has more script than its budget (`test/portal/files.test.ts`).
const AccountsAdmin = lazy<PageProps>(async () => (await import('./admin/accounts.tsx')).AccountsAdmin);
const TiersAdmin = lazy<PageProps>(async () => (await import('./admin/tiers.tsx')).TiersAdmin);
const FeedsAdmin = lazy<PageProps>(async () => (await import('./admin/feeds.tsx')).FeedsAdmin);
const ImportsAdmin = lazy<PageProps>(async () => (await import('./admin/imports.tsx')).ImportsAdmin);
const ManualListsAdmin = lazy<PageProps>(async () => (await import('./admin/manual-lists.tsx')).ManualListsAdmin);
const KeysAdmin = lazy<PageProps>(async () => (await import('./admin/keys.tsx')).KeysAdmin);
const HealthAdmin = lazy<PageProps>(async () => (await import('./admin/health.tsx')).HealthAdmin);
const AuditAdmin = lazy<PageProps>(async () => (await import('./admin/audit.tsx')).AuditAdmin);

type AdminSubPage = { name: string; text: string; component: ComponentType<PageProps> };

/** The server has the same list (src/app/portal-files.ts). */
const SUB_PAGES: AdminSubPage[] = [
  { name: '', text: 'Overview', component: OverviewAdmin },
  { name: 'accounts', text: 'Accounts', component: AccountsAdmin },
  { name: 'tiers', text: 'Tiers', component: TiersAdmin },
  { name: 'feeds', text: 'Feeds', component: FeedsAdmin },
  { name: 'imports', text: 'Imports', component: ImportsAdmin },
  { name: 'lists', text: 'Lists by hand', component: ManualListsAdmin },
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
        account. An administrator can give you the role under Admin, Accounts, or with{' '}
        <code>urlwarden account set NAME --admin yes</code>.
      </p>
      <p>
        <a href="/">Start page</a>
      </p>
    </section>
  );
}
