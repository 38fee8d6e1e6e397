import { dice } from '../core/dice.ts';
import { DAY_SECONDS as DAY } from '../core/time.ts';
import { URL_ERRORS } from '../core/url/errors.ts';
import { type Feed, type ImportEnd, type ImportStart, NO_COUNTS, type Reject } from './store.ts';

export type DemoRun = { start: ImportStart; end: ImportEnd; rejects: Reject[] };

/**
 * Invented feeds, one in each state, and their imports of two weeks, oldest first. Their host has a reserved name, and their
 * next run is so late that no demo fetches them. The import of a day is the same whenever it is asked for.
 */
export function demoFeeds(now: number): { feeds: Feed[]; runs: DemoRun[] } {
  const feeds = FEEDS.map((feed) => toFeed(feed, now));
  const runs = [...FEEDS.flatMap((feed) => runsOf(feed, now)), ...byHand(now)];
  return { feeds, runs: runs.sort((a, b) => a.start.startedTs - b.start.startedTs) };
}

type DemoFeed = Pick<Feed, 'name' | 'format' | 'url' | 'isComplete'> &
  Partial<Feed> & {
    /** Second of the day at which it runs. */
    atSecond: number;
    /** About how many rows it has. */
    size: number;
    /** Days without any response, up to today. */
    silentDays?: number;
    /** Its newest response was not the expected data. */
    isBroken?: boolean;
  };

const YEAR = 365 * DAY;
const RUNS = 14;

const SILENCE = 'lists.example responded with 503';
const NOT_THE_DATA = 'None of the 31 rows could be used. Check the format, and the reasons of the rejected rows.';
const BROKEN_ROWS = 31;

const FEEDS: DemoFeed[] = [
  {
    name: 'demo-urls',
    format: 'urlhaus-csv',
    url: 'https://feeds.example/urls/online.csv',
    isComplete: true,
    atSecond: 4 * 3_600,
    size: 1_450,
  },
  {
    name: 'demo-late',
    format: 'ip-list',
    url: 'https://lists.example/attackers.txt',
    isComplete: false,
    dataset: 'XBL',
    trustPermille: 700,
    atSecond: 5 * 3_600,
    size: 320,
    silentDays: 5, // more than three intervals: the feed is late
  },
  {
    name: 'demo-failing',
    format: 'domain-list',
    url: 'https://feeds.example/phishing/domains.txt',
    isComplete: false,
    evidenceKind: 'phishing',
    trustPermille: 800,
    atSecond: 6 * 3_600,
    size: 780,
    isBroken: true,
  },
];

function toFeed({ atSecond, size, silentDays = 0, isBroken = false, ...feed }: DemoFeed, now: number): Feed {
  const newestTs = newestRun(atSecond, now);
  const successTs = newestTs - (isBroken ? 1 : silentDays) * DAY;
  const failures = isBroken ? 1 : silentDays;
  return {
    intervalSeconds: DAY,
    headers: {},
    isPaused: false,
    allowsPrivate: false,
    trustPermille: 900,
    lifeSeconds: null,
    dataset: null,
    evidenceKind: null,
    listKind: null,
    etag: null,
    lastModified: null,
    ...feed,
    lastRunTs: newestTs,
    lastSuccessTs: successTs + secondsOf(size),
    lastError: isBroken ? NOT_THE_DATA : silentDays > 0 ? SILENCE : null,
    nextRunTs: now + YEAR,
    failures,
    rows: rowsOf(size, successTs),
  };
}

function runsOf(feed: DemoFeed, now: number): DemoRun[] {
  const newestTs = newestRun(feed.atSecond, now) - (feed.silentDays ?? 0) * DAY;
  return Array.from({ length: RUNS }, (_, i) => {
    const startedTs = newestTs - (RUNS - 1 - i) * DAY;
    return feed.isBroken && startedTs === newestTs ? brokenRun(feed, startedTs) : doneRun(feed, startedTs);
  });
}

function doneRun({ name, format, url, size, evidenceKind, dataset }: DemoFeed, startedTs: number): DemoRun {
  const roll = dice(startedTs + size);
  const read = rowsOf(size, startedTs);
  const rejects = REJECTED.slice(0, roll(REJECTED.length + 1)).map((one, i) => ({
    ...one,
    line: 9 + i * 37 + roll(30),
  }));
  const used = read - rejects.length;
  const finishedTs = startedTs + secondsOf(size);
  const kinds = evidenceKind
    ? { evidence: used, domainsChanged: 20 + roll(60) }
    : dataset
      ? { evidence: used, listingsChanged: 10 + roll(40) }
      : {
          observations: used,
          urlsAdded: 15 + roll(45),
          eventsChanged: 60 + roll(80),
          payloadsAdded: 10 + roll(30),
          wentOffline: 20 + roll(40),
          newestEventTs: startedTs - 600,
          confirmedTs: startedTs - 60,
        };
  const counts = { ...NO_COUNTS, read, rejected: rejects.length, ...kinds };
  const start = { format, feed: name, source: url, startedTs };
  return { start, end: { finishedTs, outcome: 'done', counts, error: null }, rejects };
}

/** The response was a web page. */
function brokenRun({ name, format, url }: DemoFeed, startedTs: number): DemoRun {
  const rejects = Array.from({ length: BROKEN_ROWS }, (_, i) => ({
    line: i + 1,
    reason: 'not a domain name',
    text: PAGE_LINES[i % PAGE_LINES.length] ?? '',
  }));
  const counts = { ...NO_COUNTS, read: BROKEN_ROWS, rejected: BROKEN_ROWS };
  const start = { format, feed: name, source: url, startedTs };
  return { start, end: { finishedTs: startedTs + 1, outcome: 'failed', counts, error: NOT_THE_DATA }, rejects };
}

const PAGE_LINES = ['<!doctype html>', '<title>Service unavailable</title>', '<p>We are moving to a new server.</p>'];

/** A file of the analysts, imported on Mondays. */
function byHand(now: number): DemoRun[] {
  const newestTs = newestRun(9 * 3_600, now);
  const days = Array.from({ length: RUNS }, (_, i) => newestTs - (RUNS - 1 - i) * DAY);
  return days
    .filter((ts) => new Date(ts * 1000).getUTCDay() === 1)
    .map((ts) => {
      const source = `sightings-${new Date(ts * 1000).toISOString().slice(0, 10)}.ndjson`;
      const feed = { ...HAND_FEED, url: source };
      return doneRun(feed, ts);
    });
}

/** Shortly before the first start, so that the newest import is not older than the newest URLs of the demo. */
export const demoUpload = (now: number): DemoRun => doneRun({ ...HAND_FEED, url: 'sightings.ndjson' }, now - 600);

const HAND_FEED: DemoFeed = {
  name: 'analysts',
  format: 'ndjson',
  url: '',
  isComplete: false,
  atSecond: 0,
  size: 90,
};

const REJECTED: Omit<Reject, 'line'>[] = [
  {
    reason: `url: ${URL_ERRORS.unsupported_scheme}`,
    text: '"8001","2026-10-02 10:11:12","hxxp://203.0.113.77/bin.sh","online"',
  },
  {
    reason: `url: ${URL_ERRORS.invalid_host}`,
    text: '"8002","2026-10-02 10:11:12","http://cdn[.]filedrop.example/dl","online"',
  },
  {
    reason: '7 columns instead of 8 or 9',
    text: '"8003","2026-10-02 10:12:40","http://203.0.113.90/i","online","elf","x","y"',
  },
  {
    reason: `url: ${URL_ERRORS.unsupported_scheme}`,
    text: '"8004","2026-10-02 10:13:01","hxxps://files.example.com/a.exe","online"',
  },
  {
    reason: `url: ${URL_ERRORS.invalid_port}`,
    text: '"8005","2026-10-02 10:13:09","http://203.0.113.14:99999/i","online"',
  },
  {
    reason: `url: ${URL_ERRORS.missing_scheme}`,
    text: '"8006","2026-10-02 10:14:33","garden-4.example/update.js","offline"',
  },
];

/** The rows of a feed grow and shrink by up to a tenth, and are fewer on Sundays. */
function rowsOf(size: number, ts: number): number {
  const isSunday = new Date(ts * 1000).getUTCDay() === 0;
  return Math.floor((size * (isSunday ? 80 : 95) + size * dice(ts)(10)) / 100);
}

/** How long an import of that size takes. */
function secondsOf(size: number): number {
  return 1 + Math.floor(size / 300);
}

function newestRun(atSecond: number, now: number): number {
  const today = now - (now % DAY) + atSecond;
  return today <= now ? today : today - DAY;
}
