import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { createStallTimer } from '../../src/http/stall-timer.ts';

const STALL_MS = 40;

function pauseProcess(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

test('a pause of this process is no stall, silence is one', async () => {
  const seen: string[] = [];
  const stalled = new Promise<void>((resolve) => {
    const timer = createStallTimer(STALL_MS, () => {
      seen.push('stalled');
      resolve();
    });
    // Waits in the event loop, like bytes of a socket.
    const { port1, port2 } = new MessageChannel();
    port2.once('message', () => {
      seen.push('arrived');
      timer.refresh();
      port2.close();
    });
    port1.postMessage(null);
  });
  pauseProcess(2 * STALL_MS);
  await stalled;
  assert.deepEqual(seen, ['arrived', 'stalled']);
});

test('a stopped timer does not call', async () => {
  let calls = 0;
  const timer = createStallTimer(1, () => calls++);
  pauseProcess(5);
  timer.stop();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(calls, 0);
});
