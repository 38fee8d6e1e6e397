import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { AppError } from '../../src/core/errors.ts';
import { createWorkerThread, serveTasks, workerEntry } from '../../src/threads/worker-thread.ts';
import { temporaryFolder } from '../temporary-folder.ts';

type Tasks = {
  add(a: number, b: number): number;
  refuse(): never;
  fail(): never;
  exit(): never;
  data(): unknown;
  untilClosed(): Promise<string>;
  thread(): { threadId: number; closed: number };
};

const THREAD = new URL('../../src/threads/worker-thread.ts', import.meta.url).href;
const ERRORS = new URL('../../src/core/errors.ts', import.meta.url).href;

/** A worker with the tasks above, which refuses to open 'wrong'. */
function startTasks(t: TestContext, data: unknown = null) {
  const thread = createWorkerThread<Tasks>(tasksFile(t), data);
  t.after(() => thread.close());
  return thread;
}

function tasksFile(t: TestContext): URL {
  const file = join(temporaryFolder(t), 'tasks.ts');
  writeFileSync(
    file,
    `import { threadId } from 'node:worker_threads';
    import { serveTasks } from ${JSON.stringify(THREAD)};
    import { AppError } from ${JSON.stringify(ERRORS)};
    let closed = 0;
    const ended = Promise.withResolvers();
    serveTasks((data) => {
      if (data === 'wrong') throw new AppError('damaged', 'it is damaged');
      const tasks = {
        add: (a, b) => a + b,
        refuse() { throw new AppError('not_found', 'no such thing'); },
        fail() { throw new TypeError('a defect'); },
        exit: () => process.exit(7),
        data: () => data,
        untilClosed: () => ended.promise,
        thread: () => ({ threadId, closed }),
      };
      return { tasks, close: () => closed++, closeAtOnce: () => ended.resolve('closed') };
    });`,
  );
  return pathToFileURL(file);
}

test('a task receives its arguments and returns its result', async (t) => {
  const thread = startTasks(t, { path: 'x' });
  assert.deepEqual(await Promise.all([thread.call('add', 1, 2), thread.call('add', 3, 4)]), [3, 7]);
  assert.deepEqual(await thread.call('data'), { path: 'x' });
});

test('what is closed at once does not wait for a task that has begun, whose result still arrives', async (t) => {
  const thread = startTasks(t);
  const begun = thread.call('untilClosed');
  await thread.call('add', 1, 2);
  await thread.close();
  assert.equal(await begun, 'closed');
});

test('an AppError keeps its class, its code and its message; other errors arrive unchanged', async (t) => {
  const thread = startTasks(t);
  await assert.rejects(thread.call('refuse'), (error) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.code, error.message], ['not_found', 'no such thing']);
    return true;
  });
  await assert.rejects(thread.call('fail'), { name: 'TypeError', message: 'a defect' });
});

test('when a thread dies, its pending calls are rejected as unavailable, and the next call starts a new thread', async (t) => {
  const thread = startTasks(t);
  const calls = [thread.call('exit'), thread.call('add', 1, 1)];
  for (const call of calls) await assert.rejects(call, { code: 'unavailable', message: /worker thread ended/ });
  assert.equal(await thread.call('add', 2, 2), 4);
});

test('a closed thread is used again, with other data; a call after close does not reach it', async (t) => {
  const entry = tasksFile(t);
  const first = createWorkerThread<Tasks>(entry, 'first');
  const { threadId } = await first.call('thread');
  const closing = [first.close(), first.close()];
  await assert.rejects(first.call('data'), { code: 'unavailable', message: /worker thread ended/ });
  await Promise.all(closing);
  const second = createWorkerThread<Tasks>(entry, 'second');
  t.after(() => second.close());
  assert.equal(await second.call('data'), 'second');
  assert.deepEqual(await second.call('thread'), { threadId, closed: 1 });
  // The thread of the second one is in use, so the first one gets another.
  t.after(() => first.close());
  assert.equal(await first.call('data'), 'first');
  assert.notEqual((await first.call('thread')).threadId, threadId);
});

test('a thread that cannot open its data ends with that error', async (t) => {
  const entry = tasksFile(t);
  const good = createWorkerThread<Tasks>(entry);
  await good.call('data');
  await good.close();
  const thread = createWorkerThread<Tasks>(entry, 'wrong'); // on the thread that was just closed
  await assert.rejects(thread.call('data'), { code: 'damaged', message: 'it is damaged' });
});

test('an AppError that ends a thread keeps its code, and the next call starts a new thread', async (t) => {
  const file = join(temporaryFolder(t), 'tasks.ts');
  writeFileSync(file, `throw new (await import(${JSON.stringify(ERRORS)})).AppError('damaged', 'it is damaged');`);
  const thread = createWorkerThread<Tasks>(pathToFileURL(file));
  const refusal = () =>
    thread.call('add', 1, 2).then(
      () => null,
      (error) => error,
    );
  const first = await refusal();
  assert.deepEqual([first.name, first.code, first.message], ['AppError', 'damaged', 'it is damaged']);
  // Until the thread has ended, calls are refused as unavailable. Then a new thread starts.
  for (let next = await refusal(); next.code !== 'damaged'; next = await refusal()) {
    assert.equal(next.code, 'unavailable');
  }
});

test('close waits for pending calls', async (t) => {
  const thread = startTasks(t);
  const sum = thread.call('add', 5, 6);
  await thread.close();
  assert.equal(await sum, 11);
});

test('an entry file that is not run as a worker throws', () => {
  assert.throws(() => serveTasks(() => ({ tasks: {} })), /was started as a program/);
});

test('the entry file has the extension of the module beside it', () => {
  assert.equal(workerEntry('writer', 'file:///a/src/b.ts').href, 'file:///a/src/writer.ts');
  assert.equal(workerEntry('writer', 'file:///a/dist/b.js').href, 'file:///a/dist/writer.js');
});

const PRIORITIES = `
  import { once } from 'node:events';
  import { readdirSync, readFileSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { Worker } from 'node:worker_threads';
  const worker = new Worker(new URL('low.ts', import.meta.url));
  await once(worker, 'message');
  const threads = readdirSync('/proc/self/task').map((thread) => {
    const name = readFileSync('/proc/self/task/' + thread + '/comm', 'utf8').trimEnd();
    return name + ' ' + (getPriority(Number(thread)) - getPriority(process.pid));
  });
  console.log([...new Set(threads)].sort().join());
  await worker.terminate();`;

test('a worker of low priority waits for the main thread, and so does the collection of garbage', (t) => {
  const folder = temporaryFolder(t);
  const code = `import { parentPort } from 'node:worker_threads';
    import { lowerPriority } from ${JSON.stringify(THREAD)};
    lowerPriority();
    parentPort.on('message', () => {}); // it does not end before it is seen
    parentPort.postMessage('ready');`;
  writeFileSync(join(folder, 'low.ts'), code);
  writeFileSync(join(folder, 'main.mjs'), PRIORITIES);
  for (const niceness of ['0', '7']) {
    const args = ['-n', niceness, process.execPath, join(folder, 'main.mjs')];
    const found = execFileSync('nice', args, { encoding: 'utf8' });
    for (const expected of ['MainThread 0', 'V8Worker 5', 'WorkerThread 5']) assert.ok(found.includes(expected), found);
    assert.ok(!found.includes('V8Worker 0'), found);
  }
});
