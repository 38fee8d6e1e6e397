import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
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
  '/address/999.1.1.1',
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
  '/address/203.0.113.7/x',
  '/network/203.0.113.0/x',
  '/lists/Urls.txt',
  '/admin/nothing',
  '/assets/nothing.js',
  '/assets/index.html',
  '/urls',
];

const ASSETS = new URL('../../dist/pages/', import.meta.url);

/** What a page loads, each script gzipped alone: every page loads the common ones, most have one of their own. */
const MAX_COMMON_BYTES = 46_000;
const MAX_PAGE_BYTES = 60_000;

/** A script that is loaded when its page is opened. */
const LATER = /import\("\.\/(([\w-]+)-\w+\.js)"\)/g;

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
    assert.deepEqual([...new Set(names.map((name) => name.split('.')[1]))].toSorted(), ['css', 'js', 'svg']);
    const scripts = new Map<string, { text: string; bytes: number }>();
    /** With everything that it imports, except what is loaded later. */
    const loadAll = async (name: string, all = new Set<string>()): Promise<Set<string>> => {
      if (all.has(name)) return all;
      all.add(name);
      const script = scripts.get(name) ?? (await load(name));
      scripts.set(name, script);
      for (const [, part = ''] of script.text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g))
        await loadAll(part, all);
      return all;
    };
    const common = new Set<string>();
    for (const name of names) name.endsWith('.js') ? await loadAll(name, common) : await load(name);
    const bytesOf = (all: Set<string>) => [...all].reduce((sum, name) => sum + (scripts.get(name)?.bytes ?? 0), 0);
    const budgets = new Map([['common', common]]);
    /** Pages of administration are loaded later by a script that is loaded later itself. */
    const addLater = async (loaded: Set<string>, own: Iterable<string>): Promise<void> => {
      for (const name of own)
        for (const [, later = '', page = ''] of (scripts.get(name)?.text ?? '').matchAll(LATER)) {
          const all = await loadAll(later, new Set(loaded));
          budgets.set(page, all);
          await addLater(
            all,
            [...all].filter((part) => !loaded.has(part)),
          );
        }
    };
    await addLater(common, common);
    for (const [page, all] of budgets) {
      const [bytes, most] = [bytesOf(all), page === 'common' ? MAX_COMMON_BYTES : MAX_PAGE_BYTES];
      t.diagnostic(`${page}: ${bytes} bytes gzipped, at most ${most}`);
      assert.ok(bytes < most, `${page}: ${bytes} bytes`);
    }
    const built = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
    assert.deepEqual([...scripts.keys()].toSorted(), built.toSorted(), 'every script is counted');
  });

  await t.test('without the portal there are no pages', async () => {
    const plain = await serve({ noPortal: true });
    for (const path of ['/', '/account']) assert.equal((await fetch(plain + path)).status, 404);
  });
});
