import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { startUrlwarden } from './urlwarden.ts';

export type RunningServer = {
  url: string;
  child: ChildProcess;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Sends the signal, waits for the process to end, and returns its exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
};

const DEFAULTS = [
  ['--port', '0'],
  ['--metrics-port', 'off'],
  ['--stop-grace-seconds', '0'],
  ['--threads', process.env.URLWARDEN_TEST_ENGINE === 'threads' ? '2' : '1'],
] as const;

/** Starts `urlwarden serve`. Unless the arguments say otherwise: on any free port, on one thread (on two in `npm run test:threads`), without metrics and grace time. */
export async function startServer(t: TestContext, args: string[], program?: string): Promise<RunningServer> {
  const defaults = DEFAULTS.filter(([flag]) => !args.includes(flag)).flat();
  const child = startUrlwarden(['serve', ...defaults, ...args], program);
  t.after(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  const output = { stdout: '', stderr: '' };
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output.stdout += chunk;
      const found = /answers on (\S+)\n/.exec(output.stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', () => reject(new Error(`the server ended before it listened: ${output.stderr}`)));
  });
  return {
    url,
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async stop(signal) {
      child.kill(signal);
      const [code] = await closed;
      return code;
    },
  };
}

export async function logIn(url: string, account: { username: string; password: string }): Promise<Response> {
  return fetch(`${url}/api/v1/login`, { method: 'POST', body: JSON.stringify({ ...account, realm: 'intel' }) });
}

export async function tokenOf(url: string, account: { username: string; password: string }): Promise<string> {
  return ((await (await logIn(url, account)).json()) as { token: string }).token;
}
