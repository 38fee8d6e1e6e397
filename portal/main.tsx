import { type ComponentChildren, type ComponentType, render } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { isSessionOver } from './api.ts';
import { visible } from './format.ts';
import { Frame } from './frame.tsx';
import { lazy } from './lazy.tsx';
import { toApiError } from './load.ts';
import { AccountPage } from './pages/account.tsx';
import { AddressPage, NetworkPage } from './pages/address.tsx';
import { DomainPage } from './pages/domain.tsx';
import { SearchPage } from './pages/search.tsx';
import { StartPage } from './pages/start.tsx';
import { UrlPage } from './pages/url.tsx';
import { isFocusFree, LOAD_AGAIN, Loading, Problem } from './parts/basics.tsx';
import { LogIn, LogInAgain } from './parts/login.tsx';
import { matchPath, place } from './router.ts';
import { readSession, session, sessionProblem } from './session.ts';
import { drawWith } from './signal.ts';

/** The values of the path, and the part after the question mark. */
export type PageProps = { values: Record<string, string>; query: URLSearchParams };

type Page = {
  pattern: string;
  title(props: PageProps): string;
  component: ComponentType<PageProps>;
  /** The text in the box of the frame. */
  boxText?(props: PageProps): string;
  isOpen?: true;
};

// Most people never open these pages, and they are half of the script. Each of them imports this file, so that the bundler puts
// all that is here into one part: otherwise it makes one for each set of pages that share something, and they take 10 % more.
const ApiPage = lazy<PageProps>(async () => (await import('./pages/api.tsx')).ApiPage);
const AdminPage = lazy<PageProps>(async () => (await import('./pages/admin.tsx')).AdminPage);
const ListsPage = lazy<PageProps>(async () => (await import('./pages/lists.tsx')).ListsPage);
const BulkPage = lazy<PageProps>(async () => (await import('./pages/bulk.tsx')).BulkPage);

/** Every page. The server has the same list of paths (src/app/portal-files.ts). */
const PAGES: Page[] = [
  { pattern: '/', title: () => 'Start', component: StartPage },
  {
    pattern: '/url',
    title: ({ query }) => query.get('u') ?? 'URL',
    component: UrlPage,
    boxText: ({ query }) => query.get('u') ?? '',
  },
  {
    pattern: '/address/:ip',
    title: ({ values }) => values.ip ?? '',
    component: AddressPage,
    boxText: ({ values }) => values.ip ?? '',
  },
  {
    pattern: '/network/:ip/:mask',
    title: ({ values }) => `${values.ip}/${values.mask}`,
    component: NetworkPage,
    boxText: ({ values }) => `${values.ip}/${values.mask}`,
  },
  {
    pattern: '/domain/:name',
    title: ({ values }) => values.name ?? '',
    component: DomainPage,
    boxText: ({ values }) => values.name ?? '',
  },
  { pattern: '/search', title: () => 'Search', component: SearchPage },
  { pattern: '/bulk', title: () => 'Bulk lookup', component: BulkPage },
  { pattern: '/lists', title: () => 'Lists', component: ListsPage },
  { pattern: '/lists/:name', title: ({ values }) => `List ${values.name}`, component: ListsPage },
  { pattern: '/account', title: () => 'Account', component: AccountPage },
  { pattern: '/api', title: () => 'API', component: ApiPage, isOpen: true },
  { pattern: '/admin', title: () => 'Administration', component: AdminPage },
  { pattern: '/admin/:page', title: ({ values }) => `Administration: ${values.page}`, component: AdminPage },
];

function App() {
  const { path, query } = place.value;
  const shown = useRef<{ path: string; what: string } | null>(null);
  const found = PAGES.map((page) => ({ page, values: matchPath(page.pattern, path) })).find(
    ({ values }) => values !== null,
  );
  const props: PageProps = { values: found?.values ?? {}, query };
  const title = found?.page.title(props) ?? 'Unknown page';
  const what = `${path}?${query} ${session.value === null}`;
  useEffect(() => {
    document.title = `${visible(title)} · Urlwarden`;
    // A new page is read from its beginning, as after a normal link; so is another part of the same page, and a page after the
    // login, if the control that had the focus is gone.
    const last = shown.current;
    if (last !== null && (last.path !== path || (last.what !== what && isFocusFree())))
      document.getElementById('main')?.focus({ preventScroll: true });
    shown.current = { path, what };
  });
  return (
    <Frame boxText={session.value ? (found?.page.boxText?.(props) ?? '') : ''}>
      <Guarded what={what}>{content(found?.page, props)}</Guarded>
      {isSessionOver.value && !found?.page.isOpen && <LogInAgain />}
    </Frame>
  );
}

/** A page that cannot be drawn, for example with the data of a newer server, says so, and other pages still work. */
function Guarded({ what, children }: { what: string; children: ComponentChildren }) {
  const [error, forget] = useErrorBoundary((thrown) => reportError(thrown));
  useEffect(() => forget, [what]);
  if (!error) return children;
  return (
    <>
      <h1>This page failed</h1>
      <Problem error={toApiError(error)} {...LOAD_AGAIN} />
    </>
  );
}

function content(page: Page | undefined, props: PageProps) {
  if (page === undefined) return <h1>This page does not exist</h1>;
  const Component = page.component;
  if (page.isOpen) return <Component {...props} />;
  if (sessionProblem.value)
    return (
      <>
        <h1>Urlwarden</h1>
        <Problem error={sessionProblem.value} retry={readSession} />
      </>
    );
  if (session.value === undefined) return <Loading />;
  return session.value === null ? <LogIn /> : <Component {...props} />;
}

const root = document.getElementById('page');
root?.replaceChildren(); // what is shown without this script
const drawPage = () => root && render(<App />, root);
drawWith(drawPage);
drawPage();
void readSession();
