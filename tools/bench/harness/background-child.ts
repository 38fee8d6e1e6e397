import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { BackgroundRequests } from './background.ts';

// Sends requests until it is killed. `background.ts` starts this process; it is told when the first response was read.

const agent = new Agent({ keepAlive: true });

async function send(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const sent = request(url, { agent, method: 'POST', headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} returned ${response.statusCode}`);
  await once(response.resume(), 'end');
}

process.once('message', ({ url, headers, bodies, parallel }: BackgroundRequests) => {
  let sent = 0;
  const client = async () => {
    for (;;) {
      await send(url, headers, bodies[sent++ % bodies.length] as string);
      process.send?.('answered');
    }
  };
  for (let i = 0; i < parallel; i++) void client();
});
