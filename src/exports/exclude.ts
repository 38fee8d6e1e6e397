import { AppError, badRequest } from '../core/errors.ts';
import { formatKeyNetwork, parseKeyNetwork } from '../core/ip/key-network.ts';
import { textFault } from '../core/text.ts';
import { URL_ERRORS } from '../core/url/errors.ts';
import { parseHostKey } from '../core/url/host.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { refangHost, refangUrl } from '../core/url/refang.ts';
import { toNetwork } from '../ingest/evidence.ts';
import { requireList } from './manage.ts';
import { matchText } from './rows.ts';
import type { Exclusion, ExclusionMatch, ListStore } from './store.ts';

// What commands and administration pages do with exclusions. Running servers apply a change within seconds.

/** That have not ended. Each is compared with every entry of every list, and all are read with one statement. */
const MAX_EXCLUSIONS = 1_000;

/** How long they are shown after their end. */
const KEEP_ENDED_SECONDS = 30 * 86_400;

/** `value`: a URL, an address, a network or a host, also defanged. */
type NewExclusion = {
  value: string;
  withSubdomains: boolean;
  /** Null: all lists. */
  list: string | null;
  reason: string;
  /** Null: no end. */
  untilTs: number | null;
};

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * A text with a scheme is the beginning of URLs, an address or a network is a network, and everything else must be a host:
 *
 *     hxxps://files[.]example/shared/   URLs that begin with https://files.example/shared/
 *     203.0.113.0/24                    a network
 *     shop[.]example                    a host, or with its subdomains
 */
export function readMatch(value: string, withSubdomains: boolean): ExclusionMatch {
  const url = refangUrl(value.trim());
  const match = HAS_SCHEME.test(url) ? readPrefix(url) : readHostOrNetwork(value.trim(), withSubdomains);
  if (withSubdomains && match.kind !== 'host')
    throw badRequest(`Only a host has subdomains: ${matchText(match)} is none`);
  return match;
}

function readPrefix(url: string): ExclusionMatch {
  const normal = normalizeUrl(url);
  if (!normal.ok) throw badRequest(`${JSON.stringify(url)}: ${URL_ERRORS[normal.error]}`);
  return { kind: 'url', prefix: normal.url };
}

function readHostOrNetwork(value: string, withSubdomains: boolean): ExclusionMatch {
  const text = refangHost(value);
  if (parseKeyNetwork(text) !== null) {
    const network = toNetwork(text);
    if (typeof network === 'string') throw badRequest(network);
    return { kind: 'network', network: formatKeyNetwork(network) };
  }
  const host = parseHostKey(text);
  if (!host.ok || host.ip !== null) {
    throw badRequest(
      `${JSON.stringify(value)} is no host, no address, no network and no URL with its scheme, such as shop.example, 203.0.113.0/24 or https://files.example/shared/`,
    );
  }
  if (withSubdomains && !host.host.includes('.')) {
    throw badRequest(`${host.host} is a top-level name: nothing below it would be on the lists`);
  }
  return { kind: 'host', host: host.host, withSubdomains };
}

/** The same again replaces its reason and its end. `before`: what was replaced. */
export async function exclude(
  store: Pick<ListStore, 'listDefinitions' | 'exclusions' | 'addExclusion'>,
  { value, withSubdomains, list, reason, untilTs }: NewExclusion,
  nowTs: number,
): Promise<{ before: Exclusion | null; exclusion: Exclusion }> {
  const match = readMatch(value, withSubdomains);
  if (reason.trim() === '') throw badRequest('The reason is missing: others will ask why it is on no list');
  const fault = textFault(reason);
  if (fault !== null) throw badRequest(`The reason: ${fault}`);
  if (untilTs !== null && untilTs <= nowTs) throw badRequest('The end of the exclusion is in the past');
  if (list !== null) await requireList(store, list);
  const known = await store.exclusions();
  const isSame = (one: Exclusion) =>
    one.list === list && one.match.kind === match.kind && matchText(one.match) === matchText(match);
  const others = known.filter((one) => !isSame(one) && (one.untilTs === null || one.untilTs > nowTs));
  if (others.length >= MAX_EXCLUSIONS)
    throw badRequest(`There are ${MAX_EXCLUSIONS} exclusions already: remove some first`);
  const added = { match, list, reason, setTs: nowTs, untilTs };
  const id = await store.addExclusion(added, nowTs - KEEP_ENDED_SECONDS);
  return { before: known.find(isSame) ?? null, exclusion: { id, ...added } };
}

export async function removeExclusion(
  store: Pick<ListStore, 'exclusion' | 'removeExclusion'>,
  id: number,
): Promise<Exclusion> {
  const exclusion = await store.exclusion(id);
  if (exclusion !== null && (await store.removeExclusion(id))) return exclusion;
  throw new AppError('not_found', `There is no exclusion with the id ${id}. See: urlwarden list exclusions`);
}

/** `shop.example and its subdomains`, `URLs that begin with …`, `203.0.113.0/24`. */
export function describeMatch(match: ExclusionMatch): string {
  if (match.kind === 'host') return `${match.host}${match.withSubdomains ? ' and its subdomains' : ''}`;
  return match.kind === 'url' ? `URLs that begin with ${match.prefix}` : match.network;
}

/** For the audit log, whose subject is the host, the URL or the network. */
export function exclusionFields({ match, list, reason, untilTs }: Exclusion) {
  return {
    ...(match.kind === 'host' && { subdomains: match.withSubdomains }),
    list: list ?? 'all',
    reason,
    until_ts: untilTs,
  };
}

export const exclusionSubject = ({ match }: Exclusion): string => matchText(match);
