import { BUILT_IN_SOURCE, LISTS_OF } from '../reputation/abused.ts';
import { type DomainReport, isHostListed } from '../reputation/domain-report.ts';
import { PATH_HOSTS } from '../reputation/path-hosts.ts';
import { MAX_PIECES, MAX_RANK } from '../reputation/score.ts';
import type { DomainState, NameListing, SeenHostname } from '../reputation/store.ts';
import type { LeftOutReason } from './content.ts';

// Names that a list of hosts never has: to block them would block everybody who shares them.

/** Why a name is left out: the rule, and in words with the source that it relies on. */
export type Guard = { reason: LeftOutReason; text: string };

const PATH_HOST_SET = new Set<string>(PATH_HOSTS);
const WWW = 'www.';

/** Of a name without a registrable domain. */
export function suffixGuard(host: string): Guard {
  return { reason: 'shared-site', text: `${host} is a public suffix: the names below it belong to different people` };
}

/** All rules that hold for a host name. `hostLists`: the lists that have exactly this name. */
export function hostGuards(
  host: string,
  { state, abused }: Pick<DomainReport, 'state' | 'abused'>,
  hostLists: readonly NameListing[],
  isListed: boolean,
): Guard[] {
  const guards: Guard[] = [];
  const site = siteOf(host, state.name);
  const pathHost = pathHostOf(host, state.name);
  if (pathHost !== null) {
    guards.push(shared(`the path, not the name, distinguishes the tenants of ${pathHost} (${BUILT_IN_SOURCE})`));
  }
  for (const list of site === state.name ? state.lists : hostLists) {
    if (list.rank !== null && list.rank > MAX_RANK) continue;
    const rank = list.rank === null ? '' : `, rank ${list.rank}`;
    guards.push(shared(`${site} is on a list of ${LISTS_OF[list.kind]} (${list.source}${rank})`));
  }
  if (abused?.isAbused && (site === state.name || !isListed)) {
    const own = site === state.name ? '' : `, and the evidence on ${host} alone does not list it`;
    guards.push({
      reason: 'abused-domain',
      text: `${state.name} is a good site that somebody misused: ${abused.text}${own}`,
    });
  }
  return guards;
}

function shared(text: string): Guard {
  return { reason: 'shared-site', text };
}

/** The name without a leading `www`: both are the same site. */
function siteOf(host: string, domain: string): string {
  return host !== domain && host.startsWith(WWW) ? host.slice(WWW.length) : host;
}

/**
 * The entry of the built-in list for a host. An entry that is a registrable domain counts for all names below it: these
 * services give their customers no names of their own, and spread the files over many hosts.
 */
function pathHostOf(host: string, domain: string): string | null {
  const name = siteOf(host, domain);
  if (PATH_HOST_SET.has(name)) return name;
  return PATH_HOST_SET.has(domain) ? domain : null;
}

/** The names whose lists have to be read for a host: those of the domain itself are part of its state. */
export function namesOfOwnLists(host: string, { name, lists }: DomainState): string[] {
  const site = siteOf(host, name);
  return lists.length === 0 || site === name ? [] : [...new Set([host, site])];
}

/**
 * What a name of a domain has as evidence of its own. The state has the newest evidence of the whole domain: if that is not
 * all, and is not enough, everything is read, as for the list of host names of the domain.
 */
export async function hostEvidence(
  host: string,
  state: DomainState,
  readAll: () => Promise<readonly SeenHostname[]>,
  nowTs: number,
): Promise<SeenHostname> {
  const found: SeenHostname = {
    hostname: host,
    lastTs: 0,
    urlTs: state.urls.filter(({ hostname }) => hostname === host).map(({ onlineTs }) => onlineTs),
    evidence: state.evidence.filter(({ hostname }) => hostname === host),
  };
  const isAll = state.urls.length < MAX_PIECES && state.evidence.length < MAX_PIECES;
  if (isAll || isHostListed(found, nowTs)) return found;
  return (await readAll()).find(({ hostname }) => hostname === host) ?? found;
}
