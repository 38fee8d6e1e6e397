import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../until.ts';
import { assertAccessible, assertFits, assertSoon, DEMO, LOOKS, openPortal, screenshot, settled } from './browser.ts';

test('frame, login and start page', async (t) => {
  const portal = await openPortal(t);

  await t.test('the page asks for the login and keeps the question', async () => {
    const { page, open, messages } = await portal.visit({ isLoggedIn: false });
    await open('/url?u=hxxp://203[.]0[.]113[.]7/bin.sh');
    assert.equal(await page.textContent('h1'), 'Log in');
    await assertAccessible(page);
    await screenshot(page, 'log-in');
    await page.waitForSelector('input[name=username]:focus'); // the first field gets the focus
    await page.keyboard.type(DEMO.username);
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    assert.match((await page.textContent('[role=alert]')) ?? '', /Authentication failed/);
    await page.fill('input[name=password]', DEMO.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.verdict');
    assert.equal(await page.textContent('h1'), 'http://203.0.113.7/bin.sh');
    const cookies = await page.context().cookies();
    assert.deepEqual(
      cookies.map(({ name, httpOnly, secure, sameSite, path }) => ({ name, httpOnly, secure, sameSite, path })),
      [{ name: '__Host-urlwarden', httpOnly: true, secure: true, sameSite: 'Strict', path: '/' }],
    );
    assert.deepEqual(
      messages.filter((message) => !is401(message)),
      [],
    );
  });

  await t.test('start page in both themes and widths', async () => {
    for (const { name, theme, width } of LOOKS) {
      const { page, open, messages } = await portal.visit({ theme, width });
      await open('/');
      await page.waitForSelector('text=Newest URLs');
      await assertAccessible(page);
      await assertFits(page);
      await screenshot(page, `start-${name}`);
      assert.deepEqual(messages, []);
    }
  });

  await t.test('keyboard only: skip link, box, list of meanings, answer, back', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/account');
    await page.keyboard.press('Tab');
    await page.waitForSelector('a:focus:text-is("Skip to the content")');
    await page.keyboard.press('/');
    await page.keyboard.type('files[.]example[.]com');
    await page.waitForSelector('.answers:not([hidden])');
    await assertAccessible(page);
    await page.keyboard.press('ArrowDown');
    await assertSoon(() => page.textContent('[aria-selected=true] .answer-kind'), 'URLs on the host');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?host=files.example.com');
    await page.waitForSelector('#main:focus'); // not the box, in which the next key would be a text
    await page.goBack();
    await page.waitForURL('**/account');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.deepEqual(messages, []);
  });

  await t.test('the theme is switched and kept', async () => {
    const { page, open } = await portal.visit({ hasOwnSession: true });
    await open('/');
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const system = await ground();
    for (const expected of ['light', 'dark']) {
      await page.click('button[aria-label^="Theme"]');
      await assertSoon(() => page.getAttribute('html', 'data-theme'), expected);
    }
    await until(async () => (await ground()) !== system, 'a dark page');
    await page.reload();
    await settled(page);
    assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
  });

  await t.test('a session that ended asks again and keeps the question; a server that is away says so', async () => {
    const { page, open, context } = await portal.visit({ hasOwnSession: true });
    await open('/account');
    await context.clearCookies();
    await page.click('a[href="/"]');
    await page.waitForSelector('text=Your session is over');
    await page.fill('input[name=username]', DEMO.username);
    await page.fill('input[name=password]', DEMO.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Newest URLs');
    await page.waitForSelector('#large-box:focus');
    await page.route('**/api/portal/v1/overview', (route) => route.abort());
    await page.reload();
    await page.waitForSelector('text=The server does not answer');
    await assertAccessible(page);
    await page.unroute('**/api/portal/v1/overview');
    await page.click('text=Try again');
    await page.waitForSelector('text=Newest URLs');
  });

  await t.test('logging out ends the session, also for a copy of the cookie', async () => {
    const { page, open, context } = await portal.visit({ hasOwnSession: true });
    await open('/');
    const [cookie] = await context.cookies();
    await page.click('text=Log out');
    await page.waitForSelector('h1:has-text("Log in")');
    await assertSoon(() => page.evaluate("localStorage.getItem('urlwarden-recent')"), '[]');
    const headers = { cookie: `${cookie?.name}=${cookie?.value}`, 'sec-fetch-site': 'same-origin' };
    assert.equal((await fetch(`${portal.url}/api/portal/v1/session`, { headers })).status, 401);
  });

  await t.test('a text that means nothing is refused in words', async () => {
    const { page, open } = await portal.visit();
    await open('/');
    await page.fill('#large-box', '<img src=x onerror=alert(1)>');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.toast:has-text("none of the things")');
  });
});

/** Chromium reports every response of 400 and above. */
const is401 = (message: string): boolean =>
  /Failed to load resource: the server responded with a status of 401/.test(message);
