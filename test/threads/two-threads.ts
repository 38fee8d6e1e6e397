import type { TestContext } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import type { OwnerTasks } from '../../src/app/owner-calls.ts';
import {
  type CallTask,
  createTaskCaller,
  runTask,
  type TaskRequest,
  type TaskResponse,
} from '../../src/threads/calls.ts';

// Two threads of a server, for tests that run in one: what they send to each other goes through a real channel.

/** Calls these tasks as another thread would. The channel is closed after the test. */
export function callByMessage(t: TestContext, tasks: Partial<OwnerTasks>): CallTask<OwnerTasks> {
  const { port1, port2 } = new MessageChannel();
  let isClosed = false;
  const { call, settle, rejectAll } = createTaskCaller<OwnerTasks>((request) => {
    if (isClosed) throw new Error('the other thread has ended');
    port1.postMessage(request);
  });
  port1.on('message', (response: TaskResponse) => settle(response));
  port2.on('message', async (request: TaskRequest) => port2.postMessage(await runTask(tasks, request)));
  t.after(() => {
    isClosed = true;
    port1.close();
    rejectAll(new Error('the other thread has ended'));
  });
  return call;
}

/** The same port on both threads; each call goes to the other one than the call before. */
export function alternating<Port extends object>(first: Port, second: Port): Port {
  let calls = 0;
  const next = () => (calls++ % 2 === 0 ? first : second) as Record<string, unknown>;
  const methods = Object.keys(first).map((name) => [
    name,
    (...args: unknown[]) => (next()[name] as (...args: unknown[]) => unknown)(...args),
  ]);
  return Object.fromEntries(methods) as Port;
}
