import type { FastifyBaseLogger } from 'fastify';
import { createLoginDeletion } from '../accounts/login-shared.ts';
import type { Account } from '../accounts/store.ts';
import type { RedisAddress } from '../config/redis-url.ts';
import { createCounterDeletion, type WhenDown } from '../limits/counters-redis.ts';
import type { RedisLink } from '../redis/link.ts';
import type { ProcessState } from './process-state.ts';

/** Loaded on demand: a single server starts without the driver. */
export async function openRedis(address: RedisAddress, prefix: string): Promise<RedisLink> {
  const { openRedisLink } = await import('../redis/link.ts');
  return openRedisLink(address, { prefix });
}

type RedisParts = { thread: number; state: ProcessState; log: FastifyBaseLogger; whenDown: WhenDown };

/** Logs once when Redis goes down and once when it is up again, not for each query and each thread. */
export function watchRedis(redis: RedisLink, { thread, state, log, whenDown }: RedisParts): void {
  const meanwhile = whenDown === 'local' ? 'this server counts alone' : 'queries are refused';
  redis.watch({
    onDown(reason) {
      const wasUp = state.isRedisUp();
      state.setRedisUp(thread, false);
      if (wasUp) log.warn({ reason }, `Redis is down; ${meanwhile} until it is back`);
    },
    onExplained(reason) {
      if (thread === 0) log.warn({ reason }, 'there is no connection to Redis');
    },
    onUp() {
      state.setRedisUp(thread, true);
      if (state.isRedisUp()) log.warn('Redis is back');
    },
  });
}

/** Deletes what Redis has about an account. False if it did not answer. */
export function createAccountDeletion(redis: RedisLink) {
  const deleteCounters = createCounterDeletion(redis);
  const deleteLogins = createLoginDeletion(redis);
  return async ({ sub, usernameKey }: Pick<Account, 'sub' | 'usernameKey'>): Promise<boolean> => {
    const deleted = await Promise.all([deleteCounters(sub), deleteLogins(usernameKey)]);
    return deleted.every(Boolean);
  };
}

type KeyDeletion = { isDeleted: true } | { isDeleted: false; reason: string };

/** The same for a command, which has no connection yet. */
export async function deleteAccountKeys(
  address: RedisAddress,
  prefix: string,
  account: Pick<Account, 'sub' | 'usernameKey'>,
): Promise<KeyDeletion> {
  const redis = await openRedis(address, prefix);
  try {
    let reason = 'no connection';
    redis.watch({
      onDown(cause) {
        reason = cause;
      },
    });
    return (await createAccountDeletion(redis)(account)) ? { isDeleted: true } : { isDeleted: false, reason };
  } finally {
    await redis.close();
  }
}
