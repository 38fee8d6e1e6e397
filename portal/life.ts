import type { UrlPageResponse } from '../src/portal/schemas.ts';
import { counted, DAY, dateText, spanText, visible } from './format.ts';

// The life of a URL, from its events: what the verdict says, and what the chart draws.

export type Span = { fromTs: number; toTs: number; status: 'online' | 'offline' };
export type Dot = { ts: number; label: string; group: string };

type LifeEvent = Pick<UrlPageResponse['events'][number], 'ts' | 'status'>;
type LifePayload = Pick<UrlPageResponse['payloads'][number], 'ts' | 'malware-family' | 'file_type' | 'file_name'>;

const isOnline = (status: LifeEvent['status']): boolean => status === 'online' || status === 'added';

/** Spans of one status each, oldest first; two events of the same status make one span. The last one lasts until now. */
export function spansOf(events: readonly LifeEvent[], now: number): Span[] {
  const spans: Span[] = [];
  for (const { ts, status } of events) {
    const shown = isOnline(status) ? 'online' : 'offline';
    const last = spans.at(-1);
    if (last?.status === shown) continue;
    if (last) last.toTs = ts;
    spans.push({ fromTs: ts, toTs: now, status: shown });
  }
  return spans;
}

/** How often it came back after it was offline. */
export function timesBack(spans: readonly Span[]): number {
  return spans.filter(({ status }, i) => status === 'online' && i > 0).length;
}

export function dotsOf(payloads: readonly LifePayload[]): Dot[] {
  return payloads.map((payload) => {
    const group = payload['malware-family'] ?? 'unknown family';
    const file = payload.file_name ?? payload.file_type ?? 'a file';
    return { ts: payload.ts, group, label: visible(`${dateText(payload.ts)}: ${group}, ${file}`) };
  });
}

const SHORTEST = 7 * DAY;
const MARGIN = 0.03;

/** From shortly before the first event or payload until now. */
export function windowOf(spans: readonly Span[], dots: readonly Dot[], now: number): { fromTs: number; toTs: number } {
  const first = Math.min(now, ...spans.map(({ fromTs }) => fromTs), ...dots.map(({ ts }) => ts));
  const length = Math.max(SHORTEST, now - first);
  return { fromTs: Math.floor(now - length * (1 + MARGIN)), toTs: now };
}

/** `since 14 Aug 2026 (94 days)` */
export function sinceText(ts: number, now: number): string {
  return `since ${dateText(ts)} (${spanText(now - ts)})`;
}

const DAYS_PER_MONTH = 365.25 / 12;

/** `12 months`, for the heading of the chart. */
export function lengthText(fromTs: number, toTs: number): string {
  const days = Math.round((toTs - fromTs) / DAY);
  return days > 90 ? counted(Math.round(days / DAYS_PER_MONTH), 'month') : counted(days, 'day');
}
