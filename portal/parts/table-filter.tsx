import { numberText } from '../format.ts';
import type { Option } from '../formats.ts';
import { goTyped, place } from '../router.ts';
import { Select } from './forms.tsx';
import { FOLDED } from './table.tsx';

type TableFilterProps = {
  /** Of the field for a part of the name. */
  label: string;
  /** Fields with few values, by their names in the address. An empty value is all. */
  choices: { label: string; name: string; options: readonly Option[] }[];
  found: number;
  total: number;
  /** `accounts` */
  noun: string;
};

/** Filters the rows of a table while somebody types. The filter is in the address, so that it can be shared. */
export function TableFilter({ label, choices, found, total, noun }: TableFilterProps) {
  const { query } = place.value;
  if (total <= FOLDED && !isFiltered(query)) return null;
  return (
    <search class="table-filter" aria-label={`Filter of ${noun}`}>
      <label class="field">
        <span>{label}</span>
        <input
          type="search"
          value={query.get('find') ?? ''}
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          onInput={(event) => set('find', event.currentTarget.value)}
        />
      </label>
      {choices.map(({ label, name, options }) => (
        <Select
          key={name}
          label={label}
          name={name}
          options={options}
          value={query.get(name) ?? ''}
          onChoice={(value) => set(name, value)}
        />
      ))}
      <p class="dim small" role="status">
        {isFiltered(query) && `${numberText(found)} of `}
        {numberText(total)} {noun}
      </p>
    </search>
  );
}

/** What a table says that has no row because of its filter. */
export function NoMatch({ noun }: { noun: string }) {
  return (
    <>
      No {noun} matches the filter. <a href={place.value.path}>Show all</a>
    </>
  );
}

const isFiltered = (query: URLSearchParams): boolean => query.size > 0;

function set(name: string, value: string): void {
  const { path, query } = place.value;
  const next = new URLSearchParams(query);
  if (value === '') next.delete(name);
  else next.set(name, value);
  goTyped(next.size === 0 ? path : `${path}?${next}`);
}
