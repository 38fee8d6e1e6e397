import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { OPERATOR } from './admit-all.ts';
import { assertError } from './build.ts';
import { CUSTOM_PATH, customRoute, serverWith } from './custom-route.ts';

const PAGE = '<!doctype html><title>é "&amp;"</title>\n';
const HTML = 'text/html; charset=utf-8';

describe('a route without a response schema', () => {
  test('is sent unchanged with its content type', async (t) => {
    for (const [contentType, body] of [
      [HTML, PAGE],
      ['text/csv; charset=utf-8', 'url\r\n"http://a.example/"\r\n'],
      ['application/json; charset=utf-8', '{"a": 1}'],
      ['application/octet-stream', Buffer.from([0, 0xff, 0x7b])],
    ] as const) {
      const app = await serverWith(t, customRoute({ response: { contentType }, respond: async () => body }));
      const response = await app.inject(CUSTOM_PATH);
      assert.equal(response.statusCode, 200);
      assert.equal(response.headers['content-type'], contentType);
      assert.deepEqual(response.rawPayload, Buffer.from(body));
    }
  });

  test('answers HEAD with the headers of GET', async (t) => {
    const app = await serverWith(t, customRoute({ response: { contentType: HTML }, respond: async () => PAGE }));
    const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url: CUSTOM_PATH });
    assert.deepEqual([statusCode, headers['content-type'], body], [200, HTML, '']);
    assert.equal(headers['content-length'], String(Buffer.byteLength(PAGE)));
  });

  test('may choose another content type', async (t) => {
    const route = customRoute({
      response: { contentType: HTML },
      respond: async (_query, { reply }) => reply.type('image/svg+xml').send('<svg/>'),
    });
    assert.equal((await (await serverWith(t, route)).inject(CUSTOM_PATH)).headers['content-type'], 'image/svg+xml');
  });

  test('sends its errors as JSON', async (t) => {
    const respond = async () => {
      throw new AppError('not_found', 'No such page');
    };
    const app = await serverWith(t, customRoute({ response: { contentType: HTML }, respond }));
    assertError(await app.inject(CUSTOM_PATH), 404, /No such page/);
  });
});

describe('a route with a dataset', () => {
  const route = customRoute({}, { access: { dataset: 'IP' } });
  const withDatasets = (...ads: string[]) => ({ ...OPERATOR, limits: { ...OPERATOR.limits, ads } });

  for (const ads of [[], ['URL'], ['ip', 'IPX']]) {
    test(`refuses an account with the datasets [${ads}], and names the missing one`, async (t) => {
      const app = await serverWith(t, route, { findCaller: () => withDatasets(...ads) });
      assertError(await app.inject(CUSTOM_PATH), 403, /\bIP\b/);
      const later = await serverWith(t, route, { findCaller: async () => withDatasets(...ads) });
      assertError(await later.inject(CUSTOM_PATH), 403, /\bIP\b/);
    });
  }

  test('admits an account that has it', async (t) => {
    for (const ads of [['IP'], ['URL', 'IP']]) {
      const app = await serverWith(t, route, { findCaller: () => withDatasets(...ads) });
      assert.deepEqual((await app.inject(CUSTOM_PATH)).body, 'ok');
    }
  });

  test('needs a token', async (t) => {
    const findCaller = () => {
      throw new AppError('unauthorized', 'No token');
    };
    assertError(await (await serverWith(t, route, { findCaller })).inject(CUSTOM_PATH), 401);
  });
});
