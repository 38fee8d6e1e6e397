import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openConnection, type Received } from '../../../tools/soak/load/connection.ts';
import { maxGrownMb, trendOf } from '../../../tools/soak/load/resources.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

const ANSWERS: { name: string; pieces: string[]; isClosed?: boolean; body: string | null; fault?: RegExp }[] = [
  { name: 'a length', pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab', 'cd'], body: 'abcd' },
  { name: 'an empty body', pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'], body: '' },
  { name: 'chunks', pieces: [`${CHUNKED}2\r\nab\r\n`, '3\r\n0\r\n\r\n', '0\r\n\r\n'], body: 'ab0\r\n' },
  {
    name: 'chunks without the last one',
    pieces: [`${CHUNKED}2\r\nab\r\n`],
    isClosed: true,
    body: null,
    fault: /middle/,
  },
  { name: 'no response', pieces: [], isClosed: true, body: null, fault: /closed/ },
  {
    name: 'a body that is too long',
    pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab'],
    body: null,
    fault: /longer/,
  },
  { name: 'another protocol', pieces: ['SSH-2.0-server\r\n\r\n'], body: null, fault: /not HTTP/ },
];

for (const { name, pieces, isClosed = false, body, fault } of ANSWERS) {
  test(`the client of the load run, ${name}: ${body === null ? 'reported' : 'read'}`, async (t) => {
    const port = await listen(t, async (socket) => {
      for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
      if (isClosed) socket.end();
    });
    const connection = openConnection(port, () => assert.fail('stray bytes'));
    t.after(() => connection.close());
    const received = await new Promise<Received>((resolve) => connection.send('GET / HTTP/1.1\r\n\r\n', resolve));
    assert.equal(received.response?.body ?? null, body);
    if (fault !== undefined) assert.match(received.fault ?? '', fault);
  });
}

/** Answers each request on the port that it returns. */
async function listen(t: TestContext, answer: (socket: Socket) => Promise<void>): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).on('data', () => void answer(socket)));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

test('the memory of a long run may vary, but not grow', () => {
  const samples = (mbPerHour: number, minutes: number) =>
    Array.from({ length: minutes * 30 }, (_, i) => ({
      ms: i * 2_000,
      mb: 150 + (mbPerHour * i) / 1_800 + (i % 2 === 0 ? 5 : -5),
      files: 100,
    }));
  const isFlat = (mbPerHour: number) => {
    const { grownMb, minutes } = trendOf(samples(mbPerHour, 20));
    return grownMb <= (maxGrownMb(minutes) ?? Number.NaN);
  };
  assert.ok(Math.abs(trendOf(samples(60, 20)).mbPerHour - 60) < 1);
  assert.deepEqual([0, 20, 60].map(isFlat), [true, true, false]);
  assert.equal(maxGrownMb(2), null);
});
