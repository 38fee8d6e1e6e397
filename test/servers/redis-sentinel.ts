import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Child, freePort, startChild, untilReady } from './child.ts';
import { type RedisServer, startRedis } from './redis.ts';

export type Sentinels = {
  /** The value for `--redis-url`. */
  url: string;
  primary: RedisServer;
  replica: RedisServer;
  stop(): Promise<void>;
};

const NAME = 'counters';
/** How long a server must be unresponsive before the sentinels promote the other one. */
const DOWN_AFTER_MS = 500;
const QUORUM = 2;

/** A primary, a replica and three sentinels, which store their state in a folder that `stop` removes. */
export async function startSentinels(): Promise<Sentinels> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-sentinels-'));
  // A replica stores the data of its primary in a dump file, and any server that starts in that folder would load it.
  const inFolder = (name: string) => ['--dir', folder, '--dbfilename', `${name}.rdb`];
  const primary = await startRedis({ args: inFolder('primary') });
  const args = [...inFolder('replica'), '--replicaof', '127.0.0.1', String(primary.port)];
  const replica = await startRedis({ args });
  const started: { port: number; child: Child }[] = [];
  for (let i = 0; i < 3; i++) {
    const port = await freePort();
    const file = join(folder, `${port}.conf`);
    writeFileSync(file, config(port, primary.port, folder));
    const child = startChild('redis-server', [file, '--sentinel']);
    started.push({ port, child });
  }
  for (const { port, child } of started) await untilReady('a sentinel', child, () => knowsAll(port));
  return {
    url: `redis+sentinel://${started.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${NAME}`,
    primary,
    replica,
    async stop() {
      for (const { child } of started) await child.end('SIGKILL');
      for (const server of [primary, replica]) await server.stop('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function config(port: number, primaryPort: number, folder: string): string {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 2000`,
    '',
  ].join('\n');
}

/** Whether the sentinel knows both other sentinels and the replica. Before that no failover is possible. */
async function knowsAll(port: number): Promise<boolean> {
  const redis = new Redis({ port, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    const others = (await redis.call('sentinel', 'sentinels', NAME)) as unknown[];
    const replicas = (await redis.call('sentinel', 'replicas', NAME)) as unknown[][];
    return others.length === 2 && replicas.length === 1 && !String(replicas[0]).includes('s_down');
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
