import { counted, isoText, numberText, timeText, visible } from '../format.ts';
import { searchPath, urlPath } from '../query.ts';
import { go } from '../router.ts';
import {
  type Choice,
  choiceQuery,
  FACETS,
  type FacetView,
  isChosen,
  NO_CHOICE,
  networkText,
  type Row,
  toggled,
} from '../search-rows.ts';
import { type Run, sortBy } from '../search-run.ts';
import { Card, Empty, Status } from './basics.tsx';
import { daysText, Histogram } from './histogram.tsx';
import { type LongColumn, LongTable } from './long-table.tsx';

/** What was found: days, rows, and filters. */
export function SearchResult({ current }: { current: Run }) {
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
              <button type="button" class="button" onClick={() => filter(current, NO_CHOICE)}>
                Remove filters
              </button>
            )}
          </span>
        }
      >
        <Histogram histogram={histogram} days={choice.days} onSelect={(days) => filter(current, { ...choice, days })} />
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
              owner={store}
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
              onToggle={(value) => filter(current, toggled(choice, i, value))}
            />
          ))}
        </Card>
      </div>
    </>
  );
}

/** The filters are in the address, so that they can be shared. */
const filter = ({ path }: Run, choice: Choice): void => go(path + choiceQuery(choice), 'replace');

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
    <time dateTime={isoText(ts)}>
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
