import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A server that a test run started. It ends with the test process, even after a crash of the test. */
export type Child = {
  pid: number;
  /** Its output so far, for error messages. */
  output(): string;
  hasEnded(): boolean;
  /** Sends the signal and waits until the process has ended. */
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
    // A running server must not keep the test process alive.
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

/** Polls until the server is ready. Throws with the server's output if it has ended or takes too long. */
export async function untilReady(name: string, child: Child, isReady: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + 30_000;
  while (!(await isReady())) {
    if (child.hasEnded() || Date.now() > deadlineMs) throw new Error(`${name} did not start:\n${child.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A free port on the loopback address. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
