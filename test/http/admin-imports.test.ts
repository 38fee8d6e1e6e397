import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ADMIN, type Administration, asAdmin } from './as-admin.ts';
import { assertError } from './build.ts';
import { exchange } from './raw.ts';

const LIST = 'http://192.0.2.1/a\nnowhere at all\nhttp://192.0.2.1/b\n';

async function ended(world: Administration, id: number) {
  for (let tries = 0; tries < 1_000; tries++) {
    const one = (await world.get(`/imports/${id}`)).json();
    if (one.state !== 'running') return one;
    await sleep(20);
  }
  assert.fail('the import did not end');
}

const upload = (world: Administration, query: string, payload: string | Buffer) =>
  world.app.inject({
    method: 'POST',
    url: `${ADMIN}/imports?${query}`,
    payload,
    headers: { authorization: world.authorization, 'content-type': 'text/csv' },
  });

describe('imports of administrators', () => {
  test('an uploaded file, plain or packed, is imported; its rejects have reasons and samples', async (t) => {
    const world = await asAdmin(t);
    const plain = await upload(world, 'format=url-list&source=own.txt', LIST);
    assert.equal(plain.statusCode, 200, plain.body);
    const { id } = plain.json();
    const { format, feed, source, state, read, added, rejected, error } = await ended(world, id);
    assert.deepEqual(
      { format, feed, source, state, read, added, rejected, error },
      {
        format: 'url-list',
        feed: 'url-list',
        source: 'own.txt',
        state: 'done',
        read: 3,
        added: 2,
        rejected: 1,
        error: null,
      },
    );
    const rejects = (await world.get(`/imports/${id}/rejects`)).json();
    assert.equal(rejects.total, 1);
    assert.deepEqual(rejects.reasons[0].samples, [{ line: 2, text: 'nowhere at all' }]);
    assert.equal(rejects.reasons[0].count, 1);
    const packed = await upload(world, 'format=url-list&feed=packed', gzipSync('http://192.0.2.1/c\n'));
    assert.equal((await ended(world, packed.json().id)).added, 1);
    const items = (await world.get('/imports?feed=packed')).json().items;
    assert.deepEqual(
      items.map((one: { id: number }) => one.id),
      [packed.json().id],
    );
    assert.equal((await world.get('/imports?limit=1')).json().items.length, 1);
  });

  test('a file that is no such format is a failed import', async (t) => {
    const world = await asAdmin(t);
    const response = await upload(world, 'format=url-list', Buffer.from([0x1f, 0x8b, 0x08, 1, 2, 3, 4]));
    const { state, error } = await ended(world, response.json().id);
    assert.equal(state, 'failed');
    assert.match(error, /gzip/);
  });

  test('wrong queries are refused and start nothing', async (t) => {
    const world = await asAdmin(t);
    assertError(await upload(world, '', LIST), 400, /^"format" must be one of/);
    assertError(await upload(world, 'format=nothing', LIST), 400, /^"format" must be one of/);
    assertError(await upload(world, 'format=ip-list', LIST), 400, /needs exactly one of "dataset"/);
    assertError(await upload(world, 'format=url-list&feed=operator', LIST), 400, /uses this name/);
    for (const feed of ['a|b', 'a\n', '\u{85}', 'x'.repeat(1_025)]) {
      const query = `format=url-list&feed=${encodeURIComponent(feed)}`;
      assertError(await upload(world, query, LIST), 400, /^"feed" must not be ".*": (?:the character|control|at most)/);
    }
    const allowList = 'format=ip-list&as=allow&source=';
    assertError(await upload(world, `${allowList}a|b.txt`, LIST), 400, /^"feed" must not be "a\|b": the character \|/);
    assertError(await upload(world, `${allowList}operator.txt`, LIST), 400, /^"feed" must not be "operator"/);
    assertError(await upload(world, 'format=url-list&dataset=ABC', LIST), 400, /^"dataset" must be one of/);
    assert.deepEqual((await world.get('/imports')).json().items, []);
    assertError(await world.get('/imports/99'), 404);
    assertError(await world.get('/imports/99/rejects'), 404);
    assertError(await world.asCustomer('POST', '/imports?format=url-list'), 403);
    assertError(await world.asCustomer('GET', '/imports'), 403);
  });

  test('a broken upload is a failed import; a second one beside it is refused', async (t) => {
    const world = await asAdmin(t);
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as { port: number };
    const socket = connect(port, '127.0.0.1');
    const head = `POST ${ADMIN}/imports?format=url-list HTTP/1.1\r\nHost: x\r\nAuthorization: ${world.authorization}\r\n`;
    socket.write(`${head}Content-Length: 100000\r\n\r\nhttp://192.0.2.1/broken\n`);
    let items: { id: number; state: string }[] = [];
    for (let tries = 0; items.length === 0 && tries < 1_000; tries++) {
      await sleep(20);
      items = (await world.get('/imports')).json().items;
    }
    assert.equal(items[0]?.state, 'running');
    assertError(await upload(world, 'format=url-list', LIST), 429, /Another uploaded file/);
    socket.destroy();
    const { state, error } = await ended(world, items[0]?.id ?? 0);
    assert.equal(state, 'failed');
    assert.match(error, /^The upload ended early/);
    // The record ends shortly before the place is free.
    let next = await upload(world, 'format=url-list', LIST);
    for (let tries = 0; next.statusCode === 429 && tries < 1_000; tries++) {
      await sleep(20);
      next = await upload(world, 'format=url-list', LIST);
    }
    assert.equal(next.statusCode, 200);
  });

  test('an upload whose import has ended early is answered, also if its client sends nothing more', async (t) => {
    const world = await asAdmin(t, { options: { stallMs: 300 } });
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as { port: number };
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    const head = `POST ${ADMIN}/imports?format=threatfox-json HTTP/1.1\r\nHost: x\r\nAuthorization: ${world.authorization}\r\n`;
    // More than the reader of the format has read when it gives up.
    const damaged = `{"1":[{"ioc_value": nonsense\n${'x'.repeat(300_000)}`;
    socket.write(`${head}Content-Length: 1000000\r\n\r\n${damaged}`);
    const [response] = (await once(socket, 'data', { signal: AbortSignal.timeout(20_000) })) as [Buffer];
    const [, id] = /^HTTP\/1\.1 200 OK.*"id":(\d+)/s.exec(response.toString()) ?? assert.fail(response.toString());
    assert.equal((await ended(world, Number(id))).state, 'failed');
  });

  test('the rest of an upload whose import has ended early is read, so its client need not wait', async (t) => {
    const world = await asAdmin(t);
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as { port: number };
    const body = `{"1":[{"ioc_value": nonsense\n${'x'.repeat(10_000_000)}`;
    const signal = AbortSignal.timeout(20_000); // a client that sends nothing more would wait for a minute
    const init = { method: 'POST', body, signal, headers: { authorization: world.authorization } };
    const response = await fetch(`http://127.0.0.1:${port}${ADMIN}/imports?format=threatfox-json`, init);
    const { id } = (await response.json()) as { id: number };
    assert.equal((await ended(world, id)).state, 'failed');
  });

  test('a client that waits with its file gets 100 after the checks, of which the size is the first', async (t) => {
    const world = await asAdmin(t);
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as { port: number };
    const send = async (query: string, length: number, body = '') => {
      const head = `POST ${ADMIN}/imports?${query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
      const waits = `Authorization: ${world.authorization}\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
      return (await exchange(port, head + waits + body)).text;
    };
    assert.match(await send('format=url-list', LIST.length, LIST), /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
    assert.match(await send('kind=x', 2 ** 31 + 1), /^HTTP\/1.1 413 /);
    assert.match(await send('kind=x', 2), /^HTTP\/1.1 400 /);
  });

  test('an upload may take longer than other requests', async (t) => {
    const world = await asAdmin(t, {
      options: { requestTimeoutMs: 500, headersTimeoutMs: 500, connectionsCheckMs: 20 },
    });
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as { port: number };
    const body = new ReadableStream({
      async start(controller) {
        for (const path of ['a', 'b', 'c']) {
          controller.enqueue(Buffer.from(`http://192.0.2.1/slow-${path}\n`));
          await sleep(300);
        }
        controller.close();
      },
    });
    const init = { method: 'POST', body, duplex: 'half', headers: { authorization: world.authorization } };
    const response = await fetch(`http://127.0.0.1:${port}${ADMIN}/imports?format=url-list`, init as RequestInit);
    assert.equal(response.status, 200);
    const { id } = (await response.json()) as { id: number };
    assert.equal((await ended(world, id)).added, 3);
  });
});
