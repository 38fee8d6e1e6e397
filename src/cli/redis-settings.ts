import { type SettingValues, variableOf } from '../config/read-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import { readCommandSettings, settingArgs } from './settings.ts';
import type { Flags } from './usage.ts';

const { redis, redisPrefix } = SETTINGS;
const TABLE = { redis, redisPrefix };

/** For commands that change what the servers have in Redis. */
export const REDIS_FLAGS = {
  'redis-url': {
    argument: 'URL',
    meaning: `the Redis of the servers. Prefer the variable ${variableOf(redis.flag)}: other users of this machine can read flags`,
  },
  'redis-prefix': {
    argument: redisPrefix.argument,
    meaning: `${redisPrefix.meaning} (default ${redisPrefix.fallback})`,
  },
} as const satisfies Flags;

export function readRedisSettings(flags: Readonly<Record<string, unknown>>): SettingValues<typeof TABLE> {
  return readCommandSettings(TABLE, settingArgs(TABLE, flags));
}
