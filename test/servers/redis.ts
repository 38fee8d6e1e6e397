import { Redis } from 'ioredis';
import { needs } from '../needs.ts';
import { freePort, startChild, untilReady } from './child.ts';

export type RedisServer = {
  url: string;
  port: number;
  pid: number;
  /** Ends it; nothing that it held is kept. */
  stop(signal?: NodeJS.Signals): Promise<void>;
};

/** A Redis of its own that keeps everything in memory; `args` go to the server as they are. */
export async function startRedis(options: { port?: number; args?: readonly string[] } = {}): Promise<RedisServer> {
  needs('redis-server');
  const { port = await freePort(), args = [] } = options;
  const child = startChild('redis-server', [
    ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'],
    ...args,
  ]);
  await untilReady('redis-server', child, () => answers(port));
  return { url: `redis://127.0.0.1:${port}`, port, pid: child.pid, stop: (signal = 'SIGTERM') => child.end(signal) };
}

/** One that asks for a password is there too. */
async function answers(port: number): Promise<boolean> {
  const asItIs = { protocol: 2, enableReadyCheck: false, disableClientInfo: true } as const;
  const redis = new Redis({ port, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0, ...asItIs });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch (error) {
    return String(error).includes('NOAUTH');
  } finally {
    redis.disconnect();
  }
}
