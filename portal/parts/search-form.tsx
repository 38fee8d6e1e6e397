import { useState } from 'preact/hooks';
import { dayText, nowTs } from '../format.ts';
import type { SearchName } from '../query.ts';
import { go } from '../router.ts';
import {
  checkedSearch,
  dayEnd,
  dayStart,
  pathOf,
  SEARCH_NAMES,
  type Search,
  type WindowName,
  windowName,
  windowOf,
} from '../search-key.ts';
import { startSearch } from '../search-run.ts';
import { session } from '../session.ts';
import { Select } from './forms.tsx';

const WINDOW_OPTIONS: { value: WindowName; text: string }[] = [
  { value: '30-days', text: 'Last 30 days' },
  { value: '12-months', text: 'Last 12 months' },
  { value: 'all', text: 'All time' },
  { value: 'custom', text: 'Between two days' },
];

/** One of five keys and a window. The cost of a network is shown while it is typed. */
export function SearchForm({ search }: { search: Search | null }) {
  const now = nowTs();
  const { since = null, until = null } = search ?? {};
  const [name, setName] = useState<SearchName>(search?.name ?? 'ip');
  const [value, setValue] = useState(search?.value ?? '');
  const [span, setSpan] = useState<WindowName>(windowName(since, until, now));
  const [from, setFrom] = useState(dateField(since));
  const [to, setTo] = useState(dateField(until));
  const [isSent, setSent] = useState(false);
  const { title, example, hint } = SEARCH_NAMES[name];
  const window = span === 'custom' ? { since: dayStart(from), until: dayEnd(to) } : windowOf(span, now);
  const checked = checkedSearch({ name, value, ...window });
  const cost = checked.search === null ? 1 : checked.cost;
  const problem = isSent && checked.problem;

  function send(event: SubmitEvent): void {
    event.preventDefault();
    setSent(true);
    if (checked.search === null) return;
    startSearch(checked.search, session.value?.sub ?? '');
    go(pathOf(checked.search));
  }

  return (
    <form class="form search-form" onSubmit={send}>
      <fieldset>
        <legend>Search by</legend>
        {Object.entries(SEARCH_NAMES).map(([key, { title: text }]) => (
          <label key={key} class="check">
            <input
              type="radio"
              name="key"
              value={key}
              checked={key === name}
              onChange={() => setName(key as SearchName)}
            />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      <label class="field">
        <span>{title}</span>
        <input
          class="mono"
          type="text"
          name="value"
          value={value}
          placeholder={example}
          spellcheck={false}
          autoComplete="off"
          autoCapitalize="off"
          aria-invalid={Boolean(problem)}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <small>{hint}</small>
      </label>
      <div class="search-window">
        <Select
          label="Seen"
          name="window"
          value={span}
          options={WINDOW_OPTIONS}
          onChoice={(value) => setSpan(value as WindowName)}
        />
        {span === 'custom' && (
          <>
            <label class="field">
              <span>First day</span>
              <input type="date" name="from" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
            </label>
            <label class="field">
              <span>Last day</span>
              <input type="date" name="to" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
            </label>
          </>
        )}
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="row">
        <button type="submit" class="button primary">
          Search
        </button>
        <span class={cost > 1 ? 'cost' : 'dim'} role="status">
          Counts as {cost === 1 ? '1 query' : `${cost} queries`}
        </span>
      </div>
    </form>
  );
}

/** Four digits of a year are all that a date field can show. */
const MAX_FIELD_TS = Date.UTC(9999, 11, 31) / 1_000;

const dateField = (ts: number | null): string => (ts === null || ts > MAX_FIELD_TS ? '' : dayText(ts));
