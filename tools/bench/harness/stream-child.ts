import { receive } from './measure.ts';

/** What `stream.ts` sends to this process. */
export type StreamRequest = { url: string; headers: Record<string, string>; body: object };

// Receives the same stream again and again until it is killed. In a process of its own: lookups are timed in the one of the
// bench, where they would wait for the lines of the stream.
process.once('message', async ({ url, headers, body }: StreamRequest) => {
  for (;;) {
    await receive(url, headers, body);
    process.send?.('received');
  }
});
