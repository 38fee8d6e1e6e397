import { hash } from 'node:crypto';
import type { RedisLink } from '../redis/link.ts';
import { createLoginFailures, type FailureLimit, type LoginFailures, PER_ADDRESS, PER_PAIR } from './login-failures.ts';
import { createLoginPenalty, delayMs, type LoginPenalty, MAX_LOGINS, WINDOW_MS } from './login-penalty.ts';

// Failed logins and logins of all nodes, counted in Redis by the clock of Redis; only tests pass a time. Each node also
// counts its own in memory and uses these counts while Redis is down.

const NOW = `
local function now_ms(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** A bucket as in `login-failures.ts`. Arguments: time or '', burst, interval. */
const BUCKET_WAIT = `${NOW}
local now, burst, interval = now_ms(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local level = math.max(0, tonumber(redis.call('GET', KEYS[1]) or now) - now)
return math.max(0, level - (burst - 1) * interval)
`;

const BUCKET_ADD = `${NOW}
local now, burst, interval = now_ms(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local level = math.max(0, tonumber(redis.call('GET', KEYS[1]) or now) - now)
redis.call('SET', KEYS[1], string.format('%d', now + level + interval), 'PX', burst * interval)
return 1
`;

const CLEAR = `return redis.call('DEL', KEYS[1])`;

/** The times of an account's logins, oldest first. Arguments: time or '', window, maximum, 1 to count one more login. */
const LOGINS = `${NOW}
local now, window, max = now_ms(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or now)
while now - oldest >= window do
  redis.call('LPOP', KEYS[1])
  oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or now)
end
local count = redis.call('LLEN', KEYS[1])
if count >= max then return { oldest + window - now, count } end
if ARGV[4] == '1' then
  redis.call('RPUSH', KEYS[1], string.format('%d', now))
  redis.call('PEXPIRE', KEYS[1], window)
end
return { 0, count }
`;

type Options = { isTestClock?: boolean };

export function createSharedLoginFailures(link: RedisLink, { isTestClock = false }: Options = {}): LoginFailures {
  const local = createLoginFailures();
  const scripts = {
    wait: link.script<number>(BUCKET_WAIT),
    add: link.script<number>(BUCKET_ADD),
    clear: link.script<number>(CLEAR),
  };
  const time = (nowMs: number) => (isTestClock ? nowMs : '');
  const pairKey = (pair: string) => link.key(pair, 'failed-pair');
  const addressKey = (address: string) => link.key(address, 'failed-address');
  const bucket = ({ burst, intervalMs }: FailureLimit) => [burst, intervalMs] as const;

  return {
    /** Two commands sent together: in a Cluster the keys are in different slots. */
    async waitMs(origin, nowMs) {
      const [pairMs, addressMs] = await Promise.all([
        scripts.wait(pairKey(origin.pair), time(nowMs), ...bucket(PER_PAIR)),
        scripts.wait(addressKey(origin.address), time(nowMs), ...bucket(PER_ADDRESS)),
      ]);
      if (pairMs === null || addressMs === null) return local.waitMs(origin, nowMs);
      return Math.max(pairMs, origin.isKnown ? 0 : addressMs);
    },
    async count(origin, nowMs) {
      local.count(origin, nowMs);
      await Promise.all([
        scripts.add(pairKey(origin.pair), time(nowMs), ...bucket(PER_PAIR)),
        scripts.add(addressKey(origin.address), time(nowMs), ...bucket(PER_ADDRESS)),
      ]);
    },
    async clearPair(origin) {
      local.clearPair(origin);
      await scripts.clear(pairKey(origin.pair));
    },
  };
}

export function createSharedLoginPenalty(link: RedisLink, { isTestClock = false }: Options = {}): LoginPenalty {
  const local = createLoginPenalty();
  const logins = link.script<[refusedMs: number, before: number]>(LOGINS);
  const run = (account: string, nowMs: number, counts: 0 | 1) =>
    logins(keyOf(link, account), isTestClock ? nowMs : '', WINDOW_MS, MAX_LOGINS, counts);

  return {
    async refusedMs(account, nowMs) {
      const reply = await run(account, nowMs, 0);
      return reply === null ? local.refusedMs(account, nowMs) : reply[0];
    },
    async take(account, nowMs) {
      const localDecision = local.take(account, nowMs);
      const reply = await run(account, nowMs, 1);
      if (reply === null) return localDecision;
      const [refusedMs, before] = reply;
      return { refusedMs, delayMs: refusedMs > 0 ? 0 : delayMs(before) };
    },
  };
}

/** Deletes the counted logins of an account. False if Redis did not answer: they may still be there. */
export function createLoginDeletion(link: RedisLink): (usernameKey: string) => Promise<boolean> {
  const remove = link.script<number>(CLEAR);
  return async (usernameKey) => (await remove(keyOf(link, usernameKey))) !== null;
}

/** A digest, because a username may be long and must not be readable in Redis. */
function keyOf(link: RedisLink, account: string): string {
  return link.key(hash('sha256', account, 'base64url'), 'logins');
}
