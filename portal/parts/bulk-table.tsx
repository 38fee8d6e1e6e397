import type { BulkRow } from '../bulk-read.ts';
import { type Bulk, chooseFilter, type Filter, filtered } from '../bulk-run.ts';
import { dayText, numberText, visible } from '../format.ts';
import { searchPath, urlPath } from '../query.ts';
import { Card, Empty, Status } from './basics.tsx';
import { type LongColumn, LongTable } from './long-table.tsx';

const FILTER_TEXTS: Record<Filter, string> = {
  all: 'All',
  found: 'Found',
  unknown: 'Not known',
  defanged: 'Defanged',
  invalid: 'Invalid',
};

const RESULT_FILTERS = ['found', 'unknown'] as const;
const DEFANGED_FILTER = ['defanged'] as const;

const EMPTY_TEXTS: Record<Filter, string> = {
  all: '',
  found: 'None was found so far.',
  unknown: 'None is unknown so far.',
  defanged: 'None was defanged.',
  invalid: 'All are valid.',
};

/** Everything in the order of the input, with the results as they arrive. */
export function BulkTable({ current }: { current: Bulk }) {
  const { reading, answered, phase, view } = current;
  const hasResults = phase !== 'reading' && phase !== 'read';
  const filters: [Filter, count: number][] = [
    ['all', reading.rows.length],
    ...(hasResults ? RESULT_FILTERS.map((name): [Filter, number] => [name, current[name]]) : []),
    ['invalid', reading.invalid],
    ...(hasResults ? [] : DEFANGED_FILTER.map((name): [Filter, number] => [name, reading[name]])),
  ];
  const shown = filters.some(([name]) => name === view.filter) ? view.filter : 'all';
  const rows = filtered(reading.rows, shown);
  const columns = FILTER_COLUMNS[shown] ?? (hasResults ? RESULT_COLUMNS : INPUT_COLUMNS);
  return (
    <Card>
      <div class="stack">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that is seen */}
        <div class="chips" role="group" aria-label="Show">
          {filters.map(([name, count]) => (
            <button
              key={name}
              type="button"
              class="button round"
              aria-pressed={name === shown}
              onClick={() => chooseFilter(name)}
            >
              {`${FILTER_TEXTS[name]} ${numberText(count)}`}
            </button>
          ))}
        </div>
        {rows.length === 0 ? (
          <Empty>{answered === 0 && hasResults ? 'No result has arrived yet.' : EMPTY_TEXTS[shown]}</Empty>
        ) : (
          <LongTable
            key={shown}
            caption={hasResults ? 'Results in the order of the input' : 'URLs in the order of the input'}
            rows={rows}
            keyOf={({ line, input }) => `${line} ${input}`}
            columns={columns}
            owner={view}
          />
        )}
      </div>
    </Card>
  );
}

const line: LongColumn<BulkRow> = { title: 'Line', size: 'count', cell: ({ line }) => numberText(line) };
const times: LongColumn<BulkRow> = {
  title: 'Times',
  size: 'count',
  isWide: true,
  cell: ({ times }) => times > 1 && numberText(times),
};

const url: LongColumn<BulkRow> = {
  title: 'URL',
  size: 'long-text',
  cell: ({ url, input, found }) =>
    found !== undefined && url !== null ? (
      <a class="mono" href={urlPath(url)}>
        {visible(url)}
      </a>
    ) : (
      <span class="mono">{visible(url ?? input)}</span>
    ),
};

const INPUT_COLUMNS: LongColumn<BulkRow>[] = [
  line,
  url,
  {
    title: 'Note',
    size: 'short',
    cell: ({ error, isDefanged }) =>
      error !== null ? <Invalid error={error} /> : isDefanged && <span class="dim">defanged</span>,
  },
  times,
];

/** The first sentence of the reason; the others say how to correct it. */
const INVALID_COLUMNS: LongColumn<BulkRow>[] = [
  { ...line, isWide: true },
  { title: 'Text', size: 'long-text', cell: ({ input }) => <span class="mono">{visible(input)}</span> },
  {
    title: 'Why',
    size: 'long-text',
    cell: ({ error }) => <span title={visible(error ?? '')}>{visible(error?.replace(/\. .*/s, '.') ?? '')}</span>,
  },
];

const DEFANGED_COLUMNS: LongColumn<BulkRow>[] = [
  { ...line, isWide: true },
  { title: 'Written as', size: 'long-text', cell: ({ input }) => <span class="mono">{visible(input)}</span> },
  { title: 'Read as', size: 'long-text', cell: ({ url }) => <span class="mono">{visible(url ?? '')}</span> },
];

const FILTER_COLUMNS: Partial<Record<Filter, LongColumn<BulkRow>[]>> = {
  invalid: INVALID_COLUMNS,
  defanged: DEFANGED_COLUMNS,
};

const RESULT_COLUMNS: LongColumn<BulkRow>[] = [
  line,
  url,
  { title: 'Result', size: 'short', cell: (row) => <Result row={row} /> },
  {
    title: 'Family',
    size: 'medium',
    isWide: true,
    cell: ({ found }) => {
      const family = found?.payload?.['malware-family'];
      return family && <a href={searchPath('malware_family', family)}>{visible(family)}</a>;
    },
  },
  {
    title: 'Since',
    size: 'day',
    isWide: true,
    cell: ({ found }) => found?.status && <time>{dayText(found.status.ts)}</time>,
  },
  times,
];

function Result({ row: { found, error } }: { row: BulkRow }) {
  if (error !== null) return <Invalid error={error} />;
  if (found === undefined) return <span class="dim">…</span>;
  return found === null ? <span class="dim">not known</span> : <Status status={found.status?.status ?? null} />;
}

function Invalid({ error }: { error: string }) {
  return (
    <span class="status late" title={visible(error)}>
      invalid
    </span>
  );
}
