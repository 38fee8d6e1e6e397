import { SET_BACK_SECONDS_MAX } from './count-cells.ts';

// Each operation is one script over one key per account, so it is atomic and takes one round trip. TAKE needs 15 µs in
// Redis; with a hash instead of a string it needed a quarter more.
//
// The value is seven numbers: the newest second with counts, the counts of its second, minute and hour, then the newest
// day, its count and the count of its month. If the key is missing, the counts are unknown, not zero.

/** A state in replies, besides admitted (1) and not admitted (0). */
export const KEY_MISSING = -1;

/** Longer than any month, so that no month loses its count. Counts of an expired key are read from the store. */
export const KEY_LIFE_SECONDS = 32 * 86_400;
/** Calls are counted in their second only. */
const CALLS_LIFE_SECONDS = 60;

const COMMON = `
-- The clock of Redis, which all nodes share. Only tests pass a second.
local function now(given)
  if given ~= '' then return tonumber(given) end
  return tonumber(redis.call('TIME')[1])
end

-- Days since 1970 to months since 1970, as in core/quota.ts; the algorithm is Howard Hinnant's civil_from_days.
local function month_of(day)
  local shifted = day + 719468
  local era = math.floor(shifted / 146097)
  local doe = shifted - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local since_march = math.floor((5 * doy + 2) / 153)
  return (yoe + era * 400 - 1970) * 12 + since_march + 2
end

local NUMBERS = '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$'

-- A day in the future is that of a clock that was ahead: the counts of today are in the store only.
local function load(key, now)
  local value = redis.call('GET', key)
  if not value then return nil end
  local ts, second, minute, hour, dayIndex, day, month = value:match(NUMBERS)
  if now and dayIndex + 0 > math.floor((now + ${SET_BACK_SECONDS_MAX}) / 86400) then return nil end
  return { ts = ts + 0, second = second + 0, minute = minute + 0, hour = hour + 0,
    dayIndex = dayIndex + 0, day = day + 0, month = month + 0 }
end

local function save(key, c)
  local value = string.format('%d %d %d %d %d %d %d', c.ts, c.second, c.minute, c.hour, c.dayIndex, c.day, c.month)
  if c.isNewDay then redis.call('SET', key, value, 'EX', ${KEY_LIFE_SECONDS})
  else redis.call('SET', key, value, 'KEEPTTL') end
end

-- Resets the windows that have ended, as in count-cells.ts.
local function roll_day(c, dayIndex)
  if dayIndex <= c.dayIndex then return end
  if month_of(dayIndex) > month_of(c.dayIndex) then c.month = 0 end
  c.dayIndex, c.day, c.isNewDay = dayIndex, 0, true
end

local function roll(c, ts)
  roll_day(c, math.floor(ts / 86400))
  if ts <= c.ts and ts >= c.ts - ${SET_BACK_SECONDS_MAX} then return end
  c.second = 0
  if math.floor(ts / 60) ~= math.floor(c.ts / 60) then c.minute = 0 end
  if math.floor(ts / 3600) ~= math.floor(c.ts / 3600) then c.hour = 0 end
  c.ts = ts
end

local function reply(state, ts, c)
  return { state, ts, c.second, c.minute, c.hour, c.day, c.month }
end

local function key_missing(ts)
  return { ${KEY_MISSING}, ts, 0, 0, 0, 0, 0 }
end
`;

/** Arguments: second or '', weight, and the limits of second, minute, hour, day and month; '' means no limit. */
export const TAKE = `${COMMON}
local ts, weight = now(ARGV[1]), tonumber(ARGV[2])
local c = load(KEYS[1], ts)
if not c then return key_missing(ts) end
roll(c, ts)
local function is_full(count, limit) return limit ~= '' and count >= limit + 0 end
if is_full(c.second, ARGV[3]) or is_full(c.minute, ARGV[4]) or is_full(c.hour, ARGV[5])
  or is_full(c.day, ARGV[6]) or is_full(c.month, ARGV[7]) then return reply(0, ts, c) end
c.second, c.minute, c.hour = c.second + weight, c.minute + weight, c.hour + weight
c.day, c.month = c.day + weight, c.month + weight
save(KEYS[1], c)
return reply(1, ts, c)
`;

/** Arguments: second or ''. */
export const READ = `${COMMON}
local ts = now(ARGV[1])
local c = load(KEYS[1], ts)
if not c then return key_missing(ts) end
roll(c, ts)
return reply(1, ts, c)
`;

/**
 * Raises the counts of a day and its month to at least those of the store. Never lowers them, so it can be repeated.
 * Arguments: second or '', index of the day, count of the day, count of the month.
 */
export const RAISE = `${COMMON}
local ts, dayIndex = now(ARGV[1]), tonumber(ARGV[2])
local c = load(KEYS[1], ts)
if not c then
  c = { ts = ts, second = 0, minute = 0, hour = 0, dayIndex = dayIndex, day = 0, month = 0, isNewDay = true }
end
roll_day(c, dayIndex)
if c.dayIndex == dayIndex then c.day = math.max(c.day, tonumber(ARGV[3])) end
if month_of(c.dayIndex) == month_of(dayIndex) then c.month = math.max(c.month, tonumber(ARGV[4])) end
save(KEYS[1], c)
return 1
`;

/** Arguments: index of the day of the query, weight. */
export const REFUND = `${COMMON}
local dayIndex, weight = tonumber(ARGV[1]), tonumber(ARGV[2])
local c = load(KEYS[1])
if not c then return 0 end
if c.dayIndex == dayIndex then c.day = math.max(0, c.day - weight) end
if month_of(c.dayIndex) == month_of(dayIndex) then c.month = math.max(0, c.month - weight) end
save(KEYS[1], c)
return 1
`;

export const DELETE = `return redis.call('DEL', KEYS[1])`;

/** Arguments: second or '', limit. */
export const TAKE_CALL = `${COMMON}
local ts, limit = now(ARGV[1]), tonumber(ARGV[2])
local values = redis.call('HMGET', KEYS[1], 'ts', 'count')
local last, count = tonumber(values[1] or ts), tonumber(values[2] or 0)
if ts > last or ts < last - ${SET_BACK_SECONDS_MAX} then last, count = ts, 0 end
if count >= limit then return { 0, ts, count } end
redis.call('HSET', KEYS[1], 'ts', last, 'count', count + 1)
redis.call('EXPIRE', KEYS[1], ${CALLS_LIFE_SECONDS})
return { 1, ts, count + 1 }
`;
