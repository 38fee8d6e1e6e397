import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { logIn, operatorOf, passwordFile, type ServerProcess, startServer } from '../../shared/server-process.ts';
import type { YardstickOptions } from './yardstick-server.ts';

/** The program with its usual settings, including metrics, and the token of its operator. */
export type Urlwarden = ServerProcess & { authorization: string };

type Yardstick = { url: string; child: ChildProcess; stop(): Promise<void> };

/** Our server in a process that reports its event-loop delay: p99.9 since the previous call of `delayMs`. */
export type MonitoredServer = {
  url: string;
  child: ChildProcess;
  authorization: string;
  delayMs(): Promise<number>;
  stop(): Promise<void>;
};

/** The flags of `bin/urlwarden.js`. */
const NODE_ARGS = ['--max-semi-space-size=8'];

const MONITORED = fileURLToPath(new URL('../../shared/stream-server.ts', import.meta.url));
const YARDSTICK = fileURLToPath(new URL('./yardstick-server.ts', import.meta.url));

export async function startUrlwarden(
  dataDir: string,
  nodeArgs: string[] = [],
  args: string[] = [],
): Promise<Urlwarden> {
  const server = await startServer(dataDir, { metricsPort: 0, nodeArgs, args });
  if (!existsSync(passwordFile(dataDir))) throw new Error(`${dataDir} has accounts, but no operator password`);
  return { ...server, authorization: await logIn(server.url, operatorOf(dataDir)) };
}

export async function startMonitored(dataDir: string): Promise<MonitoredServer> {
  await (await startUrlwarden(dataDir)).stop(); // the first start creates the account
  const child = fork(MONITORED, [dataDir], { execArgv: NODE_ARGS });
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

/** A server with a constant response, on the same Node with the same flags. */
export function startYardstick(options: YardstickOptions): Promise<Yardstick> {
  return startYardstickProcess(YARDSTICK, options);
}

/** The process receives its options in the first message and replies with its URL. */
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
