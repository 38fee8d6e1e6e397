import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FirstAccount } from '../../src/accounts/first-account.ts';
import { openApp } from '../../src/app.ts';
import { DEFAULT_SETTINGS } from '../../src/config/settings.ts';

// The server under test in its own process, with one thread, whose memory and delay are measured. It reports to its parent
// the event-loop delay since the previous report.

export type StreamServerMessage = { url: string; account: FirstAccount | null } | { delayMs: number };

const places = { port: 0, metricsPort: 'off', dataDir: process.argv[2] ?? '' } as const;
const app = await openApp({ ...DEFAULT_SETTINGS, ...places, threads: 1 });
const { url, firstAccount } = await app.listen();
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
process.send?.({ url, account: firstAccount } satisfies StreamServerMessage);
