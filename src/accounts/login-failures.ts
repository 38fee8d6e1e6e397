import { createExpiringMap } from '../core/expiring-map.ts';
import { formatIp, isIpv4, parseIp } from '../core/ip/address.ts';

/** `burst` failures without a pause, then one more per interval. */
export type FailureLimit = { burst: number; intervalMs: number };

/** Where a login comes from. */
export type Origin = {
  address: string;
  /** A digest of username and address. */
  pair: string;
  /** Whether this pair has logged in within the last 30 days. */
  isKnown: boolean;
};

/** Counts failed logins, in this process or (`login-shared.ts`) over all nodes. */
export type LoginFailures = {
  /** How long the origin must wait before its next attempt; 0 when it may try. */
  waitMs(origin: Origin, nowMs: number): number | Promise<number>;
  count(origin: Origin, nowMs: number): void | Promise<void>;
  /**
   * Clears the failures of the pair after a successful login. Those of the address stay: otherwise an attacker with
   * one account could reset the limit while guessing the passwords of others.
   */
  clearPair(origin: Origin): void | Promise<void>;
};

/**
 * Enough for a person who tries a few passwords; an attacker gets 60 guesses an hour. Usernames are limited only
 * together with the address: an attacker at another address must not be able to lock a customer out.
 */
export const PER_PAIR: FailureLimit = { burst: 10, intervalMs: 60_000 };

/**
 * An office behind one address shares this limit. A flood from fifty addresses reaches it after 1,000 hashes, 46 s on
 * two cores; from then on it has 100 attempts a minute in total.
 */
export const PER_ADDRESS: FailureLimit = { burst: 20, intervalMs: 30_000 };

/**
 * Only verified passwords count, and a hash takes 46 ms: 13,000 entries in ten minutes per concurrent hash. So this is
 * enough for seven concurrent hashes; with more, the oldest entries are evicted too early.
 */
const MAX_ENTRIES = 100_000;

export function createLoginFailures() {
  const pairs = createBuckets(PER_PAIR);
  const addresses = createBuckets(PER_ADDRESS);
  return {
    // A known pair waits for its own failures only: others at its address must not lock it out.
    waitMs: ({ pair, address, isKnown }: Origin, nowMs: number): number =>
      Math.max(pairs.waitMs(pair, nowMs), isKnown ? 0 : addresses.waitMs(address, nowMs)),
    count({ pair, address }: Origin, nowMs: number): void {
      pairs.add(pair, nowMs);
      addresses.add(address, nowMs);
    },
    clearPair: ({ pair }: Origin): void => pairs.clear(pair),
  } satisfies LoginFailures;
}

/** Leaky buckets. Each is one number, the time at which it will be empty (generic cell rate algorithm). */
function createBuckets({ burst, intervalMs }: FailureLimit) {
  const emptyAt = createExpiringMap<number>({ maxEntries: MAX_ENTRIES, lifeMs: burst * intervalMs });
  const levelMs = (key: string, nowMs: number) => Math.max(0, (emptyAt.get(key, nowMs) ?? nowMs) - nowMs);
  return {
    waitMs: (key: string, nowMs: number) => Math.max(0, levelMs(key, nowMs) - (burst - 1) * intervalMs),
    add: (key: string, nowMs: number) => emptyAt.set(key, nowMs + levelMs(key, nowMs) + intervalMs, nowMs),
    clear: (key: string) => emptyAt.delete(key),
  };
}

const NETWORK_BYTES = 8;
/** Texts that are not addresses share one key, so that invented ones do not bypass the limits. */
const NO_ADDRESS = 'none';

/**
 * The key under which failures of an address are counted. IPv6 counts by /64, because a customer can change addresses
 * within it: 2001:db8::1 becomes `2001:db8::`. IPv4 counts by address, also in the form ::ffff:192.0.2.1.
 */
export function addressKey(address: string): string {
  const [withoutZone = ''] = address.split('%');
  const key = parseIp(withoutZone);
  if (key === null) return NO_ADDRESS;
  return formatIp(isIpv4(key) ? key : key.fill(0, NETWORK_BYTES));
}
