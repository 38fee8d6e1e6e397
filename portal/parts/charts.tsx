import { DAY, dateText, dayText, monthName, numberText } from '../format.ts';
import type { Dot, Span } from '../life.ts';

// Charts are drawn by hand as SVG: some hundred bytes each, and every value is also in a table or a text.

export type Bar = {
  label: string;
  value: number;
  isMarked?: boolean;
  /** It stands for something that failed, and is seen without a value as well. */
  isBad?: boolean;
};

type BarsProps = { bars: readonly Bar[]; height?: number; caption: string };

/** One bar per value, as wide as the space allows. The tallest fills the height. */
export function Bars({ bars, height = 80, caption }: BarsProps) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const width = 10;
  const gap = bars.length > 60 ? 1 : 2;
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${bars.length * width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={caption}
      height={height}
    >
      {bars.map(({ label, value, isMarked, isBad }, i) => {
        const tall = value === 0 && !isBad ? 0 : Math.max(2, (value / most) * (height - 2));
        return (
          <g key={label} class={`bar ${isMarked ? 'marked' : ''} ${isBad ? 'bad' : ''}`}>
            <rect class="bar-space" x={i * width} y={0} width={width} height={height} />
            <rect x={i * width + gap / 2} y={height - tall} width={width - gap} height={tall} rx={1} />
            <title>{`${label}: ${numberText(value)}`}</title>
          </g>
        );
      })}
    </svg>
  );
}

/** Counts by day, without gaps between the first and the last day. */
export function dayBars(days: readonly { day: string; queries: number }[], from: string, to: string): Bar[] {
  const byDay = new Map(days.map(({ day, queries }) => [day, queries]));
  const bars: Bar[] = [];
  for (let ts = Date.parse(from) / 1_000; ts <= Date.parse(to) / 1_000; ts += DAY) {
    const day = dayText(ts);
    bars.push({ label: day, value: byDay.get(day) ?? 0 });
  }
  return bars;
}

type MeterProps = { value: number; max: number; soft: number | null; label: string };

/** A bar from nothing to the limit, with a mark at the soft limit. */
export function Meter({ value, max, soft, label }: MeterProps) {
  const share = Math.min(1, max === 0 ? 0 : value / max);
  const tone = share >= 1 ? 'danger' : (soft !== null && value > soft) || share > 0.9 ? 'late' : 'info';
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers cannot draw a mark inside their own meter
    <div
      class={`meter ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={max}
    >
      <div class="meter-fill" style={{ width: `${share * 100}%` }} />
      {soft !== null && soft < max && (
        <div class="meter-soft" style={{ left: `${(soft / max) * 100}%` }} title={`soft limit ${numberText(soft)}`} />
      )}
    </div>
  );
}

type TimelineProps = { spans: readonly Span[]; dots: readonly Dot[]; fromTs: number; toTs: number; caption: string };

const COLOURS = 6;

/** Spans of online and offline, and below them a dot for every payload, coloured by family. Only the widths follow the window. */
export function Timeline({ spans, dots, fromTs, toTs, caption }: TimelineProps) {
  const percent = (ts: number) => ((Math.min(Math.max(ts, fromTs), toTs) - fromTs) / Math.max(1, toTs - fromTs)) * 100;
  const x = (ts: number) => `${percent(ts)}%`;
  const groups = [...new Set(dots.map(({ group }) => group))];
  return (
    <svg class="timeline" height={92} role="img" aria-label={caption}>
      {ticks(fromTs, toTs).map(({ ts, label }) => (
        <g key={ts}>
          <line class="grid" x1={x(ts)} x2={x(ts)} y1={0} y2={72} />
          <text x={x(ts)} y={86}>
            {label}
          </text>
        </g>
      ))}
      {spans.map(({ fromTs: from, toTs: to, status }) => (
        <rect
          key={`${from} ${status}`}
          class={status}
          x={x(from)}
          y={14}
          width={`${Math.max(0.3, percent(to) - percent(from) - 0.15)}%`}
          height={20}
          rx={3}
        >
          <title>{`${status} from ${dateText(from)} to ${dateText(to)}`}</title>
        </rect>
      ))}
      {dots.map(({ ts, label, group }, i) => (
        <circle key={i} class={`dot group-${groups.indexOf(group) % COLOURS}`} cx={x(ts)} cy={dotY(dots, i)} r={5.5}>
          <title>{label}</title>
        </circle>
      ))}
    </svg>
  );
}

/** Dots of one time are next to each other: a URL often has several families at once. */
const DOT_YS = [54, 42.5, 65.5];

function dotY(dots: TimelineProps['dots'], index: number): number {
  const before = dots.slice(0, index).filter(({ ts }) => ts === dots[index]?.ts).length;
  return DOT_YS[before % DOT_YS.length] ?? 54;
}

/** Names of months, or days when the span is short; at most about twelve. */
function ticks(fromTs: number, toTs: number): { ts: number; label: string }[] {
  const days = (toTs - fromTs) / DAY;
  return days <= 70
    ? dayTicks(fromTs, toTs, Math.ceil(days / 10))
    : monthTicks(fromTs, toTs, Math.ceil(days / 30 / 12));
}

function dayTicks(fromTs: number, toTs: number, step: number) {
  const list: { ts: number; label: string }[] = [];
  for (let ts = Math.ceil(fromTs / DAY) * DAY; ts <= toTs; ts += step * DAY) list.push({ ts, label: shortDay(ts) });
  return list;
}

function shortDay(ts: number): string {
  const date = new Date(ts * 1_000);
  return `${date.getUTCDate()} ${monthName(date.getUTCMonth())}`;
}

function monthTicks(fromTs: number, toTs: number, step: number) {
  const from = new Date(fromTs * 1_000);
  const list: { ts: number; label: string }[] = [];
  for (let month = from.getUTCMonth() + 1; ; month += step) {
    const ts = Date.UTC(from.getUTCFullYear(), month, 1) / 1_000;
    if (ts > toTs) return list;
    const index = new Date(ts * 1_000).getUTCMonth();
    list.push({
      ts,
      label:
        index === 0 || step > 1 ? `${monthName(index)} ${new Date(ts * 1_000).getUTCFullYear()}` : monthName(index),
    });
  }
}
