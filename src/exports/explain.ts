import { registrableDomain } from '../core/domain-name.ts';
import { formatKeyNetwork, KEY_BITS, type KeyNetwork, parseKeyNetwork } from '../core/ip/key-network.ts';
import { isReserved } from '../core/ip/reserved.ts';
import { DAY_SECONDS, dayText, timeText } from '../core/time.ts';
import { parseHostKey } from '../core/url/host.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { refangHost, refangUrl } from '../core/url/refang.ts';
import { countsAsOneAddress } from '../reputation/address-report.ts';
import type { DomainReport } from '../reputation/domain-report.ts';
import { type DescribedListing, describeListings, listingText } from '../reputation/listing-state.ts';
import type { NetworkListEntry } from '../reputation/store.ts';
import type { UrlDetails } from '../urls/store.ts';
import { SHOWN_STATUS } from '../urls/timeline.ts';
import { createAddressGuard, MAX_DOMAINS_AT_ADDRESS, RESOLUTION_SECONDS } from './address-entries.ts';
import { type Build, type BuildOptions, type ListReads, prepareBuild } from './build.ts';
import { LEFT_OUT_REASONS, type UrlEntry } from './content.ts';
import { createDomainReports } from './domain-reports.ts';
import { isRelated, namesAround } from './exclusions.ts';
import { urlFaults } from './filter.ts';
import { suffixGuard } from './guards.ts';
import { guardsOf, hostnamesOf, listedDomainFaults, type ReadHostnames } from './host-entries.ts';
import { matchText } from './rows.ts';
import type { Exclusion, ListDefinition } from './store.ts';

/**
 * `kind`: no such list has it. `unknown`: nothing is stored of it. `filter`: it does not fit the filter. `covered`: a name
 * above it is on the list.
 */
export const EXPLAINED_REASONS = [...LEFT_OUT_REASONS, 'kind', 'unknown', 'filter', 'covered'] as const;
type ExplainedReason = { reason: (typeof EXPLAINED_REASONS)[number]; text: string };

/** Whether something is on a list; if not, every reason. `subject`: the URL, name or network, normalized. */
export type Explanation = { subject: string; isOnList: boolean; reasons: ExplainedReason[] };

/** `text`: a URL, a host name, an address or a network, also defanged. Null if it is none of them. */
export async function explainEntry(
  store: ListReads,
  definition: ListDefinition,
  exclusions: readonly Exclusion[],
  nowTs: number,
  options: BuildOptions,
  text: string,
): Promise<Explanation | null> {
  const build = prepareBuild(store, definition, exclusions, nowTs, options);
  const subject = subjectOf(text);
  if (subject === null) return null;
  const explanation = (reasons: ExplainedReason[]) => {
    return { subject: subject.text, isOnList: reasons.length === 0, reasons };
  };
  const { kind } = definition;
  if (kind === 'addresses') {
    if (subject.network !== null) return explanation(await addressReasons(build, subject.network));
    return explanation([{ reason: 'kind', text: `the list has addresses, and ${subject.host} is a name` }]);
  }
  if (subject.host === null) return explanation([{ reason: 'kind', text: `the list has ${kind}, not networks` }]);
  if (kind === 'hosts') return explanation(await hostReasons(build, subject.host, subject.network !== null));
  return explanation(
    subject.url === null
      ? await urlsOfHostReasons(build, subject.host)
      : await urlReasons(build, subject.url, subject.host),
  );
}

/** Whether it is a URL, a host name, an address or a network, also defanged. */
export const isExplainable = (text: string): boolean => subjectOf(text) !== null;

type Subject = { text: string; url: string | null; host: string | null; network: KeyNetwork | null };

function subjectOf(text: string): Subject | null {
  const realUrl = refangUrl(text.trim());
  if (realUrl.includes('://')) {
    const parsed = normalizeUrl(realUrl);
    if (!parsed.ok) return null;
    const { url, host, ip } = parsed;
    return { text: url, url, host, network: ip === null ? null : { ip, prefix: KEY_BITS } };
  }
  const given = refangHost(text.trim());
  const network = parseKeyNetwork(given);
  if (network !== null && network.prefix < KEY_BITS) {
    return { text: formatKeyNetwork(network), url: null, host: null, network };
  }
  const parsed = parseHostKey(network === null ? given : formatKeyNetwork(network));
  if (!parsed.ok) return null;
  const { host, ip } = parsed;
  return { text: host, url: null, host, network: ip === null ? null : { ip, prefix: KEY_BITS } };
}

function filterReasons(texts: readonly string[]): ExplainedReason[] {
  return texts.map((text) => ({ reason: 'filter', text }));
}

function exclusionReasons(exclusions: readonly Exclusion[]): ExplainedReason[] {
  return exclusions.map(({ id, match, list, reason, setTs, untilTs }) => {
    const below = match.kind === 'host' && match.withSubdomains ? ' and the names below it' : '';
    const where = list === null ? 'all lists' : 'this list';
    const until = untilTs === null ? 'without an end' : `until ${timeText(untilTs)}`;
    const text = `excluded by the operator (exclusion ${id}: ${matchText(match)}${below}, on ${where}, since ${timeText(setTs)}, ${until}): ${reason}`;
    return { reason: 'excluded', text };
  });
}

/** Each name once: the same one may be excluded from this list and from all. */
function belowReasons(names: readonly string[]): ExplainedReason[] {
  return [...new Set(names)].slice(0, MAX_REASONS).map((name) => {
    return { reason: 'excluded', text: `${name} below it is excluded, and most formats also block names below a name` };
  });
}

/** Enough for the families of one row, which has at most 64 tags. */
const MAX_PAYLOADS = 100;

async function urlReasons(build: Build, url: string, host: string): Promise<ExplainedReason[]> {
  const details = await build.store.urlDetails(url, MAX_PAYLOADS);
  const entry = details === null ? null : toUrlEntry(details, host);
  const excluded = exclusionReasons(build.exclusions.ofUrl(url, host));
  if (entry === null) return [{ reason: 'unknown', text: `no status of ${url} is known` }, ...excluded];
  return [...filterReasons(urlFaults(entry, build.filter)), ...excluded];
}

function toUrlEntry({ id, url, events, payloads, tags }: UrlDetails, host: string): UrlEntry | null {
  const [event] = events;
  if (event === undefined) return null;
  const { ts, kind, reporter, confirmedTs } = event;
  const [last, ...others] = payloads;
  const { family = null, sha256 = null } = last ?? {};
  const ofSameTime = others.filter((other) => other.ts === last?.ts);
  return {
    id,
    url,
    host,
    status: SHOWN_STATUS[kind],
    sinceTs: ts,
    seenTs: confirmedTs ?? ts,
    reporter,
    family,
    sha256,
    tags,
    otherFamilies: ofSameTime.flatMap((other) => other.family ?? []),
  };
}

/** Different reasons of the URLs of one host that are shown. */
const MAX_REASONS = 20;

/** Empty if a URL of the host is on the list. */
async function urlsOfHostReasons(build: Build, host: string): Promise<ExplainedReason[]> {
  const urls = await urlsOf(build, host);
  if (urls.length === 0) return [{ reason: 'unknown', text: `no URL of ${host} is known` }];
  const reasons = urls.map((entry) => [
    ...filterReasons(urlFaults(entry, build.filter)),
    ...exclusionReasons(build.exclusions.ofUrl(entry.url, host)),
  ]);
  return reasons.some(({ length }) => length === 0) ? [] : counted(reasons.flat());
}

/** Each reason once, with the number of URLs that have it, the most frequent first. */
function counted(reasons: readonly ExplainedReason[]): ExplainedReason[] {
  const groups = [...Map.groupBy(reasons, ({ text }) => text).values()].sort((a, b) => b.length - a.length);
  return groups.slice(0, MAX_REASONS).map((group) => {
    const { reason, text } = group[0] as ExplainedReason;
    return { reason, text: `${group.length === 1 ? '1 URL' : `${group.length} URLs`}: ${text}` };
  });
}

async function urlsOf({ store }: Build, host: string): Promise<UrlEntry[]> {
  const urls: UrlEntry[] = [];
  const filter = { status: 'any', seenSinceTs: 0, host } as const;
  for await (const page of store.urlsForList(filter)) urls.push(...page);
  return urls;
}

async function hostReasons(build: Build, host: string, isAddress: boolean): Promise<ExplainedReason[]> {
  if (isAddress) return [{ reason: 'address', text: 'the list has names, and this is an address' }];
  const domain = registrableDomain(host);
  if (domain === null) return [suffixGuard(host)];
  const [report] = await (await createDomainReports(build.store, { ...build.options, nowTs: build.nowTs }))(
    [domain],
    build.end,
  );
  if (report === undefined) throw new Error('a report for each domain');
  const readAll = hostnamesOf(build, report);
  const reasons = await nameReasons(build, host, report, readAll);
  if (reasons.length === 0) return [];
  for (const above of namesAround(host).slice(1)) {
    // A name above the domain is on no list: it is a public suffix, or above one.
    if (above.length < domain.length) break;
    if ((await nameReasons(build, above, report, readAll)).length > 0) continue;
    const text = `${above} above it is on the list, and most formats also block names below a name`;
    return [...reasons, { reason: 'covered', text }];
  }
  return reasons;
}

async function nameReasons(
  build: Build,
  host: string,
  report: DomainReport,
  readAll: ReadHostnames,
): Promise<ExplainedReason[]> {
  const { listedDomains } = build.definition.filter;
  const ofUrls = await urlsOfHostReasons(build, host);
  const byScore =
    listedDomains && host === report.state.name
      ? filterReasons(listedDomainFaults(build, report, ofUrls.length === 0))
      : null;
  const score = build.filter.score(report.score);
  return [
    ...(ofUrls.length === 0 || byScore?.length === 0 ? [] : [...ofUrls, ...(byScore ?? [])]),
    ...filterReasons(score === null ? [] : [score]),
    ...exclusionReasons(build.exclusions.ofHost(host)),
    ...belowReasons(build.exclusions.namesBelow(host)),
    ...(await guardsOf(build, host, report, readAll)),
  ];
}

async function addressReasons(build: Build, network: KeyNetwork): Promise<ExplainedReason[]> {
  const { store, nowTs, options, exclusions } = build;
  const query = { inside: true, covering: true, nowTs, allowReserved: options.allowReserved };
  const listings = await describeListings(store, network, query);
  const faults = listings.map((listing) => listingFaults(build, listing));
  const fitting = listings.filter((_, i) => faults[i]?.length === 0);
  const lists = await store.addressLists();
  const guard = createAddressGuard(build, lists);
  const left = fitting.flatMap((listing) => guard(listing.network)).filter((one) => isRelated(one, network));
  const alone = left.filter(countsAsOneAddress);
  const counts = await store.domainsAt(alone, nowTs - RESOLUTION_SECONDS, nowTs);
  if (alone.length < left.length || counts.some((domains) => domains <= MAX_DOMAINS_AT_ADDRESS)) return [];

  const isReservedRange = !options.allowReserved && isReserved(network);
  const text = formatKeyNetwork(network);
  return [
    ...(fitting.length > 0 ? [] : faults.flat().slice(0, MAX_REASONS)),
    ...oneReason(listings.length === 0, 'unknown', `no listing of ${text} is known`),
    ...oneReason(isReservedRange, 'reserved', `${text} is in a private or reserved range`),
    ...exclusionReasons(exclusions.ofNetwork(network)),
    ...lists.entries.filter((entry) => isRelated(entry.network, network)).map(listEntryReason),
    ...counts.slice(0, MAX_REASONS).map((domains, i) => sharingReason(alone[i] as KeyNetwork, domains)),
  ];
}

function oneReason(isSo: boolean, reason: ExplainedReason['reason'], text: string): ExplainedReason[] {
  return isSo ? [{ reason, text }] : [];
}

function listEntryReason({ as, network, source, reason }: NetworkListEntry): ExplainedReason {
  const because = reason === '' ? '' : `: ${reason}`;
  const where = `${formatKeyNetwork(network)} (${source}${because})`;
  if (as === 'allow') return { reason: 'allowed', text: `allowed by ${where}` };
  return { reason: 'shared-address', text: `a range that many share: ${where}` };
}

function sharingReason(address: KeyNetwork, domains: number): ExplainedReason {
  const days = RESOLUTION_SECONDS / DAY_SECONDS;
  const text = `${domains} registrable domains resolved to ${formatKeyNetwork(address)} in the last ${days} days`;
  return { reason: 'shared-address', text };
}

function listingFaults({ filter }: Build, listing: DescribedListing): ExplainedReason[] {
  const { dataset, seenTs, family, source, state, removal, validUntilTs } = listing;
  const texts = [
    filter.dataset(dataset),
    filter.age(seenTs),
    filter.family(family),
    filter.source(source.name),
    state === 'expired' ? `expired ${dayText(validUntilTs)}` : null,
    state === 'removed' ? `removed by the operator: ${removal?.reason ?? ''}` : null,
    state === 'reserved' ? 'in a private or reserved range' : null,
  ];
  return filterReasons(texts.filter((text) => text !== null).map((text) => `${listingText(listing)}: ${text}`));
}
