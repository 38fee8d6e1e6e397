import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { assertAccessible, assertFits, assertSoon, openPortal, rowOf, screenshot, WIDTHS } from './browser.ts';
import { assertShowsHostile } from './hostile.ts';

const API = '**/api/admin/v1';

/** As a person drops a file. */
const DROP = `
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(['x'], 'dropped.csv'));
  document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
`;

test('pages of imports and of lists by hand', async (t) => {
  const portal = await openPortal(t, { allowReserved: true });

  await t.test('both themes and widths', async () => {
    for (const [theme, name] of [
      ['light', 'desktop'],
      ['dark', 'phone'],
    ] as const) {
      const { page, open, messages } = await portal.visit({ theme, width: WIDTHS[name] });
      for (const [path, title] of [
        ['imports', 'Imports'],
        ['lists', 'Lists by hand'],
      ]) {
        await open(`/admin/${path}`);
        assert.deepEqual(await page.locator('h1').allTextContents(), [title]);
        await assertAccessible(page);
        await assertFits(page);
        await screenshot(page, `${path}-${theme}-${name}`);
      }
      assert.deepEqual(messages, []);
    }
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
      name: 'two<b>.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`${text.join('\r\n')}\r\n`),
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

  await t.test('a refused upload keeps the form, an unknown import is named', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/imports');
    await page.route(`${API}/imports?*`, (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '5' },
        json: { message: 'Another uploaded file is being imported' },
      }),
    );
    const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('x') };
    await page.evaluate(DROP);
    await page.waitForSelector('.drop:has-text("dropped.csv")');
    await page.setInputFiles('input[type=file]', file);
    await page.click('button:text-is("Import")');
    await page.waitForSelector('form [role=alert]:has-text("Another uploaded file"):has-text("Room again in")');
    await open('/admin/imports?id=987654');
    await page.waitForSelector('[role=alert]:has-text("There is no import 987654")');
  });

  await t.test('a file that was changed is chosen again', async (t) => {
    const { page, open } = await portal.visit();
    await open('/admin/imports');
    const file = join(temporaryFolder(t), 'hosts.txt');
    writeFileSync(file, 'http://changed.example/a\n');
    await page.selectOption('select[name=format]', 'url-list');
    await page.setInputFiles('input[type=file]', file);
    await page.waitForSelector('.drop:has-text("25 B")');
    writeFileSync(file, 'http://changed.example/a\nhttp://changed.example/b\n');
    utimesSync(file, 1_800_000_000, 1_800_000_000); // browsers compare the seconds
    await page.click('button:text-is("Import")');
    await page.waitForSelector('form [role=alert]:has-text("Choose it again")');
    await page.setInputFiles('input[type=file]', file);
    await page.waitForSelector('.drop:has-text("50 B")');
    await page.click('button:text-is("Import")');
    await page.waitForSelector('.verdict .badge:text-is("done")');
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
    await page.fill('dialog input[name=cidr]', 'here');
    await page.fill('dialog input[name=botname]', 'x'.repeat(2_000));
    await page.fill('dialog input[name=reason]', 'scans us');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("“Address or network” must be like")');
    await page.fill('dialog input[name=cidr]', '203.0.113.200');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("Malware family: at most 1024")');
    await page.fill('dialog input[name=botname]', '');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("203.0.113.200"):has-text("live"):has-text("scans us")');
    await page.click('text=Allow a network');
    await page.fill('dialog input[name=cidr]', '203.0.113.200');
    await page.fill('dialog input[name=reason]', 'ours');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("203.0.113.200"):has-text("allowed"):has-text("scans us")');
    await page.click('[aria-label="Remove: 203.0.113.200"]');
    await page.click('dialog >> text=Take it off');
    await page.waitForSelector('tr:has-text("203.0.113.200"):has-text("live"):has-text("scans us")');
    await page.click('[aria-label^="Remove: 203.0.113.200"]');
    await page.fill('dialog input[name=reason]', 'it was us');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("203.0.113.200"):has-text("it was us")');
    await page.click('text=Remove a listing');
    await page.fill('dialog input[name=cidr]', '203.0.113.201');
    await page.fill('dialog input[name=reason]', 'ours');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert] p:text-is("203.0.113.201 has no live listing of its own.")');
    assert.doesNotMatch(await page.innerText('dialog [role=alert]'), /urlwarden/, 'who reads a page may have no shell');
    await page.keyboard.press('Escape');
    await page.click('text=Allow a network');
    await page.fill('dialog input[name=cidr]', '192.0.2.128/25');
    await page.fill('dialog input[name=reason]', 'our office');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("192.0.2.128/25"):has-text("by hand")');
    await screenshot(page, 'lists-filled');
    await page.click('[aria-label="Remove: 192.0.2.128/25"]');
    await page.click('dialog >> text=Take it off');
    await page.waitForSelector('tr:has-text("192.0.2.128/25")', { state: 'detached' });
    await page.click('[aria-label="Edit: bad-shop.example"]');
    await page.fill('dialog input[name=human]', '0');
    await page.fill('dialog input[name=reason]', 'cleaned');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tr:has-text("bad-shop.example")', { state: 'detached' });
    assert.deepEqual(
      messages.filter((text) => !/status of 40[04]/.test(text)),
      [],
    );
  });

  await t.test('a dialog closed before the response: what happened is said, and other dialogs stay', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/lists');
    const responses: (() => void)[] = [];
    await page.route(`${API}/allow`, async (route) => {
      if (route.request().method() === 'POST') await new Promise<void>((resolve) => responses.push(resolve));
      await route.continue();
    });
    const allow = async (cidr: string) => {
      await page.click('text=Allow a network');
      await page.fill('dialog input[name=cidr]', cidr);
      await page.fill('dialog input[name=reason]', 'ours');
      await Promise.all([page.waitForRequest(`${API}/allow`), page.click('dialog button[type=submit]')]);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
    };
    await allow('192.0.2.200');
    await page.click('text=Set a domain');
    await page.fill('dialog input[name=domain]', 'typed.example');
    responses.pop()?.();
    await page.waitForSelector('tr:has-text("192.0.2.200"):has-text("by hand")');
    assert.equal(await page.inputValue('dialog input[name=domain]'), 'typed.example');
    await page.keyboard.press('Escape');
    await allow('nowhere');
    responses.pop()?.();
    await page.waitForSelector('.toast.error:has-text("nowhere")');
  });

  await t.test('long lists and a long audit log begin with 100 rows', async () => {
    const { page, open } = await portal.visit();
    const times = { ts: 1, set_ts: 1, listed_ts: 1, seen_ts: 1, valid_until_ts: 2, removed_ts: 1, until_ts: 2 };
    const row = {
      source: 'manual',
      reason: '',
      dataset: 'DROP',
      state: 'listed',
      botname: null,
      port: null,
      details: {},
    };
    const items = Array.from({ length: 500 }, (_, i) => ({
      ...row,
      ...times,
      cidr: `10.${i >> 8}.${i & 255}.0`,
      domain: `d${i}.example`,
      human: 1,
      abused: null,
    }));
    const listings = { added: items, added_truncated: false, removed: items, removed_truncated: false };
    for (const name of ['allow', 'domains'])
      await page.route(`${API}/${name}`, (route) => route.fulfill({ json: { items, truncated: name === 'allow' } }));
    await page.route(`${API}/listings`, (route) => route.fulfill({ json: listings }));
    await open('/admin/lists');
    const tableOf = (name: string) => page.getByRole('region', { name });
    for (const name of ['Domains set by hand', 'Listings added by hand', 'Listings removed by hand'])
      assert.equal(await tableOf(name).locator('tbody tr').count(), 100, name);
    const table = tableOf('Networks that are never listed');
    assert.equal(await table.locator('tbody tr').count(), 100);
    await table.getByText('Show 400 more').click();
    await assertSoon(() => table.locator('tbody tr').count(), 500);
    await page.waitForSelector('text=There are more: these are the first 500.');
    for (const name of ['Networks that are never listed', 'Listings added by hand', 'Listings removed by hand']) {
      await tableOf(name).getByRole('button', { name: 'Network', exact: true }).click();
      await tableOf(name).locator('tbody tr:first-child:has-text("10.1.243.0")').waitFor();
    }

    const entry = { action: 'key.add', subject: 'k', source: 'cli', actor: 'root', origin: 'host', changes: {} };
    const entries = Array.from({ length: 1_000 }, (_, id) => ({ id, ts: id, ...entry }));
    await page.route(`${API}/audit?*`, (route) => route.fulfill({ json: { items: entries } }));
    await open('/admin/audit');
    assert.equal(await page.locator('tbody tr').count(), 100);
    await page.waitForSelector('text=Choose days to see older ones');
    await page.click('text=Show 500 of 900 more');
    await assertSoon(() => page.locator('tbody tr').count(), 600);
  });

  await t.test('hostile texts', async () => {
    const { messages, ...visit } = await portal.visit({ width: WIDTHS.phone });
    for (const path of ['imports', 'imports?id=1', 'lists']) {
      await assertShowsHostile({ messages, ...visit }, `/admin/${path}`);
    }
    assert.deepEqual(messages, []);
  });

  await t.test('a server that is away', async () => {
    const { page, open } = await portal.visit();
    await page.route(`${API}/imports?*`, (route) => route.abort());
    await open('/admin/imports');
    await page.waitForSelector('[role=alert]:has-text("The server does not answer")');
  });
});
