import type { BackgroundRequests } from './background.ts';
import { receive } from './measure.ts';

// `background.ts` starts this process, gets a message after every response, and ends it.

process.once('message', ({ url, headers, bodies, parallel }: BackgroundRequests) => {
  let sent = 0;
  const client = async () => {
    for (;;) {
      await receive(url, headers, bodies[sent++ % bodies.length] as string);
      process.send?.('answered');
    }
  };
  for (let i = 0; i < parallel; i++) void client();
});
