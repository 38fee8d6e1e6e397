import { registrableDomain } from '../core/domain-name.ts';
import { type NameListKind, OPERATOR_SOURCE } from '../core/evidence.ts';
import { dayText } from '../core/time.ts';
import { PATH_HOSTS } from './path-hosts.ts';
import { MAX_RANK } from './score.ts';
import type { DomainState, NameListing } from './store.ts';

// Whether a domain is abused: a good site that somebody misused. Its evidence then belongs to host names and URLs.

/** The rule that decided, in words, with the source that it relies on. */
export type AbusedDecision = {
  isAbused: boolean;
  text: string;
  feed: string;
  /** Null: the rule has no time. */
  ts: number | null;
};

/** The source of what the program itself knows. */
export const BUILT_IN_SOURCE = 'built-in';
/** The store keeps registration data without their source. */
export const WHOIS_SOURCE = 'whois';

const YEAR_SECONDS = 365 * 86_400;

/** By registrable domain, the host that is on the built-in list. */
const PATH_HOST_OF = new Map(PATH_HOSTS.map((host) => [registrableDomain(host), host]));

/** The first rule that holds; null if none does, and the domain is not abused. */
export function abusedDecision(state: DomainState): AbusedDecision | null {
  return byOperator(state) ?? bySource(state) ?? byList(state) ?? byBuiltInList(state) ?? byOneHostname(state);
}

function byOperator({ settings }: DomainState): AbusedDecision | null {
  if (settings === null || settings.isAbused === null) return null;
  const { isAbused, reason, setTs } = settings;
  const because = reason === '' ? '' : `: ${reason}`;
  const text = `the operator says that it is ${isAbused ? '' : 'not '}abused${because}`;
  return { isAbused, text, feed: OPERATOR_SOURCE, ts: setTs };
}

function bySource({ abusedClaim }: DomainState): AbusedDecision | null {
  if (abusedClaim === null) return null;
  const { source, ts } = abusedClaim;
  return { isAbused: true, text: `${source} says that the site was broken into (${dayText(ts)})`, feed: source, ts };
}

export const LISTS_OF: Record<NameListKind, string> = {
  popular: 'popular sites',
  shared: 'shared sites',
  shortener: 'URL shorteners',
  dyndns: 'dynamic-DNS providers',
};

function byList({ lists }: DomainState): AbusedDecision | null {
  const found = bestRanked(lists) ?? lists.find(({ rank }) => rank === null);
  if (found === undefined) return null;
  const { kind, source, rank, ts } = found;
  const text =
    rank === null
      ? `it is on a list of ${LISTS_OF[kind]} (${source})`
      : `it has rank ${rank} in a list of popular sites (${source})`;
  return { isAbused: true, text, feed: source, ts };
}

/** The list with the best rank that counts. */
export function bestRanked(lists: readonly NameListing[]): (NameListing & { rank: number }) | undefined {
  const ranked = lists.filter(
    (list): list is NameListing & { rank: number } =>
      list.kind === 'popular' && list.rank !== null && list.rank <= MAX_RANK,
  );
  return ranked.sort((a, b) => a.rank - b.rank)[0];
}

function byBuiltInList({ name }: DomainState): AbusedDecision | null {
  const host = PATH_HOST_OF.get(name);
  if (host === undefined) return null;
  const text = `the path, not the name, distinguishes the tenants of ${host}`;
  return { isAbused: true, text, feed: BUILT_IN_SOURCE, ts: null };
}

function byOneHostname({ name, whois, evidenceHosts, firstUrlTs, evidence }: DomainState): AbusedDecision | null {
  const [hostname, second] = evidenceHosts;
  if (hostname === undefined || second !== undefined || hostname === name || hostname === `www.${name}`) return null;
  // With a single host name there are few rows, so the earliest of them is here.
  const firstTs = Math.min(firstUrlTs ?? Number.POSITIVE_INFINITY, ...evidence.map((row) => row.firstTs));
  const createdTs = whois?.createdTs ?? null;
  if (whois === null || createdTs === null || !(firstTs - createdTs > YEAR_SECONDS)) return null;
  if (firstTs === Number.POSITIVE_INFINITY) return null;
  const text =
    `it was registered on ${dayText(createdTs)}, more than a year before the first evidence (${dayText(firstTs)}), ` +
    `and all evidence is on ${hostname}`;
  return { isAbused: true, text, feed: WHOIS_SOURCE, ts: whois.ts };
}
