import type { FastifyBaseLogger } from 'fastify';
import type { RedisAddress } from '../core/redis-address.ts';
import type { WhenDown } from '../limits/counters-redis.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RedisLink } from '../redis/link.ts';

export const standIn = (whenDown: WhenDown) => (whenDown === 'local' ? 'local' : 'refused');

/** Loaded where it is wanted: a server on its own starts without the driver. */
export async function openRedis(address: RedisAddress, prefix: string): Promise<RedisLink> {
  const { openRedisLink } = await import('../redis/link.ts');
  return openRedisLink(address, { prefix });
}

type RedisParts = { log: FastifyBaseLogger; metrics: Metrics | undefined; whenDown: WhenDown };

/** Once when it goes and once when it comes back, however many queries meet it. */
export function watchRedis(redis: RedisLink, { log, metrics, whenDown }: RedisParts): void {
  metrics?.watchRedis(redis.isUp);
  const meanwhile = whenDown === 'local' ? 'this server goes by its own counts' : 'queries are refused';
  redis.watch({
    onDown: (reason) => log.warn({ reason }, `Redis is away; ${meanwhile} until it is back`),
    onUp: () => log.info('Redis is back'),
  });
}
