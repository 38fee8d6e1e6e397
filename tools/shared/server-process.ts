import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../../bin/urlwarden.js', import.meta.url));

export type ServerProcess = {
  url: string;
  /** Null when the metrics are off. */
  metricsUrl: string | null;
  child: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

type ServerOptions = {
  /** 0 is a free port. */
  metricsPort?: 'off' | 0;
  args?: string[];
  nodeArgs?: string[];
  /** `pipe`: the caller reads the log from `child.stderr`. */
  log?: 'inherit' | 'pipe';
  /** The entry file of another checkout. */
  program?: string;
};

/** Starts `urlwarden serve` on a free port of the loopback; on one thread, unless `args` say otherwise. */
export async function startServer(dataDir: string, options: ServerOptions = {}): Promise<ServerProcess> {
  const { metricsPort = 'off', args = [], nodeArgs = [], log = 'inherit', program = PROGRAM } = options;
  const all = [
    '--max-semi-space-size=8',
    ...nodeArgs,
    program,
    'serve',
    '--data',
    dataDir,
    '--port',
    '0',
    '--metrics-port',
    `${metricsPort}`,
    ...args,
    ...(args.includes('--threads') ? [] : ['--threads', '1']),
  ];
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', log] });
  const ended = once(child, 'exit');
  let output = '';
  for await (const chunk of child.stdout as Readable) {
    output += chunk;
    const url = /answers on (\S+)\n/.exec(output)?.[1];
    const metrics = /^Metrics: (\S+)\n/m.exec(output)?.[1];
    if (url === undefined || (metricsPort !== 'off' && metrics === undefined)) continue;
    // SIGINT closes at once. SIGTERM waits for --stop-grace-seconds, which the program of another checkout may not have.
    const stop = async (signal: NodeJS.Signals = 'SIGINT') => {
      child.kill(signal);
      await ended;
    };
    return { url, metricsUrl: metrics ?? null, child, stop };
  }
  throw new Error(`the server exited before it listened: ${output}`);
}

export const passwordFile = (dataDir: string): string => join(dataDir, 'operator-password');

/** The account that the first start in an empty folder has created. */
export function operatorOf(dataDir: string): { username: string; password: string } {
  return { username: 'operator', password: readFileSync(passwordFile(dataDir), 'utf8').trim() };
}

/** Returns the value of the Authorization header. */
export async function logIn(url: string, account: { username: string; password: string }): Promise<string> {
  const body = JSON.stringify({ ...account, realm: 'intel' });
  const response = await fetch(`${url}/api/v1/login`, { method: 'POST', body });
  if (!response.ok) throw new Error(`${account.username} cannot log in: ${await response.text()}`);
  return `Bearer ${((await response.json()) as { token: string }).token}`;
}
