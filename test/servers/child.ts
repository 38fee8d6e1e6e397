import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A server that a test run has started; it ends with the run, whatever becomes of that. */
export type Child = {
  pid: number;
  /** What it wrote so far, for the message when something goes wrong. */
  output(): string;
  hasEnded(): boolean;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
};

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function startChild(program: string, args: readonly string[], options: SpawnOptions = {}): Child {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit').finally(() => running.delete(child));
  ended.catch(() => {});
  running.add(child);
  let output = '';
  child.on('error', ({ message }) => {
    output += `${program}: ${message}\n`;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
    // A server that is left running must not keep a test process alive.
    (stream as unknown as { unref(): void }).unref();
  }
  child.unref();
  return {
    pid: child.pid ?? 0,
    output: () => output,
    hasEnded: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    async end(signal) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      child.kill(signal);
      await ended;
    },
  };
}

/** Looks again and again until it answers; throws with the server's own words when it ended or takes too long. */
export async function untilReady(name: string, child: Child, isReady: () => Promise<boolean>): Promise<void> {
  const givesUpAt = Date.now() + 30_000;
  while (!(await isReady())) {
    if (child.hasEnded() || Date.now() > givesUpAt) throw new Error(`${name} did not start:\n${child.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A port of the loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
