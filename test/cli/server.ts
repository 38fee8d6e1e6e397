import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { atEnd } from '../at-end.ts';
import { type CommandLine, type Outcome, type Output, startCommandProcess, startUrlwarden } from './urlwarden.ts';

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

const commandOf = (args: string[]) => ['serve', ...DEFAULTS.filter(([flag]) => !args.includes(flag)).flat(), ...args];

/**
 * Starts `urlwarden serve`. Unless the arguments say otherwise: on any free port, on one thread (on two in
 * `npm run test:threads`), without metrics and grace time.
 */
export async function startServer(t: TestContext, args: string[], program?: string): Promise<RunningServer> {
  const child = startUrlwarden(commandOf(args), program);
  const closed = once(child, 'close');
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await closed;
  });
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

/** A test may leave its server with open requests. */
const MAX_STOP_MS = 10_000;

/** Processes in which a server has ended without an error. */
const idle: ChildProcess[] = [];

/**
 * The same in a process in which another server may have run before: such a start takes 0.5 s of CPU time, not 2. For tests
 * that start several servers. `stop` waits until nothing is left that would keep the process alive; its code is that of the
 * process then.
 */
export async function startReusedServer(t: TestContext, args: string[]): Promise<RunningServer> {
  const child = idle.pop() ?? startCommandProcess();
  const output = { stdout: '', stderr: '' };
  const listening = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<number | null>();
  const onEnd = (code: number | null) => {
    child.off('message', onMessage).off('exit', onEnd);
    listening.reject(new Error(`the server ended before it listened: ${output.stderr}`));
    ended.resolve(code);
  };
  const onMessage = (message: unknown) => {
    if ((message as Outcome).code !== undefined) {
      if ((message as Outcome).code === 0) idle.push(child);
      child.unref();
      child.channel?.unref();
      return onEnd((message as Outcome).code);
    }
    const { name, text } = message as Output;
    output[name] += text;
    const url = /answers on (\S+)\n/.exec(output.stdout)?.[1];
    if (url !== undefined) listening.resolve(url);
  };
  child.ref();
  child.channel?.ref();
  const line: CommandLine = { args: commandOf(args), stdin: '', cwd: undefined, env: process.env, isWatched: true };
  child.on('message', onMessage).on('exit', onEnd).send(line);
  let isOver = false;
  ended.promise.then(() => {
    isOver = true;
  });
  atEnd(t, async () => {
    if (isOver) return;
    child.kill('SIGINT');
    const timer = setTimeout(() => child.kill('SIGKILL'), MAX_STOP_MS);
    await ended.promise;
    clearTimeout(timer);
  });
  return {
    url: await listening.promise,
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    stop(signal) {
      child.kill(signal);
      return ended.promise;
    },
  };
}

/** The account of `serve --demo`. */
export const DEMO = { username: 'demo@example.com', password: 'demo' };

export async function logIn(url: string, account: { username: string; password: string }): Promise<Response> {
  return fetch(`${url}/api/v1/login`, { method: 'POST', body: JSON.stringify({ ...account, realm: 'intel' }) });
}

export async function tokenOf(url: string, account: { username: string; password: string }): Promise<string> {
  return ((await (await logIn(url, account)).json()) as { token: string }).token;
}
