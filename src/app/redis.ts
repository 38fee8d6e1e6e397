import type { FastifyBaseLogger } from 'fastify';
import type { RedisAddress } from '../config/redis-url.ts';
import type { WhenDown } from '../limits/counters-redis.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RedisLink } from '../redis/link.ts';

export const limitsWithoutRedis = (whenDown: WhenDown) => (whenDown === 'local' ? 'local' : 'refused');

/** Loaded on demand: a single server starts without the driver. */
export async function openRedis(address: RedisAddress, prefix: string): Promise<RedisLink> {
  const { openRedisLink } = await import('../redis/link.ts');
  return openRedisLink(address, { prefix });
}

type RedisParts = { log: FastifyBaseLogger; metrics: Metrics | undefined; whenDown: WhenDown };

/** Logs once when Redis goes down and once when it is up again, not for each query. */
export function watchRedis(redis: RedisLink, { log, metrics, whenDown }: RedisParts): void {
  metrics?.watchRedis(redis.isUp);
  const meanwhile = whenDown === 'local' ? 'this server counts alone' : 'queries are refused';
  redis.watch({
    onDown: (reason) => log.warn({ reason }, `Redis is down; ${meanwhile} until it is back`),
    onUp: () => log.warn('Redis is back'),
  });
}
