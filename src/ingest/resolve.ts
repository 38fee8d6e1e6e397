import { Resolver as DnsResolver } from 'node:dns/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { parseIp } from '../core/ip/address.ts';
import type { ObservationInput } from '../core/observation.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { refusedKind } from './sources/fetch-guard.ts';
import type { Format, Item } from './sources/format.ts';

/** Finds the addresses of hosts while one import runs. */
export type HostResolver = {
  /** Empty where there are none, where they do not come in time, and where enough has been asked. */
  addressesOf(host: string): Promise<readonly string[]>;
};

export type ResolveOptions = {
  /** Every address of a name, as texts; throws where there is none. */
  resolve: (host: string) => Promise<string[]>;
  nowMs: () => number;
  sleep: (ms: number) => Promise<unknown>;
  perSecond?: number;
  /** Different names in one import. */
  maxNames?: number;
};

/** What a resolver of a small network takes without noticing. */
const PER_SECOND = 50;
/** A little over three minutes at that rate. */
const NAMES_MAX = 10_000;
const TIMEOUT_MS = 3_000;

/** Where a host is now says nothing of where it was: older observations are left alone. */
const RECENT_SECONDS = 86_400;

/** The format, with the addresses of hosts that are names filled in where a row is about now and tells none. */
export function resolvingFormat(format: Format, resolver: HostResolver): Format {
  return {
    ...format,
    async *read(source, limits, times) {
      for await (const items of format.read(source, limits, times)) {
        yield await Promise.all(items.map((item) => resolved(item, resolver, times.nowTs)));
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

/** Each name is asked for once, at a steady rate. */
export function createHostResolver(options: ResolveOptions): HostResolver {
  const { resolve, nowMs, sleep, perSecond = PER_SECOND, maxNames = NAMES_MAX } = options;
  const asked = new Map<string, Promise<readonly string[]>>();
  let nextMs = 0;

  async function ask(host: string): Promise<readonly string[]> {
    const startMs = Math.max(nowMs(), nextMs);
    nextMs = startMs + 1000 / perSecond;
    await sleep(startMs - nowMs());
    const addresses = await resolve(host).catch(() => []);
    return addresses.filter(isPublic);
  }

  return {
    addressesOf(host) {
      const known = asked.get(host);
      if (known !== undefined) return known;
      if (asked.size >= maxNames) return Promise.resolve([]);
      const answer = ask(host);
      asked.set(host, answer);
      return answer;
    },
  };
}

/** What a name server inside says of names inside is nobody else's business; sinkholes of that kind tell nothing. */
function isPublic(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && refusedKind(ip, []) === null;
}

/** By the name servers of this machine. Not by `dns.lookup`, which takes a thread that file access needs too. */
export function createDnsResolver(): HostResolver {
  const dns = new DnsResolver({ timeout: TIMEOUT_MS, tries: 1 });
  const resolve = async (host: string) => {
    const answers = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
  return createHostResolver({ resolve, nowMs: () => performance.now(), sleep: wait });
}
