import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Control } from '../../src/app/stores.ts';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { openRedisLink, type RedisLink, type RedisLinkOptions } from '../../src/redis/link.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { type ProcessCounters, type RedisOptions, redisCounters } from './process-counters.ts';

/** A prefix that no other test uses. */
export const temporaryPrefix = (): string => `urlwarden-test-${randomUUID()}`;

/** A connection of one node, closed after the test. Default: to the Redis server of this test run. */
export async function temporaryLink(
  t: TestContext,
  { url = redisServerUrl(), ...options }: Partial<RedisLinkOptions> & { url?: string } = {},
): Promise<RedisLink> {
  const address = parseRedisUrl(url);
  if (address === null) throw new Error(`${url} is not a Redis URL`);
  const link = await openRedisLink(address, { prefix: temporaryPrefix(), ...options });
  t.after(() => link.close());
  return link;
}

/** Fails after 30 s: Redis is probed every second. */
export const untilUp = (link: RedisLink): Promise<void> => untilState(link, true);
export const untilDown = (link: RedisLink): Promise<void> => untilState(link, false);

async function untilState(link: RedisLink, isUp: boolean): Promise<void> {
  for (const givesUpMs = performance.now() + 30_000; link.isUp() !== isUp; ) {
    assert.ok(performance.now() < givesUpMs, isUp ? 'Redis did not come back' : 'the link did not notice it');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** ProcessCounters on the Redis server of this test run, with a unique prefix. The caller closes them. */
export async function temporaryRedisCounters(
  t: TestContext,
  control: Control,
  options: Partial<RedisOptions> = {},
): Promise<ProcessCounters> {
  return redisCounters(await temporaryLink(t), control, { whenDown: 'refuse', ...options });
}
