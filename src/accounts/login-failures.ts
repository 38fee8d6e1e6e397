import { formatIp, isIpv4, parseIp } from '../core/ip/address.ts';
import { createExpiringMap } from './expiring-map.ts';

/** So many at once, then one more each interval. */
export type Allowance = { burst: number; intervalMs: number };

/** Where a login comes from. */
export type Origin = {
  address: string;
  /** Of username and address. */
  pair: string;
  /** Whether this pair has logged in lately. */
  isKnown: boolean;
};

/** Failed logins, as this process or as all nodes together remember them. */
export type LoginFailures = {
  /** How long the origin must wait before it may try again; 0 when it may. */
  waitMs(origin: Origin, nowMs: number): number | Promise<number>;
  count(origin: Origin, nowMs: number): void | Promise<void>;
  /** After a good login: the typing errors before it are forgotten. Those of the address stay, or one good account would buy guesses at others. */
  forgive(origin: Origin): void | Promise<void>;
};

/**
 * A person who has forgotten a password tries a handful of times; a guesser gets 60 an hour. Counted only together with
 * the address, because whoever is elsewhere must not be able to lock a customer out.
 */
export const PER_PAIR: Allowance = { burst: 10, intervalMs: 60_000 };

/**
 * An office behind one address shares this. A flood from fifty addresses has used it up after 1,000 hashes, 46 s on two
 * cores; then it is left with 100 tries a minute in all.
 */
export const PER_ADDRESS: Allowance = { burst: 20, intervalMs: 30_000 };

/**
 * Only passwords that were judged count, and a hash takes 46 ms: 13,000 in ten minutes for each hash that runs at a
 * time. So this is enough for seven at a time; beyond that, the oldest are forgotten too early.
 */
const MAX_ENTRIES = 100_000;

export function createLoginFailures() {
  const pairs = createBuckets(PER_PAIR);
  const addresses = createBuckets(PER_ADDRESS);
  return {
    // Someone else at the address of a known pair must not keep it out, so only its own failures hold it up.
    waitMs: ({ pair, address, isKnown }: Origin, nowMs: number): number =>
      Math.max(pairs.waitMs(pair, nowMs), isKnown ? 0 : addresses.waitMs(address, nowMs)),
    count({ pair, address }: Origin, nowMs: number): void {
      pairs.take(pair, nowMs);
      addresses.take(address, nowMs);
    },
    forgive: ({ pair }: Origin): void => pairs.clear(pair),
  } satisfies LoginFailures;
}

/** Leaky buckets, each as one number: the time at which it will be empty (the generic cell rate algorithm). */
function createBuckets({ burst, intervalMs }: Allowance) {
  const emptyAt = createExpiringMap<number>({ maxEntries: MAX_ENTRIES, lifeMs: burst * intervalMs });
  const levelMs = (key: string, nowMs: number) => Math.max(0, (emptyAt.get(key, nowMs) ?? nowMs) - nowMs);
  return {
    waitMs: (key: string, nowMs: number) => Math.max(0, levelMs(key, nowMs) - (burst - 1) * intervalMs),
    take: (key: string, nowMs: number) => emptyAt.set(key, nowMs + levelMs(key, nowMs) + intervalMs, nowMs),
    clear: (key: string) => emptyAt.delete(key),
  };
}

const NETWORK_BYTES = 8;
/** Whatever has no address shares one, so that an invented text is no way around the limits. */
const NO_ADDRESS = 'none';

/**
 * What failed logins are counted by. An IPv6 customer has a /64 and changes addresses within it at will, so the network
 * counts: 2001:db8::1 is `2001:db8::`. IPv4 counts by address, also when written as ::ffff:192.0.2.1.
 */
export function addressKey(address: string): string {
  const [withoutZone = ''] = address.split('%');
  const key = parseIp(withoutZone);
  if (key === null) return NO_ADDRESS;
  return formatIp(isIpv4(key) ? key : key.fill(0, NETWORK_BYTES));
}
