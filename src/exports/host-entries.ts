import { hostParts, registrableDomain } from '../core/domain-name.ts';
import { type DomainReport, isHostListed } from '../reputation/domain-report.ts';
import { dimensionsOf, LISTED_FROM, scoreOf } from '../reputation/score.ts';
import type { NameListing, SeenHostname } from '../reputation/store.ts';
import { type Build, createNewest } from './build.ts';
import type { HostEntry, LeftOutReason, UrlEntry } from './content.ts';
import { createDomainReports } from './domain-reports.ts';
import { urlFits } from './filter.ts';
import { type Guard, hostEvidence, hostGuards, namesOfOwnLists } from './guards.ts';

/**
 * A host with URLs that fit the filter, or a domain that may be listed by its score. `sinceTs` is 0 if only the evidence on
 * its domain says since when.
 */
type Candidate = { host: string; sinceTs: number; seenTs: number; urls: number; families: Set<string> };

/** Domains whose states are in memory at once. */
const DOMAINS_PER_READ = 500;

const HOUR = 3_600;

export async function hostEntries(build: Build): Promise<HostEntry[]> {
  const { store, definition, filter, nowTs, options, end } = build;
  const byDomain = await candidates(build);
  if (definition.filter.listedDomains) {
    for await (const names of store.domainsForList(filter.seenSinceTs)) {
      for (const name of names) if (!byDomain.has(name)) byDomain.set(name, []);
    }
  }
  const reportsOf = await createDomainReports(store, { ...options, nowTs });
  const newest = createNewest<HostEntry>(build, {
    tsOf: ({ sinceTs }) => sinceTs,
    compareKeys: (a, b) => (a.host < b.host ? -1 : 1),
  });
  const domains = [...byDomain.keys()];
  for (let from = 0; from < domains.length; from += DOMAINS_PER_READ) {
    const names = domains.slice(from, from + DOMAINS_PER_READ);
    for (const report of await reportsOf(names, end)) {
      for (const entry of await entriesOfDomain(build, report, byDomain.get(report.state.name) ?? []))
        newest.add(entry);
    }
  }
  const entries = newest.sorted();
  if (entries.length > 0) end.at(hourOf(nowTs) + HOUR);
  return entries;
}

function hourOf(ts: number): number {
  return ts - (ts % HOUR);
}

/** Hosts of URLs that fit the filter, by their domain. Addresses, public suffixes and excluded hosts are left out here. */
async function candidates(build: Build): Promise<Map<string, Candidate[]>> {
  const { store, definition, filter, exclusions, end } = build;
  const hosts = new Map<string, Candidate>();
  const addresses = new Set<string>();
  let oldestTs = Number.POSITIVE_INFINITY;
  const { status } = definition.filter;
  for await (const page of store.urlsForList({ status, seenSinceTs: filter.seenSinceTs, isBrief: true })) {
    for (const url of page) {
      if (!urlFits(url, filter)) continue;
      oldestTs = Math.min(oldestTs, url.seenTs);
      let candidate = hosts.get(url.host);
      if (candidate === undefined) {
        // Most hosts are addresses: as candidates, 600,000 of them would take 100 MB more.
        if (addresses.has(url.host)) continue;
        if (hostParts(url.host).ip !== null) {
          addresses.add(url.host);
          continue;
        }
        candidate = newCandidate(url.host);
        hosts.set(url.host, candidate);
      }
      // A host whose URLs are all excluded is left out; other URLs of it count.
      if (exclusions.ofUrl(url.url, url.host).length === 0) addUrl(candidate, url, status === 'any');
    }
  }
  if (oldestTs < Number.POSITIVE_INFINITY) end.at(filter.tooOldTs(oldestTs));

  build.leaveOut('address', addresses.size);
  const byDomain = new Map<string, Candidate[]>();
  for (const candidate of hosts.values()) {
    const { reason, domain } = placeOf(candidate);
    if (reason !== null) build.leaveOut(reason);
    else if (!byDomain.has(domain)) byDomain.set(domain, [candidate]);
    else byDomain.get(domain)?.push(candidate);
  }
  return byDomain;
}

function newCandidate(host: string): Candidate {
  return { host, sinceTs: 0, seenTs: 0, urls: 0, families: new Set() };
}

/** On a list of any status, a host is not new because a URL went offline: `max` would prefer it to one that is online. */
function addUrl(candidate: Candidate, url: UrlEntry, isOfAnyStatus: boolean): void {
  const { status, sinceTs, seenTs, family, otherFamilies = [] } = url;
  candidate.urls++;
  if (status === 'online' || !isOfAnyStatus) candidate.sinceTs = Math.max(candidate.sinceTs, sinceTs);
  candidate.seenTs = Math.max(candidate.seenTs, seenTs);
  if (family !== null) candidate.families.add(family);
  for (const other of otherFamilies) candidate.families.add(other);
}

type Place = { reason: LeftOutReason; domain: null } | { reason: null; domain: string };

function placeOf({ host, urls }: Candidate): Place {
  if (urls === 0) return { reason: 'excluded', domain: null };
  const domain = registrableDomain(host);
  return domain === null ? { reason: 'shared-site', domain: null } : { reason: null, domain };
}

async function entriesOfDomain(build: Build, report: DomainReport, urlHosts: Candidate[]): Promise<HostEntry[]> {
  const { filter, exclusions, end, nowTs } = build;
  const { state, score, input } = report;
  const hosts = withListedDomain(build, report, urlHosts);
  if (hosts.length === 0 || filter.score(score) !== null) return [];
  const { maxScore } = filter;
  if (maxScore !== null) end.whenNot((ts) => scoreOf(dimensionsOf(input, ts)) <= maxScore);
  const readAll = hostnamesOf(build, report);
  const hourScore = scoreOf(dimensionsOf(input, hourOf(nowTs)));
  const entries: HostEntry[] = [];
  for (const candidate of hosts) {
    const { host } = candidate;
    // Most formats also block the names below a name, and could not leave out one of them.
    const isExcluded = exclusions.ofHost(host).length > 0 || exclusions.namesBelow(host).length > 0;
    const reason = isExcluded ? 'excluded' : (await guardsOf(build, host, report, readAll))[0]?.reason;
    if (reason !== undefined) build.leaveOut(reason);
    else entries.push(toEntry(candidate, state, hourScore));
  }
  return entries;
}

/** With the domain itself, if it is listed by its score and was seen, or the operator listed it. */
function withListedDomain(build: Build, report: DomainReport, urlHosts: Candidate[]): readonly Candidate[] {
  const { definition, filter, end } = build;
  const { state, input } = report;
  if (!definition.filter.listedDomains || listedDomainFaults(build, report, urlHosts.length > 0).length > 0)
    return urlHosts;
  const seenTs = domainSeenTs(report);
  end.whenNot((ts) => scoreOf(dimensionsOf(input, ts)) <= LISTED_FROM);
  if (!isSetByOperator(report)) end.at(filter.tooOldTs(seenTs));
  const known = urlHosts.find(({ host }) => host === state.name);
  const domain = known ?? newCandidate(state.name);
  domain.seenTs = Math.max(domain.seenTs, seenTs);
  return known === undefined ? [...urlHosts, domain] : urlHosts;
}

/** Why a domain is not on a list as one that is listed by its score; empty if it is. */
export function listedDomainFaults(
  { filter }: Pick<Build, 'filter'>,
  report: DomainReport,
  hasUrls: boolean,
): string[] {
  const { state, score, isListed } = report;
  const faults: string[] = [];
  if (!isListed) faults.push(`${state.name} is not listed by its score, which is ${score}`);
  const age = isSetByOperator(report) ? null : filter.age(domainSeenTs(report));
  if (age !== null) faults.push(age);
  const isNamed = state.evidence.some(
    ({ botname, source }) => filter.family(botname) === null && filter.source(source.name) === null,
  );
  if (!filter.isOpen && !hasUrls && !isNamed) faults.push('no evidence on it has a family and a source of the list');
  return faults;
}

/** What the operator says does not age. */
function isSetByOperator({ input }: DomainReport): boolean {
  return input.human <= LISTED_FROM;
}

/** Registration and rank say that a domain exists, not that anything happened there. */
function domainSeenTs({ contexts, state }: DomainReport): number {
  const seen = contexts.find(({ context }) => context !== 'whois' && context !== 'popularity');
  return seen?.lastTs ?? state.settings?.setTs ?? 0;
}

/** When the newest evidence began. Of addresses only the newest sighting is known, and that is confirmed again and again. */
function evidenceSinceTs({ evidence, firstUrlTs, settings }: DomainReport['state']): number {
  return Math.max(firstUrlTs ?? 0, settings?.setTs ?? 0, ...evidence.map(({ firstTs }) => firstTs));
}

export type ReadHostnames = () => Promise<readonly SeenHostname[]>;

/** The host names of a domain, read once. */
export function hostnamesOf({ store }: Build, { state }: DomainReport): ReadHostnames {
  let all: ReturnType<ReadHostnames> | null = null;
  return () => {
    all ??= store.domainHostnames(state.id, Number.POSITIVE_INFINITY);
    return all;
  };
}

/** The rules by which a name is left out. A name of an abused domain stays while its own evidence lists it. */
export async function guardsOf(
  { store, nowTs, end, sharedBelow }: Build,
  host: string,
  report: DomainReport,
  readAll: ReadHostnames,
): Promise<Guard[]> {
  const { state, abused } = report;
  const isNameOfAbused = abused?.isAbused === true && host !== state.name;
  const own = isNameOfAbused ? await hostEvidence(host, state, readAll, nowTs) : null;
  const isListed = own !== null && isHostListed(own, nowTs);
  const guards = hostGuards(host, report, await ownLists(store, host, report), isListed);
  guards.push(...(await sharedBelow(host)));
  if (own !== null && guards.length === 0) end.whenNot((ts) => isHostListed(own, ts));
  return guards;
}

async function ownLists(store: Build['store'], host: string, { state }: DomainReport): Promise<NameListing[]> {
  const names = namesOfOwnLists(host, state);
  return names.length === 0 ? [] : [...(await store.nameLists(names)).values()].flat();
}

function toEntry(
  { host, sinceTs, seenTs, urls, families }: Candidate,
  state: DomainReport['state'],
  score: number,
): HostEntry {
  const { name: domain, evidence } = state;
  for (const { hostname, botname } of evidence) {
    if (botname !== null && (hostname === host || host === domain)) families.add(botname);
  }
  return {
    host,
    domain,
    score,
    seenTs,
    families: [...families].sort(),
    urls,
    sinceTs: sinceTs === 0 ? evidenceSinceTs(state) : sinceTs,
  };
}
