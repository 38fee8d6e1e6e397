import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A sentinel that says what a test wants, when it wants it: the moments of a failover cannot be had from a real one. */
export type SentinelStub = {
  port: number;
  /** From now on whoever asks for the primary waits. */
  holdAnswers(): void;
  /** Until somebody waits. */
  untilAsked(): Promise<void>;
  /** Those who wait get their answer, and so does everybody from now on. */
  release(): void;
  /** Tells everybody who listens that there is a new primary. */
  tellOfFailover(): void;
};

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;

export async function startSentinelStub(t: TestContext, primaryPort: number): Promise<SentinelStub> {
  const sockets = new Set<Socket>();
  const listeners: Socket[] = [];
  let waiting: Socket[] | null = null;
  let asked = () => {};
  const tellPrimary = (socket: Socket) => socket.write(`*2\r\n${bulk('127.0.0.1')}${bulk(String(primaryPort))}`);

  function answer(socket: Socket, [command, name]: string[]): void {
    if (command === 'hello') socket.write(`%1\r\n${bulk('proto')}:3\r\n`);
    else if (command === 'subscribe') {
      listeners.push(socket);
      socket.write(`>3\r\n${bulk('subscribe')}${bulk('+switch-master')}:1\r\n`);
    } else if (name === 'sentinels') socket.write('*0\r\n');
    else if (name !== 'get-master-addr-by-name') socket.write('+OK\r\n');
    else if (waiting === null) tellPrimary(socket);
    else {
      waiting.push(socket);
      asked();
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    // The commands of a driver come whole, since they are short and nothing is between it and us.
    socket.on('data', (bytes) => {
      for (const command of String(bytes)
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        answer(
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
    holdAnswers() {
      waiting = [];
    },
    untilAsked: () =>
      new Promise((resolve) => {
        asked = resolve;
        if (waiting !== null && waiting.length > 0) resolve();
      }),
    release() {
      for (const socket of waiting ?? []) tellPrimary(socket);
      waiting = null;
    },
    tellOfFailover() {
      for (const socket of listeners) {
        socket.write(`>3\r\n${bulk('message')}${bulk('+switch-master')}${bulk('counters')}`);
      }
    },
  };
}
