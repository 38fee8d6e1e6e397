import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { logIn, operatorOf, passwordFile, type ServerProcess, startServer } from '../../shared/server-process.ts';
import type { YardstickOptions } from './yardstick-server.ts';

/** The program as people run it, metrics included, with the token of its operator. */
export type Urlwarden = ServerProcess & { authorization: string };

export type Yardstick = { url: string; child: ChildProcess; stop(): Promise<void> };

/** Our server in a process that tells the delay of its event loop, p99.9 since it was asked last. */
export type Watched = {
  url: string;
  child: ChildProcess;
  authorization: string;
  delayMs(): Promise<number>;
  stop(): Promise<void>;
};

/** As `bin/urlwarden.js` is started. */
const NODE_ARGS = ['--max-semi-space-size=8'];

const WATCHED = fileURLToPath(new URL('../../shared/stream-server.ts', import.meta.url));
const YARDSTICK = fileURLToPath(new URL('./yardstick-server.ts', import.meta.url));

export async function startUrlwarden(dataDir: string, nodeArgs: string[] = []): Promise<Urlwarden> {
  const server = await startServer(dataDir, { metricsPort: 0, nodeArgs });
  if (!existsSync(passwordFile(dataDir))) throw new Error(`${dataDir} has accounts of somebody else`);
  return { ...server, authorization: await logIn(server.url, operatorOf(dataDir)) };
}

export async function startWatched(dataDir: string): Promise<Watched> {
  await (await startUrlwarden(dataDir)).stop(); // the first start of all makes the account
  const child = fork(WATCHED, [dataDir], { execArgv: NODE_ARGS });
  const [{ url }] = await once(child, 'message');
  return {
    url,
    child,
    authorization: await logIn(url, operatorOf(dataDir)),
    async delayMs() {
      child.send('delay');
      const [{ delayMs }] = await once(child, 'message');
      return delayMs;
    },
    async stop() {
      child.send('close');
      await once(child, 'exit');
    },
  };
}

/** A server that does nothing but answer, on the same Node with the same flags. */
export function startYardstick(options: YardstickOptions): Promise<Yardstick> {
  return startYardstickProcess(YARDSTICK, options);
}

/** `file` is told its options by the first message, and answers with its URL. */
export async function startYardstickProcess(file: string, options: object): Promise<Yardstick> {
  const child: ChildProcess = fork(file, { execArgv: NODE_ARGS });
  child.send(options);
  const [url] = await once(child, 'message');
  const stop = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { url, child, stop };
}
