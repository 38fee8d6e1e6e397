import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertGood } from './admin-page.ts';
import { assertAccessible, assertFits, assertSoon, openPortal, rowOf, screenshot, settled, WIDTHS } from './browser.ts';
import { HOSTILE } from './hostile.ts';

const LISTS = '**/api/portal/v1/lists';

/** What moved inside the page, by its classes. */
const WATCH_SHIFTS = `window.shifted = [];
  new PerformanceObserver((list) => {
    const nodes = list.getEntries().flatMap(({ sources }) => sources.map(({ node }) => node));
    shifted.push(...nodes.filter((node) => node?.closest?.('main > *')).map((node) => node.className));
  }).observe({ type: 'layout-shift', buffered: true });`;

const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

const submit = (page: Page) => page.click('dialog button[type=submit]');

test('page of lists', async (t) => {
  const portal = await openPortal(t);

  await t.test('a key is made and shown once, and the configuration has it', async () => {
    const { page, open, context, messages } = await portal.visit();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('/lists/addresses-bcl');
    await page.waitForSelector('pre:has-text("uwk_YOUR_KEY")');
    await page.fill('input[name=device]', 'firewall <b>');
    await page.click('button:text-is("Make a key")');
    const key = (await page.textContent('.new-key .secret')) ?? '';
    assert.match(key, /^uwk_[0-9a-f]{40}$/);
    await page.waitForSelector('.new-key:focus');
    await page.click('text=Copy the key');
    await page.waitForSelector('.toast:has-text("Key copied")');
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
    await page.selectOption('select[name=kind-of-device]', 'nftables');
    const address = `${portal.url}/api/lists/v1/${key}/addresses-bcl.nft`;
    await page.waitForSelector(`pre:has-text("${address}")`);
    await assertAccessible(page);
    await screenshot(page, 'list-key');
    await page.waitForSelector('tr:has-text("firewall <b>"):has-text("never")');
    assert.equal((await fetch(address)).status, 200);
    await page.click('text=Make another key');
    await page.waitForSelector('input[name=device]:focus');
    await page.reload();
    await settled(page);
    assert.equal(await page.locator(`text=${key}`).count(), 0);
    assert.deepEqual(messages, []);
  });

  await t.test('a list is opened: numbers, preview, formats, download, reasons', async () => {
    const visit = await portal.visit();
    const { page, open, messages } = visit;
    await open('/lists/hosts-malware');
    assert.deepEqual(await page.locator('h1').allTextContents(), ['hosts-malware']);
    const [entries, leftOut] = await page.locator('.stats dd').allTextContents();
    assert.ok(Number(entries) > 20, entries);
    assert.ok(Number(leftOut) > 0, leftOut);
    await page.waitForSelector('.card:has(h2:text-is("Left out, and why")):has-text("Addresses, on a list of names")');
    await page.waitForSelector('.list-preview:has-text("# Format: txt")');
    await assertGood(visit, 'list');
    await page.selectOption('select[name=format]', 'rpz');
    await page.waitForSelector('.list-preview:has-text("CNAME .")');
    assert.ok(page.url().endsWith('?format=rpz'));
    const download = page.waitForEvent('download');
    await page.click('text=Download all');
    assert.equal((await download).suggestedFilename(), 'hosts-malware.rpz');
    await page.fill('input[name=text]', 'hxxp://203.0.113.7/a');
    await page.click('text=Explain');
    await page.waitForSelector('.why:has-text("Not on the list"):has-text("An address")');
    const first = /^[a-z0-9.-]+\.\w+$/m.exec(
      (await page.locator('.list-preview').innerText()).replaceAll(' CNAME .', ''),
    );
    await page.fill('input[name=text]', (first?.[0] ?? '').replaceAll('.', '[.]'));
    await page.click('text=Explain');
    await page.waitForSelector('.why:has-text("On the list")');
    await assertAccessible(page);
    await page.fill('input[name=text]', '   ');
    await page.click('text=Explain');
    await page.waitForSelector('form [role=alert]:has-text("Type a URL, a host name, an address or a network.")');
    await page.fill('input[name=text]', 'two words');
    await page.click('text=Explain');
    await page.waitForSelector('form [role=alert]:has-text("must be a URL, a host name")');
    await page.click('text=All lists');
    await page.waitForSelector(`tr:has-text("hosts-malware"):has-text("${entries}")`);
    assert.deepEqual(
      messages.filter((text) => !text.includes('400')),
      [],
    );
  });

  await t.test('an administrator defines, changes and removes a list, and excludes something', async () => {
    const visit = await portal.visit();
    const { page, open, messages } = visit;
    await open('/lists');
    await page.click('text=Define a list');
    await page.fill('dialog input[name=name]', 'urls-online');
    await page.selectOption('dialog select[name=kind]', 'addresses');
    await page.uncheck('dialog input[name=dataset-XBL]');
    await submit(page);
    await page.waitForSelector('dialog [role=alert]:has-text("already a list urls-online")');
    await assertAccessible(page);
    await page.fill('dialog input[name=name]', 'own');
    await page.fill('dialog input[name=description]', 'Without <i>XBL</i>');
    await submit(page);
    await page.click('a:text-is("own")');
    await page.waitForSelector('.facts:has-text("BCL, CSS, DROP")');
    await page.click('button:text-is("Change")');
    await page.fill('dialog input[name=age]', '7');
    await submit(page);
    await page.waitForSelector('.facts:has-text("7 days")');
    await page.click('text=All lists');
    await page.click('text=Exclude something');
    await page.fill('dialog input[name=value]', 'shop[.]example');
    await page.check('dialog input[name=subdomains]');
    await page.selectOption('dialog select[name=list]', 'own');
    await page.fill('dialog input[name=reason]', 'ours');
    await submit(page);
    await page.waitForSelector('tr:has-text("shop.example"):has-text("and its subdomains"):has-text("in 29 days")');
    await assertGood(visit, 'lists');
    await page.click('[aria-label="Remove: shop.example"]');
    await submit(page);
    await rowOf(page, 'shop.example').waitFor({ state: 'detached' });
    await page.click('td a:text-is("own")');
    await page.click('.page-head button:text-is("Remove")');
    await submit(page);
    await page.waitForSelector('h1:text-is("Lists for devices")');
    await settled(page);
    assert.equal(await page.locator('a:text-is("own")').count(), 0);
    assert.deepEqual(
      messages.filter((text) => !text.includes('400')),
      [],
    );
  });

  // Written some seconds after the fetch: the tests before took as long.
  await t.test('the last fetch of a key is shown, and the key is revoked', async () => {
    const { page, open, messages } = await portal.visit();
    await assertSoon(async () => {
      await open('/lists');
      return (await rowOf(page, 'firewall <b>').innerText()).includes('127.0.0.1');
    }, true);
    await page.setViewportSize({ width: WIDTHS.phone, height: 900 });
    await screenshot(page, 'keys-phone');
    await page.click('[aria-label="Revoke: firewall <b>, addresses-bcl"]');
    await submit(page);
    await rowOf(page, 'firewall <b>').waitFor({ state: 'detached' });
    assert.deepEqual(messages, []);
  });

  await t.test('a customer sees what the subscription has, and nothing of others', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTHS.phone });
    await page.route('**/api/portal/v1/session', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ json: { ...(await response.json()), admin: false } });
    });
    await page.route(LISTS, async (route) => {
      const { items } = await (await route.fetch()).json();
      for (const item of items) if (item.name === 'domains-listed') item.allowed = false;
      await route.fulfill({ json: { items } });
    });
    await open('/lists');
    await page.waitForSelector('text=Not part of your subscription: domains-listed (DOMAIN).');
    assert.equal(await page.locator('td a:text-is("domains-listed")').count(), 0);
    assert.deepEqual(await page.locator('h2').allTextContents(), ['Lists that you may fetch', 'Your keys']);
    await open('/lists/domains-listed');
    await page.waitForSelector('text=it needs the datasets DOMAIN');
    await open('/lists/nothing');
    assert.equal(await page.textContent('h1'), 'There is no list nothing');
    assert.deepEqual(messages, []);
  });

  await t.test('limit reached, a late copy, an empty list', async () => {
    const { page, open } = await portal.visit();
    const responses = [
      { status: 429, headers: { 'retry-after': '9' }, json: { message: 'Too many queries' } },
      { headers: { 'x-list-entries': '0', warning: '110 - "Response is Stale"', age: '7200' }, body: '# Entries: 0\n' },
    ];
    for (const [response, shown] of [
      [responses[0], '[role=alert]:has-text("Room again in")'],
      [responses[1], '.card:has-text("built 2 hours ago"):has(.badge:text-is("Late"))'],
    ] as const) {
      await page.route('**/api/lists/v1/**', (route) => route.fulfill(response));
      await open('/lists/urls-online');
      await page.waitForSelector(shown);
    }
    await assertAccessible(page);
    await page.waitForSelector('text=The list is empty.');
    await page.waitForSelector('text=Everything that fits the filter is on the list.');
  });

  await t.test('what is shown while a list is built stays at its place', async () => {
    const { page, open } = await portal.visit();
    await page.addInitScript(WATCH_SHIFTS);
    await page.route('**/api/lists/v1/**', async (route) => {
      await page.waitForSelector('text=The list is being built');
      await page.evaluate(TWO_FRAMES);
      await route.continue();
    });
    await open('/lists/urls-online');
    await page.waitForSelector('h2:text-is("Set up a device")');
    await page.evaluate(TWO_FRAMES);
    assert.deepEqual(await page.evaluate('shifted'), []);
  });

  await t.test('hostile texts', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTHS.phone });
    const [list] = (await (await page.context().request.get('/api/portal/v1/lists', HEADERS(portal.url))).json()).items;
    const items = HOSTILE.map((text, i) => ({
      ...list,
      name: `list-${i}`,
      description: text,
      families: [text],
      reporters: [text],
    }));
    const keys = HOSTILE.map((text, id) => ({
      id,
      list: 'list-0',
      device: text,
      created_ts: 1,
      last_fetch_ts: 1,
      last_fetch_address: text,
      last_fetch_etag: null,
      username: text,
    }));
    const exclusions = HOSTILE.map((text, id) => ({
      id,
      kind: 'url',
      value: text,
      subdomains: false,
      list: null,
      reason: text,
      set_ts: 1,
      until_ts: 2 ** 53,
      ended: false,
    }));
    const reasons = HOSTILE.map((text) => ({ reason: 'excluded', text }));
    await page.route(LISTS, (route) => route.fulfill({ json: { items } }));
    await page.route('**/api/admin/v1/list-keys', (route) => route.fulfill({ json: { items: keys } }));
    await page.route('**/api/admin/v1/exclusions', (route) => route.fulfill({ json: { items: exclusions } }));
    await page.route('**/explain', (route) =>
      route.fulfill({ json: { subject: HOSTILE[1], on_list: false, reasons } }),
    );
    await page.route('**/api/lists/v1/**', (route) =>
      route.fulfill({ headers: { 'x-list-entries': '4' }, body: `${HOSTILE.join('\n')}\n` }),
    );
    for (const path of ['/lists', '/lists/list-0']) {
      await open(path);
      if (path !== '/lists') {
        await page.fill('input[name=text]', 'x.example');
        await page.click('text=Explain');
        await page.waitForSelector('.why');
      }
      assert.equal(await page.locator('main img').count(), 0);
      await assertFits(page);
      await screenshot(page, `hostile${path.replaceAll('/', '-')}`);
      const text = await page.locator('main').innerText();
      for (const shown of ['<img src=x onerror=alert(1)>', 'a\\u202eb', 'half \\ud800']) {
        assert.ok(text.includes(shown), `${path}: ${shown}`);
      }
    }
    assert.deepEqual(messages, []);
  });
});

const HEADERS = (url: string) => ({ headers: { origin: url, 'sec-fetch-site': 'same-origin' } });
