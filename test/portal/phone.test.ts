import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, assertSoon, assertWhole, openPortal, screenshot } from './browser.ts';

/** The narrowest phones that are in use. */
const WIDTH = 360;

const nowTs = () => Math.floor(Date.now() / 1_000);

test('pages on a narrow phone', async (t) => {
  const portal = await openPortal(t);

  await t.test('a list that has just changed', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTH });
    await page.route('**/api/lists/v1/**', (route) =>
      route.fulfill({
        headers: { 'x-list-entries': '123456', 'last-modified': new Date(Date.now() - 45_000).toUTCString() },
        body: '# Entries: 123456\n',
      }),
    );
    await open('/lists/urls-online');
    await page.waitForSelector('.stats time:has-text("seconds ago")');
    await assertFits(page);
    await screenshot(page, 'phone-list');
    assert.deepEqual(messages, []);
  });

  await t.test('a time is divided between day and hour only', async () => {
    const { page, open } = await portal.visit({ width: WIDTH });
    for (const path of ['/url?u=http://203.0.113.7/bin.sh', '/admin/audit']) {
      await open(path);
      const lines = await page.evaluate<number[]>(`[...document.querySelectorAll('.when time')].map((time) => {
        const day = document.createRange();
        day.setStart(time.firstChild, 0);
        day.setEnd(time.firstChild, '2026-11-18'.length);
        return day.getClientRects().length;
      })`);
      assert.deepEqual([...new Set(lines)], [1], path);
    }
  });

  await t.test('what is wrong with a long form is seen at once', async () => {
    const { page, open } = await portal.visit({ width: WIDTH });
    await page.setViewportSize({ width: WIDTH, height: 640 });
    await open('/admin/lists');
    await page.click('text=Add a listing');
    await page.fill('dialog input[name=reason]', 'scans us');
    await page.fill('dialog input[name=cidr]', 'here');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog [role=alert]');
    const isSeen = () =>
      page.evaluate<boolean>(
        `document.querySelector('dialog [role=alert]').getBoundingClientRect().bottom <= innerHeight`,
      );
    await assertSoon(isSeen, true);
  });

  await t.test('the buttons of feeds, keys and exclusions are whole', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTH });
    const key = {
      id: 1,
      device: 'firewall-branch-office',
      list: 'addresses-bcl',
      username: 'customer@example.com',
      created_ts: nowTs() - 90_000,
      last_fetch_ts: nowTs() - 45,
      last_fetch_address: '2001:db8:1234:5678::abcd',
    };
    const exclusion = {
      id: 1,
      kind: 'host',
      value: 'downloads.partner.example',
      subdomains: true,
      list: null,
      reason: 'a partner',
      set_ts: nowTs(),
      until_ts: nowTs() + 45 * 60,
      ended: false,
    };
    await page.route('**/api/admin/v1/list-keys', (route) => route.fulfill({ json: { items: [key] } }));
    await page.route('**/api/admin/v1/exclusions', (route) => route.fulfill({ json: { items: [exclusion] } }));
    await open('/lists');
    await page.waitForSelector('tr:has-text("downloads.partner.example")');
    await page.waitForSelector('tr:has-text("firewall-branch-office")');
    await screenshot(page, 'phone-lists');
    await assertWhole(page);
    await open('/admin/feeds');
    await page.waitForSelector('tr:has-text("demo-failing")');
    await screenshot(page, 'phone-feeds');
    await assertWhole(page);
    await assertAccessible(page);
    assert.deepEqual(messages, []);
  });

  await t.test('an import has its rows', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTH });
    const one = {
      id: 7,
      format: 'misp-warninglist',
      feed: 'warninglist-url-shortener',
      source: 'warninglist-url-shortener.json',
      started_ts: nowTs() - 2_520,
      finished_ts: nowTs() - 2_500,
      state: 'refused',
      error: null,
      read: 1_234_567,
      added: 0,
      changed: 1_233_333,
      rejected: 1_234,
      went_offline: 0,
    };
    await page.route('**/api/admin/v1/imports*', (route) => route.fulfill({ json: { items: [one] } }));
    await open('/admin/imports');
    await page.waitForSelector('tr:has-text("1,234,567 rows, 1,234 rejected")');
    await screenshot(page, 'phone-imports');
    await assertWhole(page);
    await assertAccessible(page);
    assert.deepEqual(messages, []);
  });

  await t.test('the audit log has who and from where, a payload its type and size', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTH });
    const entry = {
      id: 1,
      ts: 1_790_000_000,
      source: 'page',
      actor: 'demo@example.com',
      origin: '192.0.2.77',
      action: 'account.set',
      subject: 'customer@example.com',
      changes: { tier: { old: 'developer', new: 'standard' } },
    };
    await page.route('**/api/admin/v1/audit?*', (route) => route.fulfill({ json: { items: [entry] } }));
    await open('/admin/audit');
    await page.waitForSelector('tbody tr');
    const row = await page.locator('tbody tr').first().innerText();
    assert.match(row, /by demo@example\.com\s+on a page, from 192\.0\.2\.77/);
    await assertFits(page);
    await assertWhole(page);
    await assertAccessible(page);
    await screenshot(page, 'phone-audit');
    await open('/url?u=http://203.0.113.7/bin.sh');
    const payload = await page.locator('section[aria-label^="Payloads"] tbody tr').first().innerText();
    assert.match(payload, /\w+, [\d.,]+ (B|bytes|kB|KiB|MB)/);
    await assertFits(page);
    await assertWhole(page);
    await screenshot(page, 'phone-url');
    assert.deepEqual(messages, []);
  });

  await t.test('long names without a place to break', async () => {
    const { page, open } = await portal.visit({ width: WIDTH });
    const host = `${'h'.repeat(60)}.${'k'.repeat(60)}.example`;
    for (const path of [`/url?u=http://${host}/`, `/domain/${host}`, `/search?host=${host}`]) {
      await open(path);
      await assertFits(page);
    }
  });

  await t.test('a long family and a long reporter leave room for the other columns', async () => {
    const { page, open } = await portal.visit({ width: WIDTH });
    const long = 'F'.repeat(110);
    await page.route('**/api/portal/v1/{url,address/*}', async (route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({ body: text.replaceAll('"Mirai"', `"${long}"`).replaceAll('"nightwatch"', `"${long}"`) });
    });
    await open('/url?u=http://203.0.113.7/bin.sh');
    await page.waitForSelector(`button:has-text("${long}")`);
    await assertFits(page);
    const name = page.locator('.name', { hasText: long }).first();
    assert.ok(
      ((await name.boundingBox())?.width ?? Infinity) < WIDTH / 2,
      'a long name has less than half of the width',
    );
    await screenshot(page, 'phone-long-family');
    await page.setViewportSize({ width: 1280, height: 900 });
    await open('/address/203.0.113.7');
    const urls = page.locator('section[aria-label^="URLs"]');
    await urls.locator('.name', { hasText: long }).first().waitFor();
    assert.ok(((await urls.locator('td a').first().boundingBox())?.height ?? Infinity) < 30, 'a URL has one line');
    await assertWhole(page);
  });

  await t.test('an account whose name is blank can be seen and opened', async () => {
    const { page, open } = await portal.visit({ width: WIDTH });
    await page.route('**/api/admin/v1/accounts', async (route) => {
      const { items } = await (await route.fetch()).json();
      await route.fulfill({ json: { items: [{ ...items[0], sub: 'blank', username: '   ' }, ...items] } });
    });
    await open('/admin/accounts');
    const link = page.getByRole('link', { name: '(blanks)' });
    assert.ok(((await link.boundingBox())?.width ?? 0) > 40);
    await link.click();
    await page.waitForURL('**/admin/accounts?name=%20%20%20');
    await page.waitForSelector('h1:has-text("(blanks)")');
  });
});
