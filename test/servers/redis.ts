import { Redis } from 'ioredis';
import { needs } from '../needs.ts';
import { freePort, startChild, untilReady } from './child.ts';

export type RedisServer = {
  url: string;
  port: number;
  pid: number;
  /** Stops the server; its data is lost. */
  stop(signal?: NodeJS.Signals): Promise<void>;
};

/** A separate Redis that stores nothing on disk; `args` are passed to the server. */
export async function startRedis(options: { port?: number; args?: readonly string[] } = {}): Promise<RedisServer> {
  needs('redis-server');
  const { port = await freePort(), args = [] } = options;
  const child = startChild('redis-server', [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    '/tmp',
    ...args,
  ]);
  await untilReady('redis-server', child, () => responds(port));
  return { url: `redis://127.0.0.1:${port}`, port, pid: child.pid, stop: (signal = 'SIGTERM') => child.end(signal) };
}

/** A server that requires a password also counts as ready. */
async function responds(port: number): Promise<boolean> {
  const withoutHandshake = { protocol: 2, enableReadyCheck: false, disableClientInfo: true } as const;
  const redis = new Redis({
    port,
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    ...withoutHandshake,
  });
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
