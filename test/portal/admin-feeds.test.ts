import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, DEMO, openPortal, rowOf, screenshot, settled, WIDTHS } from './browser.ts';
import { assertShowsHostile } from './hostile.ts';

const API = '**/api/admin/v1';

test('page of feeds', async (t) => {
  const portal = await openPortal(t);

  await t.test('both themes and widths', async () => {
    for (const [theme, name] of [
      ['light', 'desktop'],
      ['dark', 'phone'],
    ] as const) {
      const { page, open, messages } = await portal.visit({ theme, width: WIDTHS[name] });
      for (const [path, title] of [['feeds', 'Feeds']]) {
        await open(`/admin/${path}`);
        assert.deepEqual(await page.locator('h1').allTextContents(), [title]);
        await page.click('text=Add a feed');
        await page.waitForSelector('.known li');
        await settled(page);
        await assertAccessible(page);
        await assertFits(page);
        await screenshot(page, `${path}-${theme}-${name}`);
      }
      assert.deepEqual(messages, []);
    }
  });

  await t.test('unhealthy feeds say since when, why, and what to do', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/feeds');
    const cards = await page.locator('.unhealthy-feed').allTextContents();
    assert.equal(cards.length, 2);
    await page.waitForSelector('h2:text-is("Failing or late: 2 feeds")');
    const failing = cards.find((text) => text.startsWith('failing')) ?? '';
    assert.match(failing, /demo-failing.*No success since .*None of the 31 rows.*rejected rows/);
    assert.match(
      cards.find((text) => text.startsWith('late')) ?? '',
      /for 5 days.*responded with 503.*by itself.*of the demo/,
    );
    assert.equal(await rowOf(page, 'demo-urls').locator('.bars .bar').count(), 14);
    await page.click('text=Show the rejected rows');
    await page.waitForSelector('h1:has-text("Import ")');
    await page.waitForSelector('.reason:has-text("not a domain name"):has-text("31 rows")');
    assert.match(await page.locator('.samples').innerText(), /<!doctype html>/);
    await assertAccessible(page);
    await screenshot(page, 'import-rejects');
  });

  await t.test('hundreds of failing feeds are folded and can be filtered', async () => {
    const { page, open } = await portal.visit({ width: WIDTHS.phone });
    await page.route(`${API}/feeds`, async (route) => {
      const { items } = (await (await route.fetch()).json()) as { items: { state: string }[] };
      const failing = items.find(({ state }) => state === 'failing');
      const more = Array.from({ length: 300 }, (_, i) => ({ ...failing, name: `list-${i}` }));
      await route.fulfill({ json: { items: [...items, ...more] } });
    });
    await open('/admin/feeds?state=unhealthy');
    assert.equal(await page.locator('.unhealthy-feed').count(), 3);
    assert.equal(await page.locator('tbody tr').count(), 50);
    await page.click('.card:has(.unhealthy-feed) >> text=Show 299 more');
    await page.waitForSelector('.listings li:nth-child(4) a:focus');
    assert.equal(await page.locator('.unhealthy-feed').count(), 302);
    await page.fill('input[type=search]', 'list-299');
    await page.waitForSelector('h2:text-is("Failing or late: 1 feed")');
    await page.waitForSelector('.table-filter [role=status]:has-text("1 of 30")');
    assert.equal(await page.locator('tbody tr').count(), 1);
    await assertAccessible(page);
    await assertFits(page);
    await screenshot(page, 'feeds-filter');
    await page.fill('input[type=search]', 'nothing');
    await page.waitForSelector('text=No feed matches the filter');
  });

  await t.test('run now shows the progress until the run has ended', async () => {
    const { page, open } = await portal.visit();
    let isRunning = false;
    await page.route(`${API}/feeds/demo-urls/run`, (route) => {
      isRunning = true;
      return route.fulfill({ json: {} });
    });
    await page.route(`${API}/feeds`, async (route) => {
      const response = await route.fetch();
      const { items } = (await response.json()) as { items: { name: string; running: boolean; runs: object[] }[] };
      const feed = items.find(({ name }) => name === 'demo-urls') ?? assert.fail();
      if (isRunning) {
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
    isRunning = false;
    await page.waitForSelector('tr:has-text("demo-urls") :text-is("Run now")');
  });

  await t.test('while the server is away, the table and a form stay; later it is asked again', async () => {
    const { page, open } = await portal.visit();
    await page.clock.install();
    await open('/admin/feeds');
    await page.click('[aria-label="Edit: demo-urls"]');
    await page.fill('dialog input[name=url]', 'https://new.example/');
    await page.route(`${API}/feeds`, (route) => route.abort());
    await page.clock.runFor(31_000);
    await page.waitForSelector('[role=alert]:has-text("The server does not answer")');
    await page.waitForSelector('text=Below is what was read before');
    await page.unroute(`${API}/feeds`);
    await page.clock.runFor(31_000);
    await page.waitForSelector('[role=alert]', { state: 'detached' });
    assert.equal(await page.inputValue('dialog input[name=url]'), 'https://new.example/');
    // So do they while the session is over.
    await page.route(`${API}/feeds`, (route) => route.fulfill({ status: 401, json: { message: 'no' } }));
    await page.clock.runFor(31_000);
    await page.waitForSelector('text=Your session is over');
    await page.unroute(`${API}/feeds`);
    await page.fill('.login input[name=username]', DEMO.username);
    await page.fill('.login input[name=password]', DEMO.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.login', { state: 'detached' });
    await page.waitForSelector('[role=alert]', { state: 'detached' });
    assert.equal(await page.inputValue('dialog input[name=url]'), 'https://new.example/');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    // A refusal is another answer: what was read before is gone.
    await page.route(`${API}/feeds`, (route) => route.fulfill({ status: 403, json: { message: 'no' } }));
    await page.clock.runFor(31_000);
    await page.waitForSelector('[role=alert]:has-text("Not allowed")');
    assert.equal(await page.locator('tbody tr').count(), 0);
  });

  await t.test('a feed is paused, resumed, changed and removed', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/feeds');
    await page.focus('[aria-label="Pause: demo-late"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('tr:has-text("demo-late") .badge:text-is("paused")');
    await page.waitForSelector('[aria-label="Resume: demo-late"]:focus');
    await page.click('[aria-label="Edit: demo-late"]');
    await page.selectOption('dialog select[name=every]', '3600');
    await page.fill('dialog input[name=header]', 'Auth-Key');
    await page.click('dialog >> text=Save');
    await page.waitForSelector('dialog [role=alert]:has-text("a name and a value")');
    await assertAccessible(page);
    await screenshot(page, 'feed-edit');
    await page.fill('dialog input[name=secret]', 'x'.repeat(5_000));
    await page.click('dialog >> text=Save');
    await page.waitForSelector('dialog [role=alert]:has-text("“Header with an access key” must have at most 4096")');
    await page.fill('dialog input[name=secret]', 'secret');
    await page.click('dialog >> text=Save');
    await page.waitForSelector('tr:has-text("demo-late"):has-text("every hour")');
    await page.click('[aria-label="Remove: demo-late"]');
    await page.click('dialog >> text=Remove the feed');
    await page.waitForSelector('tr:has-text("demo-late")', { state: 'detached' });
    await page.waitForSelector('.table:focus');
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
    await page.waitForSelector('form.form [role=alert]:has-text("has no address")');
    assert.deepEqual(sent, {
      name: 'mine',
      format: 'ip-list',
      url: 'https://feeds.example/list.txt',
      interval_seconds: 86_400,
      dataset: 'BCL',
    });
  });

  await t.test('hostile texts, no feed', async () => {
    const visit = await portal.visit({ width: WIDTHS.phone });
    await assertShowsHostile(visit, '/admin/feeds');
    await visit.page.click('text=Add a feed');
    await visit.page.waitForSelector('.known li');
    await assertFits(visit.page);
    assert.deepEqual(visit.messages, []);
    await visit.page.route(`${API}/feeds`, (route) => route.fulfill({ json: { items: [] } }));
    await visit.open('/admin/feeds');
    await visit.page.waitForSelector('text=No feed is fetched yet');
  });
});
