import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { numberText } from '../format.ts';
import { Ago, Empty } from './basics.tsx';

export type Column<T> = {
  title: string;
  cell(row: T): ComponentChildren;
  /** Makes the column sortable. */
  sort?(row: T): string | number | null;
  isNumber?: true;
  /** Left out on a phone. */
  isWide?: true;
};

/** `12 minutes ago` */
export const agoColumn = <T,>(title: string, sort: (row: T) => number | null): Column<T> => ({
  title,
  isWide: true,
  sort,
  cell: (row) => <Ago ts={sort(row)} />,
});

export const countColumn = <T,>(title: string, sort: (row: T) => number): Column<T> => ({
  title,
  isNumber: true,
  isWide: true,
  sort,
  cell: (row) => numberText(sort(row)),
});

/** Rows of a list that is one of many on its page. */
export const FOLDED = 10;
/** Rows of a table that may have hundreds or thousands: so many are drawn in a tenth of a second. */
export const MANY = 100;
/** Each click shows so many more: 10,000 rows take a browser ten seconds. */
const PIECE = 500;

type TableProps<T> = {
  /** What the rows are, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: readonly T[];
  keyOf(row: T): string | number;
  empty: ComponentChildren;
  /** Longer tables are folded: a button shows the rest. */
  most?: number;
};

type Order = { column: number; isDown: boolean };

export function Table<T>({ caption, columns, rows, keyOf, empty, most: first }: TableProps<T>) {
  const [order, setOrder] = useState<Order | null>(null);
  const [most, showMore] = useMost(first);
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  const sorted = order === null ? rows : sortRows(rows, columns[order.column]?.sort, order.isDown);
  const shown = sorted.slice(0, most);
  const classOf = ({ isNumber, isWide }: Column<T>) => `${isNumber ? 'number ' : ''}${isWide ? 'wide' : ''}`;
  return (
    // Focusable, so that the keyboard can scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
    <section class="table" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, i) => (
              <th
                key={column.title}
                scope="col"
                class={classOf(column)}
                aria-sort={ariaSort(order?.column === i ? order : null)}
              >
                {column.sort ? (
                  <button type="button" class="sort" onClick={() => setOrder(nextOrder(order, i))}>
                    {column.title}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Rest hidden={sorted.length - shown.length} onShow={showMore} />
    </section>
  );
}

/** How many rows of a folded list are shown. */
export function useMost(first = Number.POSITIVE_INFINITY): [most: number, showMore: () => void] {
  const [more, setMore] = useState(0);
  return [first + more, () => setMore(more + PIECE)];
}

/** The end of a folded list, after its table or list. The focus goes to the first row that is new: the button may be gone. */
export function Rest({ hidden, onShow }: { hidden: number; onShow(): void }) {
  if (hidden === 0) return null;
  const show = (button: HTMLElement) => {
    const last = [...(button.previousElementSibling?.querySelectorAll('tr, :scope > li') ?? [])].at(-1);
    onShow();
    setTimeout(() => {
      const row = last?.nextElementSibling as HTMLElement | null | undefined;
      const control = row?.querySelector<HTMLElement>('a, button');
      if (row && !control) row.tabIndex = -1;
      (control ?? row)?.focus();
    });
  };
  return (
    <button type="button" class="button quiet rest" onClick={(event) => show(event.currentTarget)}>
      Show {hidden > PIECE && `${PIECE} of `}
      {numberText(hidden)} more
    </button>
  );
}

function nextOrder(order: Order | null, column: number): Order {
  return { column, isDown: order?.column === column ? !order.isDown : true };
}

/** `order`: null for a column by which the table is not sorted. */
export function ariaSort(order: { isDown: boolean } | null): 'ascending' | 'descending' | 'none' {
  if (order === null) return 'none';
  return order.isDown ? 'descending' : 'ascending';
}

/** Rows without a value are last in both directions. */
function sortRows<T>(rows: readonly T[], sort: Column<T>['sort'], isDown: boolean): T[] {
  if (sort === undefined) return [...rows];
  const sign = isDown ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [sort(a), sort(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return x < y ? -sign : Number(x > y) * sign;
  });
}
