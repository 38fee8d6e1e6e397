import { useEffect } from 'preact/hooks';
import { acceptCost, takeAccepted } from '../cost.ts';
import { counted, nowTs, numberText, timeText, visible } from '../format.ts';
import type { PageProps } from '../main.tsx';
import { Ago, Card, Cost, Empty, Loading, Problem, Status } from '../parts/basics.tsx';
import { daysText, Histogram } from '../parts/histogram.tsx';
import { type LongColumn, LongTable } from '../parts/long-table.tsx';
import { SearchForm } from '../parts/search-form.tsx';
import { searchPath, urlPath } from '../question.ts';
import { remember } from '../recent.ts';
import { FILE_TYPES, type FileFormat, fileName, fileParts } from '../search-download.ts';
import { pathOf, readSearch, type Search, titleOf, windowName, windowOf, windowText } from '../search-key.ts';
import { FACETS, type FacetView, isChosen, NO_CHOICE, networkText, type Row, toggled } from '../search-rows.ts';
import {
  choose,
  forgetSearch,
  incompleteText,
  isKept,
  type Run,
  run,
  sortBy,
  startSearch,
  stopSearch,
} from '../search-run.ts';
import { session } from '../session.ts';

export function SearchPage({ query }: PageProps) {
  const asked = readSearch(query);
  if (asked.search !== null) return <SearchAnswer search={asked.search} cost={asked.cost} />;
  return (
    <>
      <h1>Search</h1>
      {asked.problem && (
        <p class="problem" role="alert">
          {asked.problem}
        </p>
      )}
      <Card title="What to search for">
        <SearchForm search={null} />
      </Card>
    </>
  );
}

const owner = (): string => session.value?.sub ?? '';

function SearchAnswer({ search, cost }: { search: Search; cost: number }) {
  const path = pathOf(search);
  useEffect(() => {
    const isAccepted = takeAccepted(path);
    if (isKept(path, owner())) return;
    if (cost === 1 || isAccepted) startSearch(search, owner());
    else forgetSearch();
  }, [path]);
  const current = run.value?.path === path && run.value.owner === owner() ? run.value : null;
  return (
    <>
      <Head search={search} cost={cost} />
      {current === null && cost > 1 && <AskFirst search={search} cost={cost} />}
      {current === null && cost === 1 && <Loading what="Searching" />}
      {current !== null && <Answer current={current} cost={cost} />}
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

function Answer({ current, cost }: { current: Run; cost: number }) {
  const { end, store, search } = current;
  const hasRows = store.rows.length > 0;
  useEffect(() => {
    if (!hasRows) return;
    const [words, text] = titleOf(search);
    remember({ kind: words, text, path: current.path, ts: nowTs() });
  }, [current.path, hasRows]);
  const again = () => startSearch(search, owner());
  if (end?.how === 'failed' && end.error.status === NOT_FOUND) return <NothingFound search={search} cost={cost} />;
  if (end?.how === 'failed') return <Problem error={end.error} retry={again} />;
  return (
    <>
      <Progress current={current} cost={cost} again={again} />
      {hasRows && <Result current={current} />}
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
  return (
    <section class="card search-progress">
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

const FORMATS: [FileFormat, string][] = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
  ['json', 'JSON'],
];

/** The whole result, one line per fact, whatever is chosen below. */
function Downloads({ current }: { current: Run }) {
  const { store, search } = current;
  const what = store.factCount() === 1 ? 'the fact' : `all ${numberText(store.factCount())} facts`;
  return (
    <>
      {FORMATS.map(([format, name]) => (
        <button
          key={format}
          type="button"
          class="button"
          title={`Download ${what} as ${name}, without regard to filters`}
          onClick={() =>
            saveFile(
              fileName(titleOf(search)[1], format),
              FILE_TYPES[format],
              fileParts(format, store.facts(), incompleteText(current)),
            )
          }
        >
          ↓ {name}
          <span class="unseen">: download {what}</span>
        </button>
      ))}
    </>
  );
}

/** Some browsers begin to read the file after the click has returned. */
const REVOKE_MS = 60_000;

function saveFile(name: string, type: string, parts: Iterable<string>): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}

function Result({ current }: { current: Run }) {
  const { view, choice, store, end } = current;
  const { histogram } = view;
  const unit = histogram.daysPerBar === 1 ? 'day' : `${histogram.daysPerBar} days`;
  return (
    <>
      <Card
        title={`URLs by ${unit} of their newest fact`}
        aside={
          <span class="row">
            <span class="dim">{choice.days ? daysText(choice.days) : 'Click or drag to select days'}</span>
            {isChosen(choice) && (
              <button type="button" class="button" onClick={() => choose(NO_CHOICE)}>
                Remove filters
              </button>
            )}
          </span>
        }
      >
        <Histogram
          histogram={histogram}
          days={choice.days}
          noun="URL"
          onSelect={(days) => choose({ ...choice, days })}
        />
        <p class="histogram-ends dim small" aria-hidden="true">
          <span>{daysText({ from: histogram.firstDay, to: histogram.firstDay })}</span>
          <span>{daysText(lastDay(histogram))}</span>
        </p>
      </Card>
      <div class="search-columns">
        <Card
          title={
            isChosen(choice)
              ? `${numberText(view.rows.length)} of ${counted(store.rows.length, 'URL')}`
              : counted(store.rows.length, 'URL')
          }
        >
          {view.rows.length === 0 ? (
            <Empty>No URL matches all filters. Remove one of them.</Empty>
          ) : (
            <LongTable
              caption="URLs that were found"
              rows={view.rows}
              keyOf={({ id }) => id}
              order={end === null ? null : current.order}
              onSort={sortBy}
              columns={COLUMNS}
            />
          )}
        </Card>
        <Card title="Filters" class="facets">
          {FACETS.map((facet, i) => (
            <Facet
              key={facet}
              title={FACET_TITLES[facet]}
              view={view.facets[i] ?? { top: [], distinct: 0 }}
              chosen={choice.values[i] ?? new Set()}
              onToggle={(value) => choose(toggled(choice, i, value))}
            />
          ))}
        </Card>
      </div>
    </>
  );
}

const lastDay = ({ firstDay, daysPerBar, counts }: Run['view']['histogram']) => {
  const day = firstDay + counts.length * daysPerBar - 1;
  return { from: day, to: day };
};

const COLUMNS: LongColumn<Row>[] = [
  {
    title: 'URL',
    size: 'long-text',
    sort: 'url',
    cell: ({ url }) => (
      <a class="mono" href={urlPath(url)}>
        {visible(url)}
      </a>
    ),
  },
  { title: 'Status', size: 'short', sort: 'status', cell: ({ status }) => <Status status={status} /> },
  {
    title: 'Family',
    size: 'short',
    isWide: true,
    cell: ({ family }) => family && <a href={searchPath('malware_family', family)}>{visible(family)}</a>,
  },
  {
    title: 'Network',
    size: 'medium',
    isWide: true,
    cell: ({ asn, network }) =>
      asn !== null && (
        <a href={searchPath('asn', String(asn))} title={visible(networkText(asn, network))}>
          {visible(network ?? `AS${asn}`)}
        </a>
      ),
  },
  { title: 'Seen', size: 'time', sort: 'ts', cell: ({ ts }) => <Seen ts={ts} /> },
];

/** On a phone only the day. */
function Seen({ ts }: { ts: number }) {
  const [day, time] = timeText(ts).split(' ');
  return (
    <time dateTime={new Date(ts * 1_000).toISOString()}>
      {day}
      <span class="wide"> {time}</span>
    </time>
  );
}

const FACET_TITLES: Record<(typeof FACETS)[number], string> = {
  host: 'Host',
  network: 'Network',
  status: 'Status',
  family: 'Family',
};

type FacetProps = { title: string; view: FacetView; chosen: ReadonlySet<string>; onToggle(value: string): void };

function Facet({ title, view, chosen, onToggle }: FacetProps) {
  const rest = view.distinct - view.top.filter(({ count }) => count > 0).length;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {view.top.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              class="facet"
              aria-pressed={chosen.has(value)}
              title={visible(value)}
              onClick={() => onToggle(value)}
            >
              <span class={value === '' ? 'dim' : ''}>{value === '' ? 'unknown' : visible(value)}</span>
              <span class="number">{numberText(count)}</span>
            </button>
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="dim small">and {numberText(rest)} more</p>}
    </section>
  );
}
