import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openApp } from '../../src/app.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../src/config/settings.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const PAGES = [
  '/',
  '/url?u=http://203.0.113.7/',
  '/address/203.0.113.7',
  '/address/2001:db8::1',
  '/network/198.51.100.0/24',
  '/domain/example.com',
  '/search?host=example.com',
  '/bulk',
  '/lists',
  '/lists/urls-online',
  '/account',
  '/api',
  '/admin',
  '/admin/feeds',
];

const JSON_PATHS = [
  '/nothing',
  '/address/x',
  '/network/203.0.113.0/x',
  '/lists/Urls.txt',
  '/admin/nothing',
  '/assets/nothing.js',
  '/assets/index.html',
  '/urls',
];

/** What a page loads, gzipped. */
const MAX_SCRIPT_BYTES = 60_000;

test('pages', async (t) => {
  const serve = async (settings: Partial<Settings>) => {
    const app = await openApp({
      ...DEFAULT_SETTINGS,
      port: 0,
      metricsPort: 'off',
      dataDir: temporaryFolder(t),
      demo: true,
      logLevel: 'error',
      ...settings,
    });
    t.after(() => app.close());
    return (await app.listen()).url;
  };
  const url = await serve({});

  await t.test('every page path is HTML with the security headers, without a session too', async () => {
    for (const path of PAGES) {
      const response = await fetch(url + path);
      assert.equal(response.status, 200, path);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(
        response.headers.get('content-security-policy') ?? '',
        /^default-src 'none'; script-src 'self'; .*trusted-types 'none'$/,
      );
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(response.headers.get('cross-origin-opener-policy'), 'same-origin');
      assert.match(await response.text(), /<html lang="en">[\s\S]*name="viewport"/);
    }
  });

  await t.test('a page is compressed with gzip if the client accepts it', async () => {
    const encodings: [accepted: string, sent: string | null][] = [
      ['gzip, deflate, br, zstd', 'gzip'],
      ['gzip;q=0', null],
      ['*', 'gzip'],
      ['zstd', null],
      ['identity', null],
      ['identity, gzip;q=0.5', null],
    ];
    for (const [accepted, sent] of encodings) {
      const response = await fetch(url, { headers: { 'accept-encoding': accepted } });
      assert.equal(response.headers.get('content-encoding'), sent, accepted);
      assert.equal(response.headers.get('vary'), 'accept-encoding');
      assert.match(await response.text(), /<html lang="en">/);
    }
  });

  await t.test('every other path stays a JSON 404, and a POST to a page a JSON 405', async () => {
    for (const path of JSON_PATHS) {
      const response = await fetch(url + path);
      assert.equal(response.status, 404, path);
      assert.equal(((await response.json()) as { code: number }).code, 404);
    }
    assert.equal((await fetch(`${url}/account`, { method: 'POST' })).status, 405);
  });

  await t.test('assets are cached forever, and no page has more script than its budget', async () => {
    const load = async (name: string): Promise<{ text: string; bytes: number }> => {
      const response = await fetch(`${url}/assets/${name}`);
      assert.equal(response.status, 200, name);
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      const text = await response.text();
      return { text, bytes: gzipSync(text, { level: 9 }).length };
    };
    const html = await (await fetch(url)).text();
    const names = [...html.matchAll(/\/assets\/([\w-]+\.\w+)/g)].map(([, name = '']) => name);
    const common = await Promise.all(names.filter((name) => name.endsWith('.js')).map(load));
    assert.deepEqual(names.map((name) => name.split('.')[1]).toSorted(), ['css', 'js', 'js', 'svg']);
    await Promise.all(names.map(load));
    const commonBytes = common.reduce((sum, { bytes }) => sum + bytes, 0);
    const later = common.flatMap(({ text }) => [...text.matchAll(/import\("\.\/([\w-]+\.js)"\)/g)]);
    assert.deepEqual(later.map(([, name = '']) => name.split('-')[0]).toSorted(), ['admin', 'api', 'bulk', 'lists']);
    for (const [, name = ''] of later) {
      const bytes = commonBytes + (await load(name)).bytes;
      t.diagnostic(`${name}: ${bytes} bytes gzipped, ${commonBytes} of them for every page`);
      assert.ok(bytes < MAX_SCRIPT_BYTES, `${name}: ${bytes} bytes`);
    }
  });

  await t.test('without the portal there are no pages', async () => {
    const plain = await serve({ noPortal: true });
    for (const path of ['/', '/account']) assert.equal((await fetch(plain + path)).status, 404);
  });
});
