import { Resolver as DnsResolver } from 'node:dns/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { parseIp } from '../core/ip/address.ts';
import type { ObservationInput } from '../core/observation.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { refusedKind } from './sources/fetch-guard.ts';
import type { Format, Item } from './sources/format.ts';

/** Resolves host names during one import. */
export type HostResolver = {
  /** Empty if there is no address, on a timeout, and after the maximum number of names. */
  addressesOf(host: string): Promise<readonly string[]>;
};

type ResolveOptions = {
  /** All addresses of a host name; throws if there are none. */
  resolve: (host: string) => Promise<string[]>;
  nowMs: () => number;
  sleep: (ms: number) => Promise<unknown>;
  perSecond?: number;
  /** Distinct host names per import. */
  maxNames?: number;
};

/** A light load for the DNS server of a small network. */
const PER_SECOND = 50;
/** Takes a little over three minutes at that rate. */
const NAMES_MAX = 10_000;
const TIMEOUT_MS = 3_000;

/** The current address of a host says nothing about its past: older observations are not resolved. */
const RECENT_SECONDS = 86_400;

/** Wraps a format: adds the addresses of host names to recent online observations without an address. */
export function resolvingFormat(format: Format, resolver: HostResolver): Format {
  return {
    ...format,
    async *read(source, limits, options) {
      for await (const items of format.read(source, limits, options)) {
        yield await Promise.all(items.map((item) => resolved(item, resolver, options.nowTs)));
      }
    },
  };
}

async function resolved(item: Item, resolver: HostResolver, nowTs: number): Promise<Item> {
  if (item.kind !== 'observations') return item;
  const inputs = item.inputs.map(async (input) => {
    const host = unresolvedHost(input, nowTs);
    const ip = host === null ? [] : await resolver.addressesOf(host);
    return ip.length === 0 ? input : { ...input, ip };
  });
  return { ...item, inputs: await Promise.all(inputs) };
}

function unresolvedHost(input: ObservationInput, nowTs: number): string | null {
  const { status = 'online', ts, ip, asn } = input;
  if (status !== 'online' || ip !== undefined || asn !== undefined || ts < nowTs - RECENT_SECONDS) return null;
  const url = normalizeUrl(input.url);
  return url.ok && url.ip === null ? url.host : null;
}

/** Looks up each name once, at a constant rate. */
export function createHostResolver(options: ResolveOptions): HostResolver {
  const { resolve, nowMs, sleep, perSecond = PER_SECOND, maxNames = NAMES_MAX } = options;
  const lookups = new Map<string, Promise<readonly string[]>>();
  let nextMs = 0;

  async function lookUp(host: string): Promise<readonly string[]> {
    const startMs = Math.max(nowMs(), nextMs);
    nextMs = startMs + 1000 / perSecond;
    await sleep(startMs - nowMs());
    const addresses = await resolve(host).catch(() => []);
    return addresses.filter(isPublic);
  }

  return {
    addressesOf(host) {
      const cached = lookups.get(host);
      if (cached !== undefined) return cached;
      if (lookups.size >= maxNames) return Promise.resolve([]);
      const addresses = lookUp(host);
      lookups.set(host, addresses);
      return addresses;
    },
  };
}

/** Private addresses come from internal DNS, which must not leak, or from sinkholes, which carry no information. */
function isPublic(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && refusedKind(ip, []) === null;
}

/** Uses the DNS servers of this machine. Not `dns.lookup`: it occupies a thread that file access needs too. */
export function createDnsResolver(): HostResolver {
  const dns = new DnsResolver({ timeout: TIMEOUT_MS, tries: 1 });
  const resolve = async (host: string) => {
    const results = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  };
  return createHostResolver({ resolve, nowMs: () => performance.now(), sleep: wait });
}
