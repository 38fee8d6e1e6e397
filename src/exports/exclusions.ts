import { hostParts } from '../core/domain-name.ts';
import { KEY_BITS, type KeyNetwork, parseKeyNetwork } from '../core/ip/key-network.ts';
import { createFamilySets } from '../core/ip/network-set.ts';
import { parseHostKey } from '../core/url/host.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import type { Exclusion } from './store.ts';

/** The exclusions of one list that hold now. */
export type ActiveExclusions = {
  /** When the first of them ends; null: never. */
  firstEndTs: number | null;
  /** All that match a host name. */
  ofHost(host: string): Exclusion[];
  /** Excluded names below a host name. */
  namesBelow(host: string): readonly string[];
  /** All that match a URL: by its host, by a prefix, or by a network if its host is an address. */
  ofUrl(url: string, host: string): Exclusion[];
  /** All that contain a network or are inside it. */
  ofNetwork(network: KeyNetwork): Exclusion[];
  /** The excluded networks that are inside this one. */
  holesIn(network: KeyNetwork): KeyNetwork[];
  isNetworkExcluded(network: KeyNetwork): boolean;
};

type NetworkExclusion = { network: KeyNetwork; exclusion: Exclusion };

export function activeExclusions(exclusions: readonly Exclusion[], list: string, nowTs: number): ActiveExclusions {
  const active = exclusions.filter(
    (one) => (one.list === null || one.list === list) && (one.untilTs === null || one.untilTs > nowTs),
  );
  const exact = new Map<string, Exclusion[]>();
  const withSubdomains = new Map<string, Exclusion[]>();
  const below = new Map<string, string[]>();
  const prefixes: { prefix: string; exclusion: Exclusion }[] = [];
  const networks: NetworkExclusion[] = [];
  for (const exclusion of active) {
    const { match } = exclusion;
    if (match.kind === 'host') {
      const host = hostText(match.host);
      add(match.withSubdomains ? withSubdomains : exact, host, exclusion);
      for (const parent of namesAround(host).slice(1)) add(below, parent, host);
    } else if (match.kind === 'url') {
      const parsed = normalizeUrl(match.prefix);
      if (parsed.ok) prefixes.push({ prefix: parsed.url, exclusion });
    } else {
      const network = parseKeyNetwork(match.network);
      if (network !== null) networks.push({ network, exclusion });
    }
  }
  const networkSet = createFamilySets(networks.map(({ network }) => network));

  function ofHost(host: string): Exclusion[] {
    const found = [...(exact.get(host) ?? [])];
    if (withSubdomains.size > 0) for (const name of namesAround(host)) found.push(...(withSubdomains.get(name) ?? []));
    return found;
  }

  function ofNetwork(network: KeyNetwork): Exclusion[] {
    if (networks.length === 0) return NONE;
    return networks.filter((one) => isRelated(one.network, network)).map(({ exclusion }) => exclusion);
  }

  return {
    firstEndTs: active.reduce<number | null>(
      (first, { untilTs }) => (untilTs === null ? first : Math.min(untilTs, first ?? untilTs)),
      null,
    ),
    ofHost,
    namesBelow: (host) => below.get(host) ?? NO_NAMES,
    ofNetwork,
    ofUrl(url, host) {
      if (active.length === 0) return NONE;
      const found = ofHost(host);
      for (const { prefix, exclusion } of prefixes) if (url.startsWith(prefix)) found.push(exclusion);
      const ip = networks.length === 0 ? null : hostParts(host).ip;
      if (ip !== null) found.push(...ofNetwork({ ip, prefix: KEY_BITS }));
      return found;
    },
    holesIn: (network) => networkSet.inside(network),
    isNetworkExcluded: (network) => networkSet.covers(network),
  };
}

/** Whether one network contains the other, in the same family. */
export function isRelated(a: KeyNetwork, b: KeyNetwork): boolean {
  const set = createFamilySets([a]);
  return set.covers(b) || set.inside(b).length > 0;
}

const NONE: Exclusion[] = [];
const NO_NAMES: readonly string[] = [];

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

/** Stored ones are normalized already. */
function hostText(text: string): string {
  const host = parseHostKey(text);
  return host.ok ? host.host : text;
}

/** The name, and every name that it is below. */
export function namesAround(host: string): string[] {
  const names = [host];
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) names.push(host.slice(dot + 1));
  return names;
}
