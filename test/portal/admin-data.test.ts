import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, assertFits, openPortal, screenshot, settled, WIDTHS } from './browser.ts';

const API = '**/api/admin/v1';

const HOSTILE = ['<img src=x onerror=alert(1)>', 'a\u202eb', 'half \ud800', `http://long.example/${'x'.repeat(8_000)}`];

const rowOf = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

test('pages about feeds, imports and lists', async (t) => {
  const portal = await openPortal(t, { allowReserved: true });

  await t.test('each in both themes and widths', async () => {
    for (const theme of ['light', 'dark'] as const) {
      for (const [name, width] of Object.entries(WIDTHS)) {
        const { page, open, messages } = await portal.visit({ theme, width });
        for (const [path, title] of [
          ['feeds', 'Feeds'],
          ['imports', 'Imports'],
          ['lists', 'Lists by hand'],
        ]) {
          await open(`/admin/${path}`);
          assert.deepEqual(await page.locator('h1').allTextContents(), [title]);
          if (path === 'feeds') await page.click('text=Add a feed');
          await settled(page);
          await assertAccessible(page);
          await assertFits(page);
          await screenshot(page, `${path}-${theme}-${name}`);
        }
        assert.deepEqual(messages, []);
      }
    }
  });

  await t.test('feeds that are ill say since when, why, and what to do', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/feeds');
    const cards = await page.locator('.ill-feed').allTextContents();
    assert.equal(cards.length, 2);
    const failing = cards.find((text) => text.startsWith('failing')) ?? '';
    assert.match(failing, /demo-failing.*No success since .*None of the 31 rows.*rejected rows/);
    assert.match(cards.find((text) => text.startsWith('late')) ?? '', /for 5 days.*responded with 503.*by itself/);
    assert.equal(await rowOf(page, 'demo-urls').locator('.bars .bar').count(), 14);
    await page.click('text=Show the rejected rows');
    await page.waitForSelector('h1:has-text("Import ")');
    await page.waitForSelector('.reason:has-text("not a domain name"):has-text("31 rows")');
    assert.match(await page.locator('.samples').innerText(), /<!doctype html>/);
    await assertAccessible(page);
    await screenshot(page, 'import-rejects');
  });

  await t.test('run now shows the progress until the run has ended', async () => {
    const { page, open } = await portal.visit();
    let asked = 0;
    let step = 'before';
    await page.route(`${API}/feeds/demo-urls/run`, (route) => {
      step = 'running';
      return route.fulfill({ json: {} });
    });
    await page.route(`${API}/feeds`, async (route) => {
      const response = await route.fetch();
      const { items } = (await response.json()) as { items: { name: string; running: boolean; runs: object[] }[] };
      const feed = items.find(({ name }) => name === 'demo-urls') ?? assert.fail();
      if (step === 'running' && asked++ < 1) {
        feed.running = true;
        feed.runs.push({ ...feed.runs.at(-1), id: 999, outcome: 'running', finished_ts: null, read: 1_234 });
      }
      await route.fulfill({ json: { items } });
    });
    await open('/admin/feeds');
    await page.click('[aria-label="Run now: demo-urls"]');
    await page.waitForSelector('tr:has-text("demo-urls") :text("1,234 rows read")');
    assert.match(await rowOf(page, 'demo-urls').innerText(), /running now/i);
    await screenshot(page, 'feeds-running');
    await page.waitForSelector('tr:has-text("demo-urls") :text-is("Run now")');
  });

  await t.test('a feed is paused, resumed, changed and removed', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/feeds');
    await page.click('[aria-label="Pause: demo-late"]');
    await page.waitForSelector('tr:has-text("demo-late") .badge:text-is("paused")');
    await page.click('[aria-label="Edit: demo-late"]');
    await page.selectOption('dialog select[name=every]', '3600');
    await page.fill('dialog input[name=trust]', 'much');
    await page.click('dialog >> text=Save');
    await page.waitForSelector('dialog [role=alert]:has-text("0 to 0.9")');
    await assertAccessible(page);
    await screenshot(page, 'feed-edit');
    await page.fill('dialog input[name=trust]', '0.5');
    await page.click('dialog >> text=Save');
    await page.waitForSelector('tr:has-text("demo-late"):has-text("every hour")');
    await page.click('[aria-label="Remove: demo-late"]');
    await page.click('dialog >> text=Remove the feed');
    await page.waitForSelector('tr:has-text("demo-late")', { state: 'detached' });
  });

  await t.test('a well-known feed needs one click, another one a form; refusals are beside it', async () => {
    const { page, open } = await portal.visit();
    let sent: unknown;
    await page.route(`${API}/feeds`, (route) => {
      if (route.request().method() === 'GET') return route.continue();
      sent = route.request().postDataJSON();
      return route.fulfill({ status: 400, json: { message: 'feeds.example has no address' } });
    });
    await open('/admin/feeds');
    await page.click('text=Add a feed');
    await page.fill('[aria-label="Access key of urlhaus-recent"]', 'secret');
    await page.click('[aria-label="Add urlhaus-recent"]');
    await page.waitForSelector('.known li [role=alert]:has-text("has no address")');
    assert.deepEqual(sent, { known: 'urlhaus-recent', headers: { 'Auth-Key': 'secret' } });
    await page.fill('form input[name=name]', 'mine');
    await page.fill('form input[name=url]', 'https://feeds.example/list.txt');
    await page.selectOption('form select[name=format]', 'ip-list');
    await page.selectOption('form select[name=meaning]', 'dataset:BCL');
    await page.click('text=Add the feed');
    await page.waitForSelector('form [role=alert]:has-text("has no address")');
    assert.deepEqual(sent, {
      ...{ name: 'mine', format: 'ip-list', url: 'https://feeds.example/list.txt' },
      ...{ interval_seconds: 86_400, dataset: 'BCL' },
    });
  });

  await t.test('a file is uploaded, and its rejected row is shown with the reason', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/admin/imports');
    await page.click('button:text-is("Import")');
    await page.waitForSelector('form [role=alert]:has-text("Choose a file first")');
    const row = (id: number, url: string) =>
      `"${id}","2026-10-02 10:11:12","${url}","online","2026-10-02 10:11:12","malware_download","elf","https://urlhaus.abuse.ch/url/${id}/","me"`;
    const text = [
      row(1, 'http://upload.example/a'),
      row(2, 'http://upload.example/b'),
      row(3, 'gopher://upload.example/'),
    ];
    await page.setInputFiles('input[type=file]', {
      ...{ name: 'two<b>.csv', mimeType: 'text/csv', buffer: Buffer.from(`${text.join('\r\n')}\r\n`) },
    });
    await page.waitForSelector('.drop:has-text("two<b>.csv")');
    await page.click('button:text-is("Import")');
    await page.waitForSelector('h1:text-matches("Import \\\\d+")');
    await page.waitForSelector('.verdict .badge:text-is("done")');
    const shown = await page.locator('main').innerText();
    assert.match(shown, /It brought 2 new URLs/);
    assert.match(shown, /two<b>\.csv/);
    await page.waitForSelector('.samples:has-text("gopher://upload.example/")');
    await screenshot(page, 'import-upload');
    await page.click('text=All imports');
    assert.match(await rowOf(page, 'two<b>.csv').innerText(), /done/);
    assert.deepEqual(messages, []);
  });

  await t.test('a refused upload keeps the form, an unknown import is told', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/imports');
    await page.route(`${API}/imports?*`, (route) =>
      route.fulfill({
        ...{
          status: 429,
          headers: { 'retry-after': '5' },
          json: { message: 'Another uploaded file is being imported' },
        },
      }),
    );
    const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('x') };
    await page.locator('.drop').evaluate((zone) => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'dropped.csv'));
      zone.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.waitForSelector('.drop:has-text("dropped.csv")');
    await page.setInputFiles('input[type=file]', file);
    await page.click('button:text-is("Import")');
    await page.waitForSelector('form [role=alert]:has-text("Another uploaded file"):has-text("Room again in")');
    await open('/admin/imports?id=987654');
    await page.waitForSelector('[role=alert]:has-text("There is no import 987654")');
  });

  await t.test('a domain, a listing and the allow list are set by hand', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/admin/lists');
    await page.click('text=Set a domain');
    await page.fill('dialog input[name=domain]', 'com');
    await page.fill('dialog input[name=human]', '-10');
    await page.fill('dialog input[name=reason]', 'seen by us');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("public suffix")');
    await assertAccessible(page);
    await page.fill('dialog input[name=domain]', 'bad-shop[.]example');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("bad-shop.example"):has-text("−10"):has-text("by the data")');
    await page.click('text=Add a listing');
    await page.fill('dialog input[name=cidr]', '203.0.113.200');
    await page.fill('dialog input[name=reason]', 'scans us');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("203.0.113.200"):has-text("live"):has-text("scans us")');
    await page.click('[aria-label^="Remove: 203.0.113.200"]');
    await page.fill('dialog input[name=reason]', 'it was us');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("203.0.113.200"):has-text("it was us")');
    await page.click('text=Allow a network');
    await page.fill('dialog input[name=cidr]', '192.0.2.128/25');
    await page.fill('dialog input[name=reason]', 'our office');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("192.0.2.128/25"):has-text("by hand")');
    await screenshot(page, 'lists-filled');
    await page.click('[aria-label="Remove: 192.0.2.128/25"]');
    await page.click('dialog >> text=Take it off');
    await page.waitForSelector('tr:has-text("192.0.2.128/25")', { state: 'detached' });
    await page.click('[aria-label="Take back: bad-shop.example"]');
    await page.fill('dialog input[name=reason]', 'cleaned');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("bad-shop.example")', { state: 'detached' });
    assert.deepEqual(
      messages.filter((text) => !text.includes('400')),
      [],
    );
  });

  await t.test('hostile texts are shown as texts, and nothing is wider than the window', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTHS.phone });
    await page.route(`${API}/**`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ json: hostile(await response.json()) });
    });
    for (const path of ['feeds', 'imports', 'imports?id=1', 'lists']) {
      await open(`/admin/${path}`);
      if (path === 'feeds') await page.click('text=Add a feed');
      await settled(page);
      assert.equal(await page.locator('img').count(), 0);
      await assertFits(page);
      await screenshot(page, `hostile-${path.replace(/\W/g, '-')}`);
      const text = await page.locator('main').innerText();
      for (const shown of [HOSTILE[0] ?? '', 'a\\u202eb', 'half \\ud800']) {
        if (path !== 'lists') assert.ok(text.includes(shown), `${path}: ${shown}`);
      }
    }
    assert.deepEqual(messages, []);
  });

  await t.test('no data, and a server that is away, are told', async () => {
    const { page, open } = await portal.visit();
    await page.route(`${API}/feeds`, (route) => route.fulfill({ json: { items: [] } }));
    await open('/admin/feeds');
    await page.waitForSelector('text=No feed is fetched yet');
    await page.route(`${API}/imports`, (route) => route.abort());
    await open('/admin/imports');
    await page.waitForSelector('[role=alert]:has-text("The server does not answer")');
  });
});

/** The same answer with hostile texts in all places that data can reach. */
function hostile(answer: unknown): unknown {
  const keys = ['about', 'terms', 'url', 'last_error', 'error', 'feed', 'source', 'reason', 'text', 'domain', 'cidr'];
  let next = 0;
  return JSON.parse(JSON.stringify(answer), (key, value) =>
    keys.includes(key) && (typeof value === 'string' || key.endsWith('error'))
      ? HOSTILE[next++ % HOSTILE.length]
      : value,
  );
}
