import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openApp } from '../src/app.ts';

// The server under test in a process of its own; the parent asks for the event-loop delay since it asked last.

export type StreamServerMessage = { url: string } | { delayMs: number };

const app = await openApp({
  host: '127.0.0.1',
  port: 0,
  dataDir: process.argv[2] ?? '',
  demo: false,
  queryBudgetMs: 10_000,
});
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('message', async (request) => {
  if (request === 'close') {
    await app.close();
    process.disconnect();
    return;
  }
  process.send?.({ delayMs: delay.percentile(99.9) / 1e6 } satisfies StreamServerMessage);
  delay.reset();
});
process.send?.({ url: app.url } satisfies StreamServerMessage);
