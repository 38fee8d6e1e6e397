import type { FeedResponse as Feed } from '../src/admin/feed-wire.ts';
import type { ImportResponse as Import } from '../src/admin/imports.ts';
import { ADMIN_API } from './admin.ts';
import { mistake } from './api.ts';
import {
  agoText,
  counted,
  DAY,
  exactSpanText,
  hasText,
  nowTs,
  numberText,
  spanText,
  type Tone,
  timeText,
  visible,
} from './format.ts';
import type { FormTexts, Option } from './formats.ts';
import { encoded } from './query.ts';

// What the pages about feeds and imports compute.

export type { Feed, Import };

export type FeedRun = Feed['runs'][number];
export type ImportState = Import['state'];

/** Red: no success for three intervals, so the data is old. Amber: the last run failed, and the server tries again by itself. */
export const FEED_TONES: Record<Feed['state'], Tone> = {
  healthy: 'ok',
  late: 'danger',
  failing: 'late',
  paused: 'off',
  new: 'info',
};

export const IMPORT_WORDS: Record<ImportState, { tone: Tone; word: string; text: string }> = {
  running: { tone: 'info', word: 'running', text: 'Rows are being read.' },
  done: { tone: 'ok', word: 'done', text: 'All rows were read.' },
  refused: {
    tone: 'late',
    word: 'done in part',
    text: 'The rows were applied, but no URL was taken offline: the listing looked cut off.',
  },
  stopped: { tone: 'off', word: 'stopped', text: 'What was read until then is applied.' },
  failed: { tone: 'danger', word: 'failed', text: 'What was read until then is applied.' },
  lost: {
    tone: 'danger',
    word: 'lost',
    text: 'Its process is gone. Import the file again to get the rest.',
  },
};

const isUnhealthy = ({ state }: Feed): boolean => state === 'failing' || state === 'late';

/** Late ones first; of each state, those that have had no success for the longest time. */
export function unhealthyFeeds(feeds: readonly Feed[]): Feed[] {
  const rank = ({ state, last_success_ts: ts }: Feed): number => (state === 'late' ? 0 : 1e12) + (ts ?? 0);
  return feeds.filter(isUnhealthy).toSorted((a, b) => rank(a) - rank(b));
}

export const UNHEALTHY_FEEDS_PATH = '/admin/feeds?state=unhealthy';

export const FEED_STATE_OPTIONS: Option[] = [
  { value: '', text: 'all' },
  { value: 'unhealthy', text: 'failing or late' },
  ...Object.keys(FEED_TONES).map((state) => ({ value: state, text: state })),
];

/** `find=urlhaus&state=late` of the address: `find` is a part of the name or of the address of the feed. */
export function filterFeeds(feeds: readonly Feed[], query: URLSearchParams): Feed[] {
  const find = (query.get('find') ?? '').trim();
  const state = query.get('state') ?? '';
  const isKnown = state !== '' && FEED_STATE_OPTIONS.some(({ value }) => value === state);
  return feeds.filter(
    (feed) =>
      (!isKnown || feed.state === state || (state === 'unhealthy' && isUnhealthy(feed))) &&
      (hasText(feed.name, find) || hasText(feed.url, find)),
  );
}

export const importPath = (id: number): string => `/admin/imports?id=${id}`;
export const importsOfPath = (feed: string): string => `/admin/imports?feed=${encoded(feed)}`;

/** The import in progress, of a feed that is being fetched. */
export const runningRun = ({ runs }: Feed): FeedRun | null => runs.findLast((run) => run.outcome === 'running') ?? null;

export const lastRun = ({ runs }: Feed): FeedRun | null => runs.findLast((run) => run.outcome !== 'running') ?? null;

/** One bar per run with the rows that it read. A run that failed is marked as bad. */
export function runBars(runs: readonly FeedRun[]) {
  return runs.map(({ id, started_ts: ts, outcome, read }, i) => ({
    label: `${timeText(ts)}, import ${id}, ${IMPORT_WORDS[outcome].word}`,
    value: read,
    isMarked: i === runs.length - 1,
    isBad: outcome === 'failed' || outcome === 'lost',
  }));
}

/** Longer than a feed can wait: its interval is at most 30 days. */
const NEVER_SECONDS = 90 * DAY;

/** A feed of the demo: its next run is so late that it never comes. */
export const isNeverFetched = ({ next_run_ts: ts }: Feed, now: number = nowTs()): boolean =>
  ts !== null && ts - now > NEVER_SECONDS;

/** `in 3 minutes`, `retry in 8 minutes`, `now`. */
export function nextText(feed: Feed, now: number = nowTs()): string {
  if (feed.running) return 'running now';
  if (feed.next_run_ts === null) return 'when it is resumed';
  if (feed.next_run_ts <= now) return 'due now';
  if (isNeverFetched(feed, now)) return 'not in the demo';
  const text = agoText(feed.next_run_ts, now);
  return feed.failures > 0 ? `retry ${text}` : text;
}

/** A node looks for due feeds more often than this: a feed that is due for longer waits for something else. */
const DUE_SECONDS = 60;

/** Something is about to change, so the page looks again soon. */
export function isBusy(feeds: readonly Feed[], now: number = nowTs()): boolean {
  return feeds.some(({ running, next_run_ts: ts }) => running || (ts !== null && ts <= now && now - ts < DUE_SECONDS));
}

/** `No success since 2026-11-11 05:00, for 5 days.` */
export function sinceText({ last_success_ts: ts, failures }: Feed, now: number = nowTs()): string {
  const tries = failures > 1 ? ` ${numberText(failures)} runs in a row failed.` : '';
  if (ts === null) return `It was never fetched with success.${tries}`;
  return `No success since ${timeText(ts)}, for ${spanText(now - ts)}.${tries}`;
}

/**
 * What an administrator can do, by the words of the error. The first that matches counts: troubles of the server come first,
 * because their messages have paths, which may contain any word.
 */
const ADVICE: [pattern: RegExp, text: string][] = [
  [
    /^The folder for temporary files/,
    'The trouble is on the machine of the server: the folder must exist, have space, and be writable for the server. After a change of TMPDIR, restart the server.',
  ],
  [
    /^The disk of /,
    'The trouble is on the machine of the server: free some space on this disk. Then the server tries again by itself.',
  ],
  [
    /^(The database|PostgreSQL|A table is missing)|is damaged \(|was removed or replaced/,
    'The trouble is in the database, not in the feed. Look at Health, and at the log of the server.',
  ],
  [/^Unexpected error/, 'The fault is in the server, not in the feed. Its log has the reason.'],
  [/(answered|responded with) 40[13]|there is no header/, 'Check the access key: enter it again under Edit.'],
  [/(answered|responded with) (404|410)/, 'The list has moved or ended. Enter its new address under Edit.'],
  [/(answered|responded with) 429/, 'The publisher wants fewer requests: choose a longer interval under Edit.'],
  [
    /(answered|responded with) 5\d\d|time limit|connection|later/,
    'The publisher has trouble. Wait: the server tries again by itself.',
  ],
  [/address|certificate|redirects/, 'Correct the address under Edit.'],
  [/rows could be used/, 'The response was not the expected data. Look at the rejected rows, then at the address.'],
  [/cut off|listing/, 'The list shrank suddenly. If it is right, upload it once as a complete list.'],
];

export function adviceText({ last_error: error }: Feed): string {
  if (error === null) return 'No server fetches it. Check under Health that one runs, and that it fetches feeds.';
  const [, text] = ADVICE.find(([pattern]) => pattern.test(error)) ?? [];
  return text ?? 'The server tries again by itself. If it stays so, check the address under Edit.';
}

const INTERVALS = [300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 604_800];

/** `every hour`, `every 5 minutes`. */
export const everyText = (seconds: number): string => `every ${exactSpanText(seconds).replace(/^1 /, '')}`;

/** Usual intervals, and the present one. */
export function intervalOptions(current: number): Option[] {
  const all = [...new Set([...INTERVALS, current])].sort((a, b) => a - b);
  return all.map((seconds) => ({ value: String(seconds), text: everyText(seconds) }));
}

/** A header that is sent with each fetch; none if both fields are empty. */
export function readHeader({ header, secret }: FormTexts): { headers?: Record<string, string> } {
  if (!header && !secret) return {};
  if (!header || !secret) throw mistake('A header needs a name and a value: fill in both, or none.');
  return { headers: { [header]: secret } };
}

/** What a form of a feed sends. Only what differs from the present values is sent in a change. */
export function readChange(texts: FormTexts, feed: Feed): Record<string, unknown> {
  const change: Record<string, unknown> = { ...readHeader(texts) };
  if (texts.url) change.url = texts.url;
  if (Number(texts.every) !== feed.interval_seconds) change.interval_seconds = Number(texts.every);
  if ((texts.complete === 'on') !== feed.complete) change.complete = !feed.complete;
  if ((texts.private === 'on') !== feed.private) change.private = !feed.private;
  if (texts.no_headers === 'on') change.no_headers = true;
  return change;
}

export function durationText({ started_ts: from, finished_ts: to }: Import): string {
  if (to === null) return '';
  return to - from < 1 ? 'below 1 second' : spanText(to - from);
}

/** What an import brought, in a sentence. */
export function changesText({ state, added, changed, went_offline: offline }: Import): string {
  if (added + changed + offline === 0) return state === 'running' ? 'Nothing is changed yet.' : 'It changed nothing.';
  const others = `${counted(changed, 'other change')}${offline > 0 ? `; ${counted(offline, 'URL')} went offline` : ''}`;
  return `It brought ${counted(added, 'new URL')} and ${others}.`;
}

/** The address for an upload of this file. */
export function uploadApi(file: string, choices: Record<string, string>): string {
  const given = Object.entries(choices).filter(([, value]) => value !== '');
  return `${ADMIN_API}/imports?${new URLSearchParams([['source', visible(file)], ...given])}`;
}
