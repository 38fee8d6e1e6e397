import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { paths } from '../../../src/core/paths.ts';
import { TAKE } from '../../../src/limits/redis-scripts.ts';
import { LAST } from '../../../src/urls/postgres/lookup.ts';
import { type LastRow, toLast } from '../../../src/urls/rows.ts';
import { UrlLastResponse, UrlRequest } from '../../../src/urls/schemas.ts';
import type { UrlLast } from '../../../src/urls/store.ts';
import { SHOWN_STATUS } from '../../../src/urls/timeline.ts';
import { urlKey } from '../../../src/urls/url-group.ts';
import { toWireEvent, toWirePayload } from '../../../src/urls/wire.ts';

// One route with the minimum of work: one call of the same script, then the same statement, with the same drivers. It
// runs in its own process.

export type ScaledYardstickOptions = { databaseUrl: string; redisUrl: string; connections: number };

const KEY = 'yardstick';
/** Set before the first call, so that the script finds its key: see limits/redis-scripts.ts. */
const INITIAL_COUNTS = '1 0 0 0 1 0 0';
const UNLIMITED = ['', '', '', '', ''];

async function listen({ databaseUrl, redisUrl, connections }: ScaledYardstickOptions): Promise<string> {
  const types = { bigint: { to: 20, from: [20], serialize: String, parse: Number } };
  const sql = postgres(databaseUrl, { max: connections, fetch_types: false, types });
  const redis = new Redis(redisUrl) as Redis & { take(key: string, ...args: string[]): Promise<unknown> };
  redis.defineCommand('take', { numberOfKeys: 1, lua: TAKE });
  await redis.set(KEY, INITIAL_COUNTS);
  const app = fastify();
  const schema = { body: UrlRequest, response: { 200: UrlLastResponse } };
  app.post<{ Body: UrlRequest }>(paths.urlLast, { schema }, async ({ body }) => {
    await redis.take(KEY, '', '1', ...UNLIMITED);
    const rows = await sql.unsafe(LAST, [urlKey(body.url)], { prepare: true }).values();
    return presentLast(toLast(rows[0] as LastRow));
  });
  return app.listen({ host: '127.0.0.1', port: 0 });
}

function presentLast({ id, url, event, payload }: UrlLast): UrlLastResponse {
  return {
    id,
    url,
    status: event && { ...toWireEvent(event), status: SHOWN_STATUS[event.kind] },
    payload: payload && toWirePayload(payload),
  };
}

process.once('message', async (options: ScaledYardstickOptions) => {
  process.send?.(await listen(options));
});
