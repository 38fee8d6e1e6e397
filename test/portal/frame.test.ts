import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../until.ts';
import { assertAccessible, assertFits, assertSoon, DEMO, LOOKS, openPortal, screenshot, settled } from './browser.ts';

test('frame, login and start page', async (t) => {
  const portal = await openPortal(t);

  await t.test('the page asks for the login and keeps the query', async () => {
    const { page, open, messages } = await portal.visit({ isLoggedIn: false });
    await open('/url?u=hxxp://203[.]0[.]113[.]7/bin.sh');
    assert.equal(await page.textContent('h1'), 'Log in');
    const top = (await page.locator('main').boundingBox())?.y;
    await assertAccessible(page);
    await screenshot(page, 'log-in');
    await page.waitForSelector('input[name=username]:focus'); // the first field gets the focus
    await page.keyboard.type(DEMO.username);
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    assert.match((await page.textContent('[role=alert]')) ?? '', /Username or password is wrong\./);
    const session = '**/api/portal/v1/session';
    await page.route(session, (route) => route.fulfill({ status: 401, json: { message: 'no' } }));
    await page.fill('input[name=password]', DEMO.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]:has-text("the browser did not keep the session")');
    await page.unroute(session);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.verdict');
    assert.equal(await page.textContent('h1'), 'http://203.0.113.7/bin.sh');
    assert.equal((await page.locator('main').boundingBox())?.y, top, 'the page does not move when the box appears');
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
      // Not the number of addresses: one has a listing for each source, family and port.
      await page.waitForSelector('.facts dt:text-is("Live listings of addresses")');
      await assertAccessible(page);
      await assertFits(page);
      await screenshot(page, `start-${name}`);
      assert.deepEqual(messages, []);
    }
  });

  await t.test('without data: what to do, and the first import appears by itself', async () => {
    const { page, open } = await portal.visit();
    const overview = '**/api/portal/v1/overview';
    await page.clock.install();
    await page.route(overview, async (route) => {
      const json = await (await route.fetch()).json();
      await route.fulfill({ json: { ...json, totals: { ...json.totals, urls: 0 }, newest: [], feeds: [] } });
    });
    await open('/');
    const links = page.locator('.empty a');
    assert.deepEqual(await links.allTextContents(), ['Add a feed', 'import a file', 'Add a feed']);
    await assertAccessible(page);
    await page.route('**/api/portal/v1/session', async (route) => {
      await route.fulfill({ json: { ...(await (await route.fetch()).json()), admin: false } });
    });
    await open('/');
    await page.waitForSelector('text=An administrator can add a feed or import a file.');
    assert.equal(await links.count(), 0);
    await page.unroute(overview);
    await page.clock.fastForward(31_000);
    await page.waitForSelector('section[aria-label="The newest URLs"]');
  });

  await t.test('the hint of the box in the header is whole', async () => {
    for (const width of [360, 800, 1160, 1280]) {
      const { page, open } = await portal.visit({ width });
      await open('/account');
      const isWhole = await page.evaluate<boolean>(`(() => {
        const input = document.querySelector('.box input');
        const { fontSize, fontFamily, paddingLeft, paddingRight } = getComputedStyle(input);
        const context = document.createElement('canvas').getContext('2d');
        context.font = fontSize + ' ' + fontFamily;
        const room = input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
        return context.measureText(input.placeholder).width <= room;
      })()`);
      assert.ok(isWhole, `${width} pixels`);
    }
  });

  await t.test('the header has one row, or the box has a row of its own; links have room for a finger', async () => {
    const { page, open } = await portal.visit();
    await open('/account');
    const tops = () =>
      page.evaluate<number[]>(`[...document.querySelectorAll('.brand, .header nav, .header-end, .header .box')]
        .map((part) => part.getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 2))`);
    const targets = () =>
      page.evaluate<number[]>(`[...document.querySelectorAll('.brand, .header nav a')]
        .map((link) => link.getBoundingClientRect().height).filter((height) => height > 0)`);
    for (const [width, hasOwnRow] of [
      [390, true],
      [960, true],
      [1_024, true],
      [1_160, false],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const [brand, box = 0, ...others] = await tops();
      assert.deepEqual(new Set([...others, ...(hasOwnRow ? [] : [box])]), new Set([brand]), `${width} pixels`);
      assert.equal(box > (brand ?? 0), hasOwnRow, `${width} pixels`);
      assert.ok(Math.min(...(await targets())) >= 36, `${width} pixels`);
      assert.ok(((await page.locator('.brand').boundingBox())?.width ?? 0) >= 36, `${width} pixels`);
    }
  });

  await t.test('keyboard only: skip link, box, list of suggestions, page, back', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/account');
    await page.keyboard.press('Tab');
    await page.waitForSelector('a:focus:text-is("Skip to the content")');
    await page.keyboard.press('/');
    await page.keyboard.type('files[.]example[.]com');
    await page.waitForSelector('.suggestions:not([hidden])');
    await assertAccessible(page);
    await page.keyboard.press('ArrowDown');
    await assertSoon(() => page.textContent('[aria-selected=true] .suggestion-kind'), 'URLs on the host');
    await page.emulateMedia({ forcedColors: 'active' });
    const ground = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    assert.notEqual(
      await ground('[aria-selected=true]'),
      await ground('.suggestions'),
      'with the colours of the system',
    );
    await page.emulateMedia({ forcedColors: 'none' });
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowDown'); // Escape has dropped the choice: this is the second one again
    await assertSoon(() => page.textContent('[aria-selected=true] .suggestion-kind'), 'URLs on the host');
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
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(20, 23, 28)', 'on white paper');
  });

  await t.test('a session that ended asks again and keeps the query; a server that is away says so', async () => {
    const { page, open, context } = await portal.visit({ hasOwnSession: true });
    await open('/account');
    await context.clearCookies();
    await page.click('a[href="/"]');
    await page.waitForSelector('text=Your session is over');
    await page.waitForSelector('input[name=password]:focus');
    assert.equal(await page.inputValue('input[name=username]'), DEMO.username);
    await fillLogIn(page, DEMO);
    await page.waitForSelector('text=Newest URLs');
    await page.waitForSelector('main:focus');
    await page.route('**/api/portal/v1/session', (route) => route.abort());
    await page.reload();
    await page.waitForSelector('.problem');
    assert.equal(await page.textContent('h1'), 'Urlwarden');
    const said = (await page.textContent('main')) ?? '';
    assert.equal(said.split('The server does not answer').length, 2, 'it is said once');
    await page.unroute('**/api/portal/v1/session');
    await page.route('**/api/portal/v1/overview', (route) => route.abort());
    await page.reload();
    await page.waitForSelector('text=The server does not answer');
    await assertAccessible(page);
    await page.unroute('**/api/portal/v1/overview');
    await page.click('text=Try again');
    await page.waitForSelector('text=Newest URLs');
    await page.route('**/api/portal/v1/logout', (route) => route.abort());
    await page.click('text=Log out');
    await page.waitForSelector('.toast.error:has-text("You are still logged in. The server does not answer")');
    assert.ok(await page.isVisible('.pill.account'), 'the session lives on');
    await page.unroute('**/api/portal/v1/logout');
    await page.click('text=Log out');
    await fillLogIn(page, DEMO);
    await page.waitForSelector('#large-box:focus');
  });

  await t.test('a session that ended is said, also where several requests find it out', async () => {
    const { page, open, context } = await portal.visit({ hasOwnSession: true });
    for (const path of ['/account', '/admin']) {
      await open('/');
      await context.clearCookies();
      await page.click(`header a[href="${path}"]`);
      await page.waitForSelector('text=Your session is over');
      await page.waitForLoadState('networkidle');
      assert.ok(await page.isVisible('text=Your session is over'), path);
      await fillLogIn(page, DEMO);
      await page.waitForSelector('.pill.account');
      await page.waitForSelector('main:focus');
    }
    // A browser may close the login at the second Escape: then it is in place of the page.
    await open('/');
    await context.clearCookies();
    await page.click('header a[href="/account"]');
    await page.waitForSelector('dialog .login');
    await page.evaluate(() => document.querySelector('dialog')?.close());
    await page.waitForSelector('.pill.account', { state: 'detached' });
    assert.equal(await page.locator('main > .login').count(), 1);
  });

  await t.test('a 401 that arrives after the new login does not end it: the page asks again', async () => {
    const { page, open, context } = await portal.visit({ hasOwnSession: true });
    await open('/');
    await context.clearCookies();
    const loggedIn = Promise.withResolvers<void>();
    await page.route(
      '**/api/portal/v1/sessions',
      async (route) => {
        await loggedIn.promise;
        await route.fulfill({ status: 401, json: { code: 401, message: 'The session is over' } });
      },
      { times: 1 },
    );
    await page.click('header a[href="/account"]');
    await page.waitForSelector('text=Your session is over');
    await fillLogIn(page, DEMO);
    await page.waitForSelector('.login', { state: 'detached' });
    loggedIn.resolve();
    await page.waitForSelector('.badge:text-is("this one")');
    await settled(page);
    assert.equal(await page.locator('.login, [role=alert]').count(), 0);
  });

  await t.test(
    'a session that ends while a dialog is open: after the login, what was typed is still there',
    async () => {
      const { page, open, context } = await portal.visit({ hasOwnSession: true });
      await open('/admin/accounts');
      const fillForm = async (name: string) => {
        await page.click('button:text-is("Add an account")');
        await page.fill('dialog input[name=username]', name);
        await context.clearCookies();
        await page.keyboard.press('Enter');
        await page.waitForSelector('text=Your session is over');
      };
      await fillForm('typed@example.com');
      await assertAccessible(page);
      await page.keyboard.press('Escape');
      await fillLogIn(page, { ...DEMO, password: 'wrong' });
      await page.waitForSelector('.login [role=alert]:has-text("Username or password is wrong")');
      await fillLogIn(page, DEMO);
      await page.waitForSelector('dialog [role=alert]:has-text("You are logged in again.")');
      await page.waitForSelector('dialog input[name=username]:focus');
      assert.equal(await page.inputValue('dialog input[name=username]'), 'typed@example.com');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog .secret');
      await page.click('text=Done');
      await page.waitForSelector('td:has-text("typed@example.com")');

      await fillForm('of-the-other');
      await page.evaluate(() => Object.assign(window, { isLoadedBefore: true }));
      await fillLogIn(page, CUSTOMER);
      await page.waitForSelector('h1:text-is("Only for administrators")');
      assert.equal(await page.locator('dialog').count(), 0, 'another account sees nothing of it');
      assert.equal(await page.evaluate(() => 'isLoadedBefore' in window), false, 'nothing that was read is kept');
    },
  );

  await t.test('a logout and a login in another tab are seen in all tabs', async () => {
    const { page: first, open, context } = await portal.visit({ hasOwnSession: true });
    await open('/url?u=http://203.0.113.7/bin.sh');
    await open('/account');
    const second = await context.newPage();
    await second.goto('/account');
    await second.click('text=Log out');
    await first.waitForSelector('h1:has-text("Log in")');
    await second.waitForSelector('h1:has-text("Log in")');
    await fillLogIn(second, CUSTOMER);
    const account = (page: Page) => page.textContent('.pill.account');
    await assertSoon(() => account(second), CUSTOMER.username);
    await assertSoon(() => account(first), CUSTOMER.username);
    await settled(first);
    assert.match((await first.textContent('main')) ?? '', /customer@example\.com/);
    assert.equal(await first.locator('header a[href="/admin"]').count(), 0);
    await first.click('.brand');
    await first.waitForSelector('text=Newest URLs');
    assert.equal(await first.getByText('Your last queries').count(), 0, 'of the other account');

    // Without a logout: the session of the first account was only replaced. Nobody is asked about its unsaved results.
    await first.evaluate(`addEventListener('beforeunload', (event) => event.preventDefault())`);
    let questions = 0;
    first.on('dialog', (dialog) => {
      questions++;
      return dialog.accept();
    });
    await context.clearCookies();
    const third = await context.newPage();
    await third.goto('/account');
    await fillLogIn(third, DEMO);
    await assertSoon(() => account(first), DEMO.username);
    await first.waitForSelector('header a[href="/admin"]');
    assert.equal(questions, 0);
  });

  await t.test('a script of another version: the page says that it must be loaded again', async () => {
    const { page, open } = await portal.visit();
    await open('/account');
    const gone = (path: string) => page.route(path, (route) => route.fulfill({ status: 404, json: {} }));
    await gone('**/assets/bulk-*');
    await page.click('header a[href="/bulk"]');
    await page.waitForSelector('[role=alert]:has-text("If the server was upgraded, load the page again")');
    await page.unroute('**/assets/bulk-*');
    await page.click('button:text-is("Load the page again")');
    await page.waitForSelector('h1:text-is("Bulk lookup")');
    // Data of another shape than the script expects.
    await page.route('**/api/portal/v1/overview', (route) => route.fulfill({ json: {} }));
    await page.click('.brand');
    await page.waitForSelector('h1:text-is("This page failed")');
    await assertAccessible(page);
    await page.click('header a[href="/search"]');
    await page.waitForSelector('h1:text-is("Search")');
    assert.equal(await page.locator('h1').count(), 1);
    await page.unroute('**/api/portal/v1/overview');
    await gone('**/assets/main-*');
    await page.goto('/');
    await page.waitForSelector('text=The page is not loaded yet');
  });

  await t.test('a page that is drawn at once begins at its top too', async () => {
    const { page, open } = await portal.visit();
    await page.setViewportSize({ width: 390, height: 500 });
    await open('/account');
    await page.evaluate(`document.querySelector('header a[href="/search"]').click()`);
    await page.waitForSelector('#main:focus');
    await page.waitForSelector('h1:text-is("Search")');
    assert.equal(await page.evaluate('scrollY'), 0, 'the focus does not scroll past the header');
  });

  await t.test('a page begins at its top; back and forward return to where it was left', async () => {
    const { page, open, messages } = await portal.visit();
    await page.setViewportSize({ width: 390, height: 500 });
    await open('/');
    await page.waitForSelector('text=Newest URLs');
    const top = () => page.evaluate<number>('Math.round(scrollY)');
    const scroll = async (to: number) => {
      await page.evaluate(`scrollTo(0, ${to})`);
      await assertSoon(() => page.evaluate(`history.state?.top ?? ${to}`), to);
    };
    await scroll(700);
    await page.evaluate(`document.querySelector('main td a[href^="/url"]').click()`);
    await page.waitForSelector('.verdict');
    assert.equal(await top(), 0);
    await scroll(300);
    await page.goBack();
    await page.waitForSelector('text=Newest URLs');
    await assertSoon(top, 700);
    await page.goForward();
    await page.waitForSelector('.verdict');
    await assertSoon(top, 300);
    await page.reload();
    await page.waitForSelector('.verdict');
    await assertSoon(top, 300);
    await page.click('.brand', { noWaitAfter: true });
    await page.waitForSelector('text=Newest URLs');
    await assertSoon(top, 0);
    assert.deepEqual(messages, []);
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

  await t.test('several URLs in the box are a list; what a copied text has inside is offered', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/url?u=http://203.0.113.7/bin.sh%20(Mirai)');
    await assertAccessible(page);
    await page.click('text=Did you mean http://203.0.113.7/bin.sh? >> a');
    await page.waitForURL('**/url?u=http%3A%2F%2F203.0.113.7%2Fbin.sh');
    await page.waitForSelector('h1:text-is("http://203.0.113.7/bin.sh")');
    assert.equal(await page.locator('text=Did you mean').count(), 0);
    await page.fill('#box', 'http://203.0.113.7/bin.sh http://203.0.113.7/i');
    await page.getByRole('option', { name: 'Bulk lookup 2 URLs' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Counts as 2 queries');
    assert.equal(await page.inputValue('textarea'), 'http://203.0.113.7/bin.sh\nhttp://203.0.113.7/i');
    assert.deepEqual(messages, []);
  });

  await t.test('a text that means nothing is refused in words', async () => {
    const { page, open } = await portal.visit();
    await open('/');
    await page.fill('#large-box', '<img src=x onerror=alert(1)>');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.toast:has-text("none of the things")');
  });
});

const CUSTOMER = { username: 'customer@example.com', password: 'demo' };

async function fillLogIn(page: Page, { username, password }: typeof DEMO): Promise<void> {
  await page.fill('.login input[name=username]', username);
  await page.fill('.login input[name=password]', password);
  await page.keyboard.press('Enter');
}

/** Chromium reports every response of 400 and above. */
const is401 = (message: string): boolean =>
  /Failed to load resource: the server responded with a status of 401/.test(message);
