import { DEMO_ACCOUNT, DEMO_ACCOUNT_DAYS } from '../accounts/first-account.ts';
import type { Account } from '../accounts/store.ts';
import { type Actor, type AuditAction, changesOf, type Fields } from '../audit/entry.ts';
import { dice } from '../core/dice.ts';
import { detailsText, OPERATOR_SOURCE } from '../core/evidence.ts';
import { parseKeyNetwork } from '../core/ip/key-network.ts';
import { daysOfMonth, windowIndex } from '../core/quota.ts';
import { DATASETS, DEFAULT_TRS, OPERATOR_TIER } from '../core/tier.ts';
import { DAY_SECONDS as DAY } from '../core/time.ts';
import { demoObservations } from '../ingest/demo.ts';
import { DEMO_BULK_FIRST, demoBulk } from '../ingest/demo-bulk.ts';
import { demoEvidence } from '../ingest/demo-evidence.ts';
import { type DemoRun, demoFeeds, demoUpload } from '../ingest/demo-feeds.ts';
import type { Usage } from '../limits/store.ts';
import type { ReputationStore } from '../reputation/store.ts';
import type { UrlLastResponse } from '../urls/schemas.ts';
import type { UrlStore } from '../urls/store.ts';
import type { Control, Intelligence } from './stores.ts';

// What `serve --demo` writes at its start. Everything is invented, and is written only where it is missing: a second start
// changes nothing, and what a person has changed or removed stays so.

/** Demo data older than this is written again with times up to today: a search looks back twelve months by default. */
const FRESH_SECONDS = 90 * DAY;

export async function fillDemo(store: UrlStore & ReputationStore, nowTs: number): Promise<void> {
  const observations = demoObservations(nowTs);
  if (!(await isFresh(store, observations[0]?.url ?? '', nowTs))) await store.apply(observations);
  if (!(await isFresh(store, DEMO_BULK_FIRST, nowTs))) {
    for (const page of demoBulk(nowTs)) await store.apply(page);
  }
  const { sources, listings, domains, facts, lists } = demoEvidence(nowTs);
  await store.putSources(sources);
  await store.applyLists(lists);
  await store.applyListings(listings);
  await store.applyDomains(domains, facts);
}

/** Whether `serve --demo` filled the store. Its sources stay, whatever a person removes. */
export async function isDemoData(store: Pick<ReputationStore, 'sourceNames'>): Promise<boolean> {
  const names = new Set((await store.sourceNames()).values());
  return demoEvidence(0).sources.every(({ name }) => names.has(name));
}

async function isFresh(store: UrlStore, url: string, nowTs: number): Promise<boolean> {
  const last = await store.urlLast(url);
  const status = last === null ? null : (JSON.parse(last) as UrlLastResponse).status;
  return status !== null && status.ts > nowTs - FRESH_SECONDS;
}

/** Feeds, accounts and usage. To be called when the account of the demo exists. */
export async function fillDemoControl(control: Control, store: Intelligence, nowTs: number): Promise<void> {
  await fillFeeds(control, nowTs);
  const demo = await control.accountByUsername(DEMO_ACCOUNT.username);
  const customer = await control.accountByUsername(CUSTOMER);
  const [entry] = await control.auditEntries({ sinceTs: 0, untilTs: nowTs, subject: CUSTOMER, action: null, limit: 1 });
  if (demo !== null && customer === null && entry === undefined) {
    await addAccounts(control, demo, nowTs);
    await setByHand(store, nowTs);
    await addAudit(control, nowTs);
  }
  await fillUsage(control, nowTs);
}

async function fillFeeds(control: Control, nowTs: number): Promise<void> {
  const { feeds, runs } = demoFeeds(nowTs);
  const isFirst = (await control.imports({ limit: 1 })).length === 0;
  const removed = new Set<string>();
  for (const feed of feeds) {
    const { lastRunTs, lastSuccessTs, lastError, nextRunTs, failures, rows } = feed;
    const state = { lastRunTs, lastSuccessTs, lastError, nextRunTs, failures, rows };
    const isKnown = await control.changeFeed(feed.name, state);
    if (isFirst && !isKnown) await control.addFeed(feed);
    else if (!isKnown) removed.add(feed.name);
  }
  const stored = new Map<string, ReadonlySet<number>>();
  for (const feed of new Set(runs.map(({ start }) => start.feed))) {
    const imports = await control.imports({ feed, limit: IMPORTS_READ });
    stored.set(feed, new Set(imports.map(({ startedTs }) => startedTs)));
  }
  for (const run of runs) {
    const { feed, startedTs } = run.start;
    if (!removed.has(feed) && !stored.get(feed)?.has(startedTs)) await addRun(control, run);
  }
  if (isFirst) await addRun(control, demoUpload(nowTs));
}

/** More than a feed of the demo has in the two weeks that are filled. */
const IMPORTS_READ = 100;

async function addRun(control: Control, { start, end, rejects }: DemoRun): Promise<void> {
  const id = await control.importStarted(start);
  if (rejects.length > 0) await control.addRejects(id, 0, rejects);
  await control.importFinished(id, end);
}

const CUSTOMER = 'customer@example.com';
const FORMER = 'former@example.com';
const PARTNER_TIER = 'partner';
const PARTNER_LIMITS = { qms: 200_000, qmh: 250_000 };

/**
 * They have the password of the demo, so that a visitor can see what a customer sees: its hash is copied, because a hash takes
 * 46 ms and 19 MiB.
 */
async function addAccounts(control: Control, demo: Account, nowTs: number): Promise<void> {
  const rates = { rlQps: null, rlQpm: null, rlQph: null };
  await control.putTier({ name: PARTNER_TIER, trs: DEFAULT_TRS, ads: DATASETS, ...PARTNER_LIMITS, ...rates });
  const base = { passwordHash: demo.passwordHash, isAdmin: false, generation: 1 };
  const customer = { sub: '10000001', username: CUSTOMER, usernameKey: CUSTOMER, tier: 'developer' };
  const former = { sub: '10000002', username: FORMER, usernameKey: FORMER, tier: PARTNER_TIER };
  await control.addAccount({ ...base, ...customer, isEnabled: true, createdTs: nowTs - 210 * DAY });
  await control.addAccount({ ...base, ...former, isEnabled: false, createdTs: nowTs - 180 * DAY });
}

const HAND_DOMAIN = 'filedrop.example';
const HAND_LISTED = '203.0.113.99';
const HAND_ALLOWED = '192.0.2.250';

/** What an operator would set by hand. */
async function setByHand(store: Intelligence, nowTs: number): Promise<void> {
  const [listed, allowed] = [parseKeyNetwork(HAND_LISTED), parseKeyNetwork(HAND_ALLOWED)];
  if (listed === null || allowed === null) throw new Error('demo data: not an address');
  const setTs = nowTs - 6 * DAY;
  await store.setDomain(HAND_DOMAIN, { human: -5, isAbused: false, reason: 'hosts nothing else', setTs });
  const base = { source: OPERATOR_SOURCE, ts: nowTs - DAY };
  await store.applyLists([{ ...base, as: 'allow', network: allowed, reason: 'our own scanner' }]);
  await store.applyListings([
    {
      ...base,
      network: listed,
      dataset: 'XBL',
      family: 'Mirai',
      port: null,
      listedTs: base.ts,
      details: detailsText({ detection: 'scans our honeypots' }),
    },
  ]);
}

type DemoChange = [daysAgo: number, action: AuditAction, subject: string, before: Fields, after: Fields];

const CHANGES: DemoChange[] = [
  [DEMO_ACCOUNT_DAYS, 'account.add', DEMO_ACCOUNT.username, {}, { tier: OPERATOR_TIER }],
  [210, 'account.add', CUSTOMER, {}, { tier: 'developer', enabled: true, admin: false }],
  [181, 'tier.set', PARTNER_TIER, {}, PARTNER_LIMITS],
  [180, 'account.add', FORMER, {}, { tier: PARTNER_TIER, enabled: true, admin: false }],
  [92, 'feed.add', 'demo-urls', {}, { format: 'urlhaus-csv', interval_seconds: DAY }],
  [91, 'feed.add', 'demo-late', {}, { format: 'ip-list', interval_seconds: DAY }],
  [64, 'feed.add', 'demo-failing', {}, { format: 'domain-list', interval_seconds: 3_600 }],
  [63, 'feed.set', 'demo-failing', { interval_seconds: 3_600 }, { interval_seconds: DAY }],
  [33, 'account.passwd', CUSTOMER, {}, {}],
  [20, 'feed.pause', 'demo-late', { paused: false }, { paused: true }],
  [19, 'feed.resume', 'demo-late', { paused: true }, { paused: false }],
  [9, 'account.disable', FORMER, { enabled: true }, { enabled: false }],
  [6, 'domain.set', HAND_DOMAIN, {}, { human: -5, abused: false, reason: 'hosts nothing else' }],
  [1, 'allow.add', HAND_ALLOWED, {}, { reason: 'our own scanner' }],
  [1, 'listing.add', HAND_LISTED, {}, { dataset: 'XBL', botname: 'Mirai', reason: 'scans our honeypots' }],
];

const SERVER: Actor = { source: 'server', name: 'server', origin: 'localhost' };
const DEMO: Actor = { source: 'page', name: DEMO_ACCOUNT.username, origin: '192.0.2.7' };

async function addAudit(control: Control, nowTs: number): Promise<void> {
  for (const [daysAgo, action, subject, before, after] of CHANGES) {
    const actor = subject === DEMO_ACCOUNT.username ? SERVER : DEMO;
    const ts = nowTs - daysAgo * DAY - dice(daysAgo)(DAY / 2);
    await control.addAudit({ ts, actor, action, subject, changes: changesOf(before, after) });
  }
}

/** As many days as the pages show. */
const USAGE_DAYS = 90;
/** What the customer has used of the 5,000 queries of its tier. */
const CUSTOMER_MONTH = 4_700;

async function fillUsage(control: Control, nowTs: number): Promise<void> {
  const today = windowIndex('day', nowTs);
  const demo = await control.accountByUsername(DEMO_ACCOUNT.username);
  if (demo !== null) await control.addUsage(await missingDays(control, demo.sub, today));
  const customer = await control.accountByUsername(CUSTOMER);
  if (customer !== null) await control.addUsage(await missingMonths(control, customer.sub, today));
}

/** Days without a query get some; today has those that were really made. */
async function missingDays(control: Control, sub: string, today: number): Promise<Usage[]> {
  const missing: Usage[] = [];
  for (let day = today - USAGE_DAYS + 1; day < today; day++) {
    const month = windowIndex('month', day * DAY);
    if ((await control.usage(sub, day, month)).day === 0) missing.push({ sub, day, month, count: weightOf(day) });
  }
  return missing;
}

/** Months without a query get some on every day. The current month is close to its limit, at the beginning of it too. */
async function missingMonths(control: Control, sub: string, today: number): Promise<Usage[]> {
  const missing: Usage[] = [];
  const current = windowIndex('month', today * DAY);
  const first = today - USAGE_DAYS + 1;
  for (let month = windowIndex('month', first * DAY); month <= current; month++) {
    if ((await control.usage(sub, today, month)).month > 0) continue;
    const { firstDay, endDay } = daysOfMonth(month);
    const total = month === current ? CUSTOMER_MONTH : 2_400 + dice(month)(2_000);
    const days = Array.from({ length: endDay - firstDay }, (_, i) => firstDay + i).filter((day) => day <= today);
    missing.push(...shares(days, total).map(([day, count]) => ({ sub, day, month, count })));
  }
  return missing;
}

/** Divides a total among days by their weights; the sum is the total. */
function shares(days: readonly number[], total: number): [day: number, count: number][] {
  let left = total;
  let weight = days.reduce((sum, day) => sum + weightOf(day), 0);
  return days.map((day) => {
    const count = Math.round((left * weightOf(day)) / weight);
    left -= count;
    weight -= weightOf(day);
    return [day, count];
  });
}

/** More on working days. 1970-01-01 was a Thursday. */
function weightOf(day: number): number {
  const isWeekend = (day + 4) % 7 === 0 || (day + 4) % 7 === 6;
  const roll = dice(day);
  return isWeekend ? 15 + roll(30) : 120 + roll(130);
}
