import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../until.ts';
import { assertAccessible, assertFits, assertSoon, DEMO, LOOKS, openPortal, screenshot, settled } from './browser.ts';

test('account page', async (t) => {
  const portal = await openPortal(t);

  await t.test('limits, usage, sessions and API help in both themes and widths', async () => {
    for (const { name, theme, width } of LOOKS) {
      const { page, open, messages } = await portal.visit({ theme, width });
      await open('/account');
      assert.equal(await page.textContent('h1'), DEMO.username);
      assert.equal(await page.locator('.bars .bar').count(), 90);
      await assertAccessible(page);
      await assertFits(page);
      await screenshot(page, `account-${name}`);
      assert.deepEqual(messages, []);
    }
  });

  await t.test('a limited account sees bars with the soft limit and the time of the reset', async () => {
    const { page, open } = await portal.visit();
    const limits = { ads: 'URL,DOMAIN', trs: 'base', qms: 4_000, qmh: 5_000, rl_qph: 664, rl_qpm: 166, rl_qps: 21 };
    const current = { qpm: 4_800, qpd: 12, rl_qph: 700, rl_qpm: 3, rl_qps: 0 };
    await page.route('**/api/intel/v1/limits', (route) => route.fulfill({ json: { limits, current } }));
    await open('/account');
    const meters = await page
      .locator('[role=meter]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    assert.deepEqual(meters, [
      'This month: 4,800 of 5,000 queries',
      'This hour: 700 of 664 queries',
      'This minute: 3 of 166 queries',
      'This second: 0 of 21 queries',
    ]);
    await page.waitForSelector('text=/starts again on 1 \\w+ 20\\d\\d/');
    await assertAccessible(page);
    await screenshot(page, 'account-limited');
  });

  await t.test('other sessions can be ended', async () => {
    const { page, open } = await portal.visit();
    const other = await portal.visit({ hasOwnSession: true });
    await other.open('/account');
    await open('/account');
    const end = '**/api/portal/v1/sessions/end';
    await page.route(end, (route) => route.fulfill({ status: 503, json: { code: 503, message: 'Try again later' } }));
    await page.click('text=End all others');
    await page.waitForSelector('.toast.error:has-text("Try again later")');
    await page.unroute(end);
    await page.click('text=End all others');
    await page.waitForSelector('.toast:has-text("ended")');
    const sessions = page.locator('section[aria-label="Sessions of this account"] tbody tr');
    await until(async () => (await sessions.count()) === 1, 'the list of sessions is read again');
    // A node may use what it read of a session for two seconds.
    await assertSoon(async () => {
      await other.open('/account');
      return other.page.textContent('h1');
    }, 'Log in');
  });

  await t.test('the password is changed, and this browser stays logged in', async () => {
    const { page, open } = await portal.visit();
    await open('/account');
    await page.fill('input[name=current]', 'wrong');
    await page.fill('input[name=new]', 'correct horse battery');
    await page.keyboard.press('Enter');
    await page.waitForSelector('form [role=alert]');
    await page.fill('input[name=current]', DEMO.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.toast:has-text("The password is changed")');
    await page.reload();
    await settled(page);
    await assertSoon(() => page.textContent('h1'), DEMO.username);
    const login = (password: string) =>
      fetch(`${portal.url}/api/v1/login`, {
        method: 'POST',
        body: JSON.stringify({ username: DEMO.username, password, realm: 'intel' }),
      });
    assert.equal((await login(DEMO.password)).status, 401);
    assert.equal((await login('correct horse battery')).status, 200);
  });
});
