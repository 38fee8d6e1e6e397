import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { logIn, operatorOf, type ServerProcess, startServer } from '../../soak/server-process.ts';
import type { YardstickOptions } from './yardstick-server.ts';

/** The program as people run it, metrics included, with the token of its operator. */
export type Urlwarden = ServerProcess & { authorization: string };

export type Yardstick = { url: string; child: ChildProcess; stop(): Promise<void> };

const YARDSTICK = fileURLToPath(new URL('./yardstick-server.ts', import.meta.url));

export async function startUrlwarden(dataDir: string, nodeArgs: string[] = []): Promise<Urlwarden> {
  const server = await startServer(dataDir, { metricsPort: 0, nodeArgs });
  if (!existsSync(join(dataDir, 'operator-password'))) throw new Error(`${dataDir} has accounts of somebody else`);
  return { ...server, authorization: await logIn(server.url, operatorOf(dataDir)) };
}

/** A server that does nothing but answer, on the same Node with the same flags. */
export async function startYardstick(options: YardstickOptions): Promise<Yardstick> {
  const child: ChildProcess = fork(YARDSTICK, { execArgv: ['--max-semi-space-size=8'] });
  child.send(options);
  const [url] = await once(child, 'message');
  const stop = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { url, child, stop };
}
