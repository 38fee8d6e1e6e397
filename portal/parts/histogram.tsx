import { useRef, useState } from 'preact/hooks';
import { counted, DAY, dateText } from '../format.ts';
import { barsOfDays, type DayRange, daysOfBars, type HistogramView } from '../search-rows.ts';
import { type Bar, Bars } from './charts.tsx';

type HistogramProps = {
  histogram: HistogramView;
  days: DayRange | null;
  onSelect(days: DayRange | null): void;
};

/**
 * URLs by day. A click selects the day and a click on another day everything between them; so does dragging. Arrow
 * keys select a day, with Shift more days; Escape selects all.
 */
export function Histogram({ histogram, days, onSelect }: HistogramProps) {
  const chart = useRef<HTMLDivElement>(null);
  /** The two ends of the range; the keyboard moves the second one. It begins with the newest day. */
  const [anchor, setAnchor] = useState(Number.POSITIVE_INFINITY);
  const [cursor, setCursor] = useState(Number.POSITIVE_INFINITY);
  /** Where the pointer went down, until it goes up. */
  const pressed = useRef<{ bar: number; isDrag: boolean } | null>(null);
  const marked = days && barsOfDays(histogram, days);
  const last = histogram.counts.length - 1;
  const at = Math.min(cursor, last);

  function select(from: number, to: number): void {
    setAnchor(from);
    setCursor(to);
    onSelect(daysOfBars(histogram, from, to));
  }

  function barAt(event: PointerEvent): number {
    const { left, width } = (chart.current as HTMLDivElement).getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.floor(((event.clientX - left) / width) * (last + 1))));
  }

  function onPointerDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    chart.current?.setPointerCapture(event.pointerId);
    pressed.current = { bar: barAt(event), isDrag: false };
  }

  function onPointerMove(event: PointerEvent): void {
    const press = pressed.current;
    const bar = barAt(event);
    if (press === null || (!press.isDrag && bar === press.bar) || (press.isDrag && bar === at)) return;
    press.isDrag = true;
    select(press.bar, bar);
  }

  function onPointerUp(): void {
    const press = pressed.current;
    pressed.current = null;
    if (press === null || press.isDrag) return;
    const only = marked !== null && marked[0] === marked[1] ? marked[0] : null;
    if (only === press.bar) onSelect(null);
    else select(only ?? press.bar, press.bar);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last, Enter: at, ' ': at };
    const target = steps[event.key as keyof typeof steps];
    if (target === undefined && event.key !== 'Escape') return;
    event.preventDefault();
    if (target === undefined) {
      onSelect(null);
      return;
    }
    // The first arrow shows where the person is.
    const bar = marked === null && event.key.startsWith('Arrow') ? at : Math.min(last, Math.max(0, target));
    select(event.shiftKey && marked !== null ? Math.min(anchor, last) : bar, bar);
  }

  const bars: Bar[] = histogram.counts.map((value, i) => ({
    label: daysText(daysOfBars(histogram, i, i)),
    value,
    isMarked: marked !== null && marked[0] <= i && i <= marked[1],
  }));
  return (
    <div
      ref={chart}
      class={`histogram ${marked ? 'chosen' : ''}`}
      role="slider"
      tabIndex={0}
      aria-label="URLs by day. Arrow keys select a day, with Shift several days, Escape all days"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={marked && days ? `${daysText(days)} selected` : `all days; ${describe(bars[at])}`}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => {
        pressed.current = null;
      }}
      onKeyDown={onKeyDown}
    >
      <Bars bars={bars} height={72} caption="URLs by day" />
    </div>
  );
}

const describe = (bar: Bar | undefined): string => (bar ? `${bar.label}: ${counted(bar.value, 'URL')}` : '');

/** `10 Nov 2026`, `10 Nov 2026 to 12 Nov 2026`. */
export function daysText({ from, to }: DayRange): string {
  const [first, last] = [dateText(from * DAY), dateText(to * DAY)];
  return from === to ? first : `${first} to ${last}`;
}
