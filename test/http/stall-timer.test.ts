import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { createStallTimer } from '../../src/http/stall-timer.ts';

const STALL_MS = 40;

function pauseProcess(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

/** Calls this when the event loop has looked for what arrived, like bytes of a socket. */
function onArrival(use: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port2.once('message', () => {
    use();
    port2.close();
  });
  port1.postMessage(null);
}

test('a pause of this process is no stall, silence is one', async () => {
  const seen: string[] = [];
  await new Promise(setImmediate); // timers are next, then what arrived
  const stalled = new Promise<void>((resolve) => {
    const timer = createStallTimer(STALL_MS, () => {
      seen.push('stalled');
      resolve();
    });
    onArrival(() => {
      seen.push('arrived');
      timer.refresh();
      setImmediate(() => seen.push('waits again'));
    });
  });
  pauseProcess(2 * STALL_MS);
  await stalled;
  assert.deepEqual(seen, ['arrived', 'waits again', 'stalled']);
});

test('a stopped timer does not call, also not after its time', async () => {
  const seen: string[] = [];
  await new Promise(setImmediate);
  const [early, late] = ['early', 'late'].map((name) => createStallTimer(1, () => seen.push(name)));
  onArrival(() => {
    seen.push('arrived');
    late?.stop();
  });
  pauseProcess(5);
  early?.stop();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(seen, ['arrived']);
});
