import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { numberText } from '../format.ts';
import type { Order } from '../search-rows.ts';
import { ariaSort } from './table.tsx';

// A table for hundreds of thousands of rows: only those that can be seen are in the document.

export type LongColumn<T> = {
  title: string;
  cell(row: T): ComponentChildren;
  /** Makes the column sortable. */
  sort?: Order['by'];
  /** The class that gives the width. */
  size: 'long-text' | 'short' | 'medium' | 'time' | 'day' | 'count';
  /** Left out on a phone. */
  isWide?: true;
};

type LongTableProps<T> = {
  caption: string;
  columns: readonly LongColumn<T>[];
  rows: readonly T[];
  keyOf(row: T): string | number;
  /** Null: it cannot be sorted. */
  order?: Order | null;
  onSort?(order: Order): void;
  /** What the rows belong to: whoever comes back to it finds the table where it was left. */
  owner: object;
};

const topOf = new WeakMap<object, number>();

/** The same number as in the style sheet. */
const ROW_PX = 37;
/** Rows outside of the visible part: the next ones are there before they are scrolled to. */
const SPARE_ROWS = 12;

export function LongTable<T>({ caption, columns, rows, keyOf, order = null, onSort, owner }: LongTableProps<T>) {
  const body = useRef<HTMLElement>(null);
  const [top, setTop] = useState(() => topOf.get(owner) ?? 0);
  const shownOrder = useRef(order);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const measure = () => setHeight(body.current?.clientHeight ?? 600);
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, [rows.length === 0]);
  useLayoutEffect(() => body.current?.scrollTo(0, top), []);
  useEffect(() => {
    // Another order is read from its beginning.
    if (shownOrder.current !== order) body.current?.scrollTo(0, 0);
    shownOrder.current = order;
  }, [order]);
  function onScroll({ scrollTop }: HTMLElement): void {
    setTop(scrollTop);
    topOf.set(owner, scrollTop);
  }
  const first = Math.max(0, Math.min(Math.floor(top / ROW_PX), rows.length) - SPARE_ROWS);
  const shown = rows.slice(first, first + Math.ceil(height / ROW_PX) + 2 * SPARE_ROWS);
  const classOf = ({ size, isWide }: LongColumn<T>) => `${size} ${isWide ? 'wide' : ''}`;
  return (
    // Focusable, so that the keyboard can scroll it.
    <section
      ref={body}
      class="table long"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
      tabIndex={0}
      aria-label={caption}
      onScroll={(event) => onScroll(event.currentTarget)}
    >
      <table aria-rowcount={rows.length + 1}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                class={classOf(column)}
                {...(column.sort && order && { 'aria-sort': ariaSort(order.by === column.sort ? order : null) })}
              >
                <SortTitle column={column} order={order} onSort={onSort} />
              </th>
            ))}
          </tr>
        </thead>
        <Space rows={first} />
        <tbody>
          {shown.map((row, i) => (
            <tr key={keyOf(row)} aria-rowindex={first + i + 2}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <Space rows={rows.length - first - shown.length} />
      </table>
      {shown.length < rows.length && (
        <p class="printed">
          Rows {numberText(first + 1)} to {numberText(first + shown.length)} of {numberText(rows.length)}. Download the
          file for all of them.
        </p>
      )}
    </section>
  );
}

/** As high as the rows that are not in the document. */
function Space({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr style={{ height: `${rows * ROW_PX}px` }} />
    </tbody>
  );
}

type SortTitleProps<T> = {
  column: LongColumn<T>;
  order: Order | null;
  onSort: LongTableProps<T>['onSort'];
};

function SortTitle<T>({ column: { title, sort }, order, onSort }: SortTitleProps<T>) {
  if (sort === undefined || order === null) return <>{title}</>;
  return (
    <button type="button" class="sort" onClick={() => onSort?.(nextOrder(order, sort))}>
      {title}
    </button>
  );
}

/** Times begin with the newest, texts with the first. */
const nextOrder = (order: Order, by: Order['by']): Order => ({
  by,
  isDown: order.by === by ? !order.isDown : by === 'ts',
});
