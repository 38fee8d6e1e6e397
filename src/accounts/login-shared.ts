import { hash } from 'node:crypto';
import type { RedisLink } from '../redis/link.ts';
import { type Allowance, createLoginFailures, type LoginFailures, PER_ADDRESS, PER_PAIR } from './login-failures.ts';
import { createLoginPenalty, delayMs, type LoginPenalty, MAX_LOGINS, WINDOW_MS } from './login-penalty.ts';

// What all nodes remember of logins together, in Redis and by its clock; only tests give a time of their own. The same
// is remembered on this node too, which goes by that while Redis is away.

const NOW = `
local function now_ms(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** Of a bucket as in `login-failures.ts`. Arguments: time or '', burst, interval. */
const BUCKET_WAIT = `${NOW}
local now, burst, interval = now_ms(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local level = math.max(0, tonumber(redis.call('GET', KEYS[1]) or now) - now)
return math.max(0, level - (burst - 1) * interval)
`;

const BUCKET_TAKE = `${NOW}
local now, burst, interval = now_ms(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local level = math.max(0, tonumber(redis.call('GET', KEYS[1]) or now) - now)
redis.call('SET', KEYS[1], string.format('%d', now + level + interval), 'PX', burst * interval)
return 1
`;

const CLEAR = `return redis.call('DEL', KEYS[1])`;

/** The times of an account's logins, oldest first. Arguments: time or '', window, most logins, 1 to count one more. */
const LOGINS = `${NOW}
local now, window, most = now_ms(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or now)
while now - oldest >= window do
  redis.call('LPOP', KEYS[1])
  oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or now)
end
local count = redis.call('LLEN', KEYS[1])
if count >= most then return { oldest + window - now, count } end
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
    take: link.script<number>(BUCKET_TAKE),
    clear: link.script<number>(CLEAR),
  };
  const time = (nowMs: number) => (isTestClock ? nowMs : '');
  const pairKey = (pair: string) => link.key(pair, 'failed-pair');
  const addressKey = (address: string) => link.key(address, 'failed-address');
  const bucket = ({ burst, intervalMs }: Allowance) => [burst, intervalMs] as const;

  return {
    /** Two commands at once: in a Cluster the keys are in different slots. */
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
        scripts.take(pairKey(origin.pair), time(nowMs), ...bucket(PER_PAIR)),
        scripts.take(addressKey(origin.address), time(nowMs), ...bucket(PER_ADDRESS)),
      ]);
    },
    async forgive(origin) {
      local.forgive(origin);
      await scripts.clear(pairKey(origin.pair));
    },
  };
}

export function createSharedLoginPenalty(link: RedisLink, { isTestClock = false }: Options = {}): LoginPenalty {
  const local = createLoginPenalty();
  const logins = link.script<[refusedMs: number, before: number]>(LOGINS);
  const ask = (account: string, nowMs: number, counts: 0 | 1) =>
    logins(keyOf(link, account), isTestClock ? nowMs : '', WINDOW_MS, MAX_LOGINS, counts);

  return {
    async refusedMs(account, nowMs) {
      const reply = await ask(account, nowMs, 0);
      return reply === null ? local.refusedMs(account, nowMs) : reply[0];
    },
    async take(account, nowMs) {
      const here = local.take(account, nowMs);
      const reply = await ask(account, nowMs, 1);
      if (reply === null) return here;
      const [refusedMs, before] = reply;
      return { refusedMs, delayMs: refusedMs > 0 ? 0 : delayMs(before) };
    },
  };
}

/** A digest, since a name may be long and is nobody's business. */
function keyOf(link: RedisLink, account: string): string {
  return link.key(hash('sha256', account, 'base64url'), 'logins');
}
