import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A sentinel whose replies a test controls: the timing of a failover cannot be controlled with a real one. */
export type SentinelStub = {
  port: number;
  /** From now on queries for the primary get no reply. */
  holdReplies(): void;
  /** Resolves when a query for the primary is waiting. */
  untilQueried(): Promise<void>;
  /** Replies to the waiting queries and to all later ones. */
  release(): void;
  /** Announces a new primary to all subscribers. */
  announceFailover(): void;
};

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;

export async function startSentinelStub(t: TestContext, primaryPort: number): Promise<SentinelStub> {
  const sockets = new Set<Socket>();
  const subscribers: Socket[] = [];
  let waiting: Socket[] | null = null;
  let onQuery = () => {};
  const sendPrimary = (socket: Socket) => socket.write(`*2\r\n${bulk('127.0.0.1')}${bulk(String(primaryPort))}`);

  function reply(socket: Socket, [command, name]: string[]): void {
    if (command === 'hello') socket.write(`%1\r\n${bulk('proto')}:3\r\n`);
    else if (command === 'subscribe') {
      subscribers.push(socket);
      socket.write(`>3\r\n${bulk('subscribe')}${bulk('+switch-master')}:1\r\n`);
    } else if (name === 'sentinels') socket.write('*0\r\n');
    else if (name !== 'get-master-addr-by-name') socket.write('+OK\r\n');
    else if (waiting === null) sendPrimary(socket);
    else {
      waiting.push(socket);
      onQuery();
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    // Each command arrives in one piece, because commands are short and the connection is local.
    socket.on('data', (bytes) => {
      for (const command of String(bytes)
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        reply(
          socket,
          command
            .toLowerCase()
            .split('\r\n')
            .filter((_, line) => line % 2 === 1),
        );
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    holdReplies() {
      waiting = [];
    },
    untilQueried: () =>
      new Promise((resolve) => {
        onQuery = resolve;
        if (waiting !== null && waiting.length > 0) resolve();
      }),
    release() {
      for (const socket of waiting ?? []) sendPrimary(socket);
      waiting = null;
    },
    announceFailover() {
      for (const socket of subscribers) {
        socket.write(`>3\r\n${bulk('message')}${bulk('+switch-master')}${bulk('counters')}`);
      }
    },
  };
}
