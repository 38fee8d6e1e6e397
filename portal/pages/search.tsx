import { useEffect, useRef } from 'preact/hooks';
import { acceptCost, takeAccepted } from '../cost.ts';
import { counted, nowTs, numberText, visible } from '../format.ts';
import type { PageProps } from '../main.tsx';
import { Ago, Card, Cost, isFocusFree, Loading, Problem } from '../parts/basics.tsx';
import { DownloadButtons } from '../parts/download-buttons.tsx';
import { SearchForm } from '../parts/search-form.tsx';
import { SearchResult } from '../parts/search-result.tsx';
import { remember } from '../recent.ts';
import { searchFile } from '../search-file.ts';
import { pathOf, readSearch, type Search, titleOf, windowName, windowOf, windowText } from '../search-key.ts';
import { type Choice, readChoice } from '../search-rows.ts';
import { choose, forgetSearch, incompleteText, isKept, type Run, run, startSearch, stopSearch } from '../search-run.ts';
import { session } from '../session.ts';

export function SearchPage({ query }: PageProps) {
  const asked = readSearch(query);
  if (asked.search !== null) return <SearchRun search={asked.search} cost={asked.cost} choice={readChoice(query)} />;
  return (
    <>
      <h1>Search</h1>
      {asked.problem && (
        <p class="problem" role="alert">
          {asked.problem}
        </p>
      )}
      <Card title="What to search for">
        <SearchForm key={asked.problem} search={asked.typed} />
      </Card>
    </>
  );
}

const owner = (): string => session.value?.sub ?? '';

/** `choice`: the filters that the address names. */
function SearchRun({ search, cost, choice }: { search: Search; cost: number; choice: Choice }) {
  const path = pathOf(search);
  useEffect(() => {
    const isAccepted = takeAccepted(path);
    if (isKept(path, owner())) return;
    if (cost === 1 || isAccepted) startSearch(search, owner());
    else forgetSearch();
  }, [path]);
  useEffect(() => {
    if (run.value?.path === path) choose(choice);
  });
  const current = run.value?.path === path && run.value.owner === owner() ? run.value : null;
  return (
    <>
      <Head search={search} cost={cost} />
      {current === null && cost > 1 && <AskFirst search={search} cost={cost} />}
      {current === null && cost === 1 && <Loading what="Searching" />}
      {current !== null && <Outcome current={current} cost={cost} />}
    </>
  );
}

function Head({ search, cost }: { search: Search; cost: number }) {
  const [words, value] = titleOf(search);
  const now = nowTs();
  const name = windowName(search.since, search.until, now);
  return (
    <section class="card search-head">
      <div class="page-head">
        <h1>
          {words} <span class="mono">{visible(value)}</span>
        </h1>
        <nav class="chips" aria-label="Window">
          {WINDOWS.map(([window, text]) => {
            const target = pathOf({ ...search, ...windowOf(window, now) });
            return (
              <a
                key={window}
                class="button"
                href={target}
                onClick={() => acceptCost(target)}
                {...(name === window && { 'aria-current': 'true' as const })}
              >
                {text}
                <Cost queries={cost} />
              </a>
            );
          })}
        </nav>
      </div>
      <p class="dim">Seen {windowText(search.since, search.until, now)}.</p>
      <details>
        <summary>Change the search</summary>
        <SearchForm key={pathOf(search)} search={search} />
      </details>
    </section>
  );
}

const WINDOWS = [
  ['30-days', '30 days'],
  ['12-months', '12 months'],
  ['all', 'All'],
] as const;

function AskFirst({ search, cost }: { search: Search; cost: number }) {
  return (
    <Card>
      <div class="row">
        <p>This search counts as {numberText(cost)} queries.</p>
        <button type="button" class="button primary" onClick={() => startSearch(search, owner())}>
          Search
        </button>
      </div>
    </Card>
  );
}

function Outcome({ current, cost }: { current: Run; cost: number }) {
  const { end, store, search } = current;
  const hasRows = store.rows.length > 0;
  useEffect(() => {
    if (!hasRows) return;
    remember({ kind: 'search', text: titleOf(search).join(' '), path: current.path, ts: nowTs() });
  }, [current.path, hasRows]);
  const again = () => startSearch(search, owner());
  if (end?.how === 'failed' && end.error.status === NOT_FOUND) return <NothingFound search={search} cost={cost} />;
  if (end?.how === 'failed') return <Problem error={end.error} retry={again} />;
  return (
    <>
      <Progress current={current} cost={cost} again={again} />
      {hasRows && <SearchResult current={current} />}
    </>
  );
}

/** The server found no fact. */
const NOT_FOUND = 404;

const ADVICE: Record<Search['name'], string> = {
  ip: 'A wider network may have more, for more queries.',
  host: 'A search finds exactly this host. Its subdomains and its domain are hosts of their own.',
  asn: 'Check the number: it is the operator of the address when the URL was seen.',
  malware_family: 'Families are found by their whole name, in any letter case. Reporters may use another name.',
  sha256: 'No URL was reported with this file.',
};

function NothingFound({ search, cost }: { search: Search; cost: number }) {
  const now = nowTs();
  const all = pathOf({ ...search, ...windowOf('all', now) });
  return (
    <Card title="Nothing found">
      <div class="stack">
        <p>
          Nothing matches <span class="mono">{visible(titleOf(search)[1])}</span>{' '}
          {windowText(search.since, search.until, now)}.
        </p>
        {windowName(search.since, search.until, now) !== 'all' && (
          <p>
            It may have been seen earlier:{' '}
            <a href={all} onClick={() => acceptCost(all)}>
              search without a limit of time <Cost queries={cost} />
            </a>
          </p>
        )}
        <p class="dim">{ADVICE[search.name]}</p>
      </div>
    </Card>
  );
}

/** What has arrived, and how it ended. */
function Progress({ current, cost, again }: { current: Run; cost: number; again(): void }) {
  const { end, store, startedTs } = current;
  const counts = `${counted(store.rows.length, 'URL')} from ${counted(store.factCount(), 'fact')}`;
  const incomplete = incompleteText(current);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The button that stopped it is gone.
    if (end !== null && isFocusFree()) section.current?.focus({ preventScroll: true });
  }, [end === null]);
  return (
    <section ref={section} class="card search-progress" tabIndex={-1}>
      <div class="page-head">
        <p class="verdict">
          {end === null && <span class="busy-dot" aria-hidden="true" />}
          <strong class="figures">{counts}</strong>
          <span role="status">{end === null ? 'Searching …' : incomplete === null ? 'Complete' : 'Incomplete'}</span>
          {end !== null && (
            <span>
              asked <Ago ts={startedTs} />
            </span>
          )}
        </p>
        {end === null ? (
          <button type="button" class="button danger" onClick={stopSearch}>
            Stop
          </button>
        ) : (
          <div class="chips">
            <button type="button" class="button" onClick={again}>
              Search again <Cost queries={cost} />
            </button>
            {store.factCount() > 0 && <Downloads current={current} />}
          </div>
        )}
      </div>
      {incomplete && (
        <p class="problem late" role="alert">
          {incomplete} {store.factCount() > 0 && 'What arrived is kept.'}
        </p>
      )}
    </section>
  );
}

const FORMATS = ['csv', 'ndjson', 'json'] as const;

/** The whole result, one line per fact, whatever is chosen below. */
function Downloads({ current }: { current: Run }) {
  const { store, search } = current;
  const what = store.factCount() === 1 ? 'the fact' : `all ${numberText(store.factCount())} facts`;
  return (
    <DownloadButtons
      formats={FORMATS}
      name={`search-${titleOf(search)[1]}`}
      what={what}
      titleOf={(format) => `Download ${what} as ${format.toUpperCase()}, without regard to filters`}
      linesOf={(format) => searchFile(format, store.facts(), incompleteText(current))}
    />
  );
}
