import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertGood } from './admin-page.ts';
import { assertAccessible, assertFits, assertSoon, openPortal, screenshot, WIDTHS } from './browser.ts';

const HOSTILE = ['<img src=x onerror=alert(1)>', 'a\u202eb', `http://${'x'.repeat(8_000)}.example/`, 'half \ud800'];

test('overview, tiers, keys, audit log and health, for administrators', async (t) => {
  const portal = await openPortal(t);
  const tabs = [
    ['Tiers', 'Tiers'],
    ['Keys', 'Signing keys'],
    ['Audit log', 'Audit log'],
    ['Health', 'Health'],
  ] as const;

  await t.test('in both themes and widths', async () => {
    const visit = await portal.visit();
    const { page, open, messages } = visit;
    await open('/admin');
    await page.waitForSelector('.health li');
    await assertGood(visit, 'admin-overview');
    for (const [tab, title] of tabs) {
      await page.click(`.tabs a:text-is("${tab}")`);
      await page.waitForSelector(`h1:text-is("${title}")`);
      await page.waitForSelector('main :is(tbody tr, .facts)');
      assert.deepEqual(await page.locator('h1').allTextContents(), [title]);
      await assertGood(visit, `admin-${tab.toLowerCase()}`);
    }
    assert.deepEqual(messages, []);
  });

  await t.test('overview: unhealthy feeds, full accounts; or that all is well', async () => {
    const { page, open, messages } = await portal.visit();
    const feed = { state: 'healthy', last_success_ts: 1_700_000_000, last_error: null };
    const feeds = [
      { ...feed, name: 'well' },
      { ...feed, name: 'behind', state: 'late' },
      { ...feed, name: HOSTILE[0], state: 'failing', last_error: `HTTP 503 ${HOSTILE[1]}` },
    ];
    await page.route('**/api/admin/v1/feeds', (route) => route.fulfill({ json: { items: feeds } }));
    await open('/admin');
    assert.deepEqual(await page.locator('.unhealthy strong').allTextContents(), ['behind', HOSTILE[0]]);
    await page.waitForSelector('.unhealthy:has-text("HTTP 503 a\\\\u202eb")');
    await page.waitForSelector('.plain-list:has-text("customer@example.com") [role=meter]');
    await assertAccessible(page);
    await screenshot(page, 'admin-overview-unhealthy');
    await page.unroute('**/api/admin/v1/feeds');
    await page.route('**/api/admin/v1/feeds', (route) => route.fulfill({ json: { items: [feeds[0]] } }));
    await page.route('**/api/admin/v1/accounts', (route) => route.fulfill({ json: { items: [] } }));
    await page.route('**/api/admin/v1/audit?*', (route) => route.fulfill({ json: { items: [] } }));
    await open('/admin');
    await page.waitForSelector('text=All is well: 1 feed');
    await page.waitForSelector('text=None of 0 accounts');
    await page.waitForSelector('text=Nothing was changed yet');
    assert.deepEqual(messages, []);
  });

  await t.test('a tier is added, changed and removed; its rates follow the limit', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/admin/tiers');
    await page.click('text=Add a tier');
    assert.equal(await page.locator('dialog small:text-is("Empty: no limit")').count(), 4); // the limit and its three rates
    await page.fill('dialog input[name=name]', 'standard');
    await page.fill('dialog input[name=qmh]', '5,000');
    await page.waitForSelector('dialog small:text-is("Empty: 664")');
    await assertAccessible(page);
    await screenshot(page, 'admin-tier-add');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("There is a tier standard already")');
    await page.fill('dialog input[name=name]', 'trial');
    await page.fill('dialog input[name=rl_qps]', 'many');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("Queries per second: write a whole number")');
    await page.fill('dialog input[name=rl_qps]', '0');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("“Queries per second” must be at least 1")');
    await page.fill('dialog input[name=rl_qps]', '3');
    await page.fill('dialog input[name=qms]', '5001');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("Soft limit: write at most the hard limit, 5,000")');
    await page.fill('dialog input[name=qms]', '');
    await page.uncheck('dialog input[name=ads-DROP]');
    await page.click('dialog button[type=submit]');
    const row = page.locator('tbody tr:has-text("trial")');
    await row.waitFor();
    // Another tab does not know of it yet.
    await page.route('**/api/admin/v1/tiers', (route) => route.fulfill({ json: { items: [] } }), { times: 1 });
    await page.reload();
    await page.waitForSelector('text=There is no tier');
    await page.click('text=Add a tier');
    await page.fill('dialog input[name=name]', 'trial');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("There is a tier trial already")');
    await page.reload();
    await row.waitFor();
    const cells = (await row.locator('td').allTextContents()).slice(0, 8);
    assert.deepEqual(cells, ['trial', '5,000', '5,000', '664', '166', '3', 'URL, XBL, CSS, BCL, DOMAIN', '0']);
    await row.locator('text=Change').click();
    assert.equal(await page.inputValue('dialog input[name=rl_qps]'), '3');
    assert.equal(await page.inputValue('dialog input[name=rl_qph]'), '');
    await page.fill('dialog input[name=qmh]', '');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tbody tr:has-text("trial"):has-text("no limit")');
    await page.waitForSelector('button:focus:text-is("Change")');
    await page.click('tbody tr:has-text("partner") button:has-text("Remove")');
    await page.click('dialog button[type=submit]');
    assert.match((await page.textContent('dialog [role=alert]')) ?? '', /partner/);
    await page.keyboard.press('Escape');
    await row.locator('text=Remove').click();
    await page.click('dialog button[type=submit]');
    await row.waitFor({ state: 'detached' });
    assert.deepEqual(
      messages.filter((message) => !/status of 400/.test(message)),
      [],
    );
  });

  await t.test('keys are rotated, and a file is explained', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/admin/keys');
    const keys = page.locator('tbody tr');
    const before = await keys.count();
    await page.click('button:text-is("Rotate")');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector(`tbody tr:nth-child(${before + 1})`);
    await screenshot(page, 'admin-keys-rotated');
    await page.click('button:text-is("Rotate and end all tokens")');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('tbody tr:nth-child(2)', { state: 'detached' });
    await assertSoon(() => keys.count(), 1);
    const json = { from_file: true, items: [{ kid: HOSTILE[1], created_ts: null, signs: true }] };
    await page.route('**/api/admin/v1/keys', (route) => route.fulfill({ json }));
    await open('/admin/keys');
    await page.waitForSelector('text=--signing-key-file');
    assert.equal(await page.locator('button:has-text("Rotate")').count(), 0);
    assert.deepEqual(messages, []);
  });

  await t.test('audit log: the filter is in the address; changes are shown as old → new', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/admin/audit');
    const all = await page.locator('tbody tr').count();
    await page.selectOption('select[name=action]', 'account');
    await page.fill('input[name=subject]', 'former@example.com');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin/audit?action=account&subject=former%40example.com');
    await page.waitForSelector(`tbody:not(:has(tr:nth-child(${all})))`);
    await assertSoon(() => page.locator('tbody tr').count(), 2);
    await page.waitForSelector('td.wide .changes li:has-text("enabled: yes → no")');
    await page.fill('input[name=until]', '2020-01-01');
    await page.click('text=Show');
    await page.waitForSelector('text=No change fits this filter');
    await assertAccessible(page);
    await page.goBack();
    await page.waitForSelector('tbody tr');
    await page.click('text=Show all changes');
    await page.waitForSelector(`tbody tr:nth-child(${all})`);
    const base = { ts: 1_700_000_000, source: 'page', origin: HOSTILE[0], actor: HOSTILE[3], action: 'account.add' };
    const items = HOSTILE.map((subject, id) => {
      return { ...base, id, subject, changes: { [HOSTILE[0] ?? '']: { old: HOSTILE[2], new: HOSTILE[1] } } };
    });
    await page.route('**/api/admin/v1/audit?*', (route) => route.fulfill({ json: { items } }));
    for (const width of Object.values(WIDTHS)) {
      await page.setViewportSize({ width, height: 900 });
      await open('/admin/audit');
      assert.equal(await page.locator('tbody ins:visible:text-is("a\\\\u202eb")').count(), HOSTILE.length);
      await assertFits(page);
    }
    assert.deepEqual(messages, []);
  });

  await t.test('health: what is wrong is said in words; a server that is away', async () => {
    const { page, open, messages } = await portal.visit();
    const ts = Math.floor(Date.now() / 1_000);
    const node = { node: '1', name: HOSTILE[0], version: '1', started_ts: ts - 900, seen_ts: ts, current: true };
    const store = { engine: 'postgres', place: HOSTILE[1], ready: false, problem: 'The database does not answer' };
    const json = {
      store: { ...store, size_bytes: null, free_bytes: null, faults: false },
      redis: { used: true, up: false, limits: 'local' },
      nodes: [node, { ...node, node: '2', name: 'second', seen_ts: ts - 600, current: false }],
      tables: { networks: false },
    };
    await page.route('**/api/admin/v1/health', (route) => route.fulfill({ json }));
    await open('/admin/health');
    await page.waitForSelector('text=PostgreSQL does not answer: The database does not answer');
    await page.waitForSelector('text=Redis is down: each server counts queries alone');
    await page.waitForSelector('text=Start the server with --asn-db');
    await page.waitForSelector('tbody tr:has-text("second") .badge:text-is("away")');
    await assertAccessible(page);
    await screenshot(page, 'admin-health-unhealthy');
    assert.deepEqual(messages, []);
    await page.route('**/api/admin/v1/health', (route) => route.abort());
    await page.reload();
    await page.waitForSelector('text=The server does not answer');
    await assertAccessible(page);
  });
});
