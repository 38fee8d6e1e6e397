import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountItem } from '../../src/admin/wire.ts';
import { assertGood } from './admin-page.ts';
import {
  assertAccessible,
  assertFits,
  assertSoon,
  DEMO,
  openPortal,
  screenshot,
  settled,
  type Visit,
  WIDTHS,
} from './browser.ts';

const CUSTOMER = 'customer@example.com';
const CUSTOMER_PAGE = `/admin/accounts?name=${encodeURIComponent(CUSTOMER)}`;

test('accounts, for administrators', async (t) => {
  const portal = await openPortal(t);

  await t.test('list and one account in both themes and widths', async () => {
    const visit = await portal.visit();
    const { page, open, messages } = visit;
    await open('/admin/accounts');
    assert.deepEqual(await page.locator('h1').allTextContents(), ['Accounts']);
    await assertGood(visit, 'accounts');
    await page.click(`a:text-is("${CUSTOMER}")`);
    await page.waitForSelector('.bars');
    await page.waitForSelector('main:focus');
    assert.deepEqual(await page.locator('h1').allTextContents(), [CUSTOMER]);
    assert.equal(await page.locator('.bars .bar').count(), 90);
    await assertGood(visit, 'account-of');
    assert.deepEqual(messages, []);
  });

  await t.test('sorted by usage, and by any column', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/accounts');
    const names = () => page.locator('tbody td:first-child a').allTextContents();
    const byUsage = await names();
    await page.click('button.sort:has-text("This month")');
    await assertSoon(names, byUsage);
    await page.click('button.sort:has-text("This month")');
    await assertSoon(names, byUsage.toReversed());
    await page.click('button.sort:has-text("Of the limit")');
    await assertSoon(async () => (await names())[0], CUSTOMER);
  });

  await t.test('one of 10,000 is found; the address keeps the filter', async () => {
    const visit = await portal.visit();
    const { page, open } = visit;
    const items = Array.from({ length: 10_000 }, (_, i) => ({
      username: `customer-${i}@example.com`,
      sub: String(i),
      tier: i % 2 === 0 ? 'developer' : 'standard',
      enabled: i % 10 !== 0,
      admin: false,
      created_ts: 1_700_000_000,
      soft: 10_000,
      hard: 20_000,
      queries_month: 10_000 - i,
      queries_day: i % 10,
    }));
    await page.route('**/api/admin/v1/accounts', (route) => route.fulfill({ json: { items } }));
    await open('/admin/accounts');
    const names = () => page.locator('tbody td:first-child a').allTextContents();
    const count = () => page.textContent('.table-filter [role=status]');
    assert.equal(await count(), '10,000 accounts');
    assert.equal((await names()).length, 100);
    await page.focus('text=Show 500 of 9,900 more');
    await page.keyboard.press('Enter');
    await page.waitForSelector('a:focus:text-is("customer-100@example.com")');
    assert.equal((await names()).length, 600);
    await page.getByLabel('Name or subscription').focus();
    await page.keyboard.type('CUSTOMER-77');
    await assertSoon(count, '111 of 10,000 accounts');
    await page.selectOption('select[name=tier]', 'developer');
    await page.selectOption('select[name=state]', 'disabled');
    await assertSoon(count, '11 of 10,000 accounts');
    await page.click('button.sort:has-text("This month")');
    await page.click('button.sort:has-text("This month")');
    await assertSoon(async () => (await names())[0], 'customer-7790@example.com');
    await assertGood(visit, 'accounts-filter');
    await page.click('a:text-is("customer-770@example.com")');
    await page.waitForSelector('h1:text-is("customer-770@example.com")');
    await page.goBack();
    await assertSoon(count, '11 of 10,000 accounts');
    await page.reload();
    await assertSoon(count, '11 of 10,000 accounts');
    assert.equal(await page.inputValue('select[name=state]'), 'disabled');
    await page.getByLabel('Name or subscription').fill('nobody');
    await page.waitForSelector('text=No account matches the filter');
    await assertSoon(count, '0 of 10,000 accounts');
    await page.click('text=Show all');
    await assertSoon(count, '10,000 accounts');
    assert.equal(await page.getByLabel('Name or subscription').inputValue(), '');
    assert.equal(await page.inputValue('select[name=tier]'), '');
  });

  await t.test('by keyboard: an account is added, and its password is shown once', async () => {
    const { page, open, context, messages } = await portal.visit();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('/admin/accounts');
    await page.focus('button:has-text("Add an account")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await page.waitForSelector('dialog input[name=username]:focus');
    await assertAccessible(page);
    await screenshot(page, 'account-add');
    await page.keyboard.type('<img src=x onerror=alert(1)>');
    await page.keyboard.press('Tab');
    await page.keyboard.type('dev');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const password = await page.textContent('.secret');
    assert.match(password ?? '', /^\S{12,}$/);
    await assertAccessible(page);
    await screenshot(page, 'account-password');
    await page.focus('text=Copy the password');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog [role=status]:has-text("Copied")');
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), password);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('button:focus:text-is("Add an account")');
    await page.click('a:has-text("<img src=x onerror=alert(1)>")');
    await assertSoon(() => page.textContent('h1'), '<img src=x onerror=alert(1)>');
    await page.waitForSelector('text=No query in these 90 days');
    await assertSoon(() => page.inputValue('select[name=tier]'), 'developer');
    await page.waitForSelector('text=Account added');
    await page.goBack();
    await page.waitForSelector('h1:has-text("Accounts")');
    assert.deepEqual(messages, []);
  });

  await t.test('a password that comes after the dialog was closed is shown all the same', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/accounts');
    const response = Promise.withResolvers<void>();
    const accounts = '**/api/admin/v1/accounts';
    await page.route(accounts, async (route) => {
      if (route.request().method() === 'POST') await response.promise;
      await route.continue();
    });
    await page.click('button:text-is("Add an account")');
    await page.fill('dialog input[name=username]', 'closed@example.com');
    await Promise.all([page.waitForRequest(accounts), page.keyboard.press('Enter')]);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    response.resolve();
    await page.waitForSelector('dialog .secret');
    await page.click('text=Done');
    await page.waitForSelector('td:has-text("closed@example.com")');
  });

  await t.test('the API refuses, and the form says why', async () => {
    const { page, open } = await portal.visit();
    await open('/admin/accounts');
    await page.click('text=Add an account');
    await page.fill('dialog input[name=username]', CUSTOMER);
    await page.click('dialog button:has-text("Add")');
    const text = await page.textContent('dialog [role=alert]');
    assert.match(text ?? '', /customer@example\.com/);
    assert.equal(await page.inputValue('dialog input[name=username]'), CUSTOMER);
    await assertAccessible(page);
  });

  await t.test('tier, role, disable and enable, sessions, password', async () => {
    const { page, open, messages } = await portal.visit();
    await open(CUSTOMER_PAGE);
    await page.selectOption('select[name=tier]', 'standard');
    await page.click('text=Change the tier');
    await page.waitForSelector('.used:has-text("of 150,000")');
    await page.waitForSelector('text=Account changed');
    await act(page, 'Make administrator', 'Make administrator');
    await page.waitForSelector('.badge:has-text("administrator")');
    await act(page, 'Remove the administrator role', 'Remove the role');
    await page.waitForSelector('.badge:has-text("administrator")', { state: 'detached' });
    await act(page, 'Disable', 'Disable');
    await page.waitForSelector('.badge:has-text("disabled")');
    await page.waitForSelector('button:focus:text-is("Enable")');
    await act(page, 'Enable', 'Enable');
    await page.waitForSelector('.badge:has-text("enabled")');
    await act(page, 'End sessions and tokens', 'End them');
    await page.waitForSelector('.toast:has-text("sessions and tokens")');
    await page.waitForSelector('.plain-list li:has-text("Sessions and tokens ended")');
    await page.click('.actions button:has-text("New password")');
    await page.click('dialog button[type=submit]');
    const password = (await page.textContent('.secret')) ?? '';
    await page.click('dialog button:has-text("Done")');
    const customer = await portal.visit({ isLoggedIn: false });
    await logIn(customer, password);
    assert.deepEqual(messages, []);
  });

  await t.test('the last administrator stays one', async () => {
    const { page, open } = await portal.visit();
    await open(`/admin/accounts?name=${encodeURIComponent(DEMO.username)}`);
    const cases = [
      ['Remove the administrator role', 'Remove the role'],
      ['Disable', 'Disable'],
    ] as const;
    for (const [button, submit] of cases) {
      await act(page, button, submit);
      assert.match((await page.textContent('dialog [role=alert]')) ?? '', /last enabled administrator/i);
      await assertAccessible(page);
      await screenshot(page, 'account-last-administrator');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
    }
  });

  await t.test('an account is removed when its name was typed', async () => {
    const { page, open, messages } = await portal.visit();
    await open(`/admin/accounts?name=${encodeURIComponent('former@example.com')}`);
    await page.click('.actions button:has-text("Remove")');
    await page.fill('dialog input[name=name]', 'former');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]:has-text("That is not the name")');
    await page.fill('dialog input[name=name]', 'former@example.com');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('h1:has-text("Accounts")');
    await page.waitForSelector('tbody:not(:has-text("former@example.com"))');
    await open(`/admin/accounts?name=${encodeURIComponent('former@example.com')}`);
    await page.waitForSelector('text=There is no account with this name');
    assert.deepEqual(messages, []);
  });

  await t.test('a customer sees in words that it is not allowed, page and API', async () => {
    const { page, open, context, messages } = await portal.visit();
    const { items } = (await (await context.request.get('/api/admin/v1/accounts')).json()) as { items: AccountItem[] };
    assert.ok(items.length >= 2);
    await page.route('**/api/portal/v1/session', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ json: { ...(await response.json()), admin: false, username: CUSTOMER } });
    });
    await open('/admin/accounts');
    assert.equal(await page.textContent('h1'), 'Only for administrators');
    assert.equal(await page.locator('a:has-text("Admin")').count(), 0);
    await assertAccessible(page);
    await screenshot(page, 'admin-customer');
    assert.deepEqual(messages, []);
    await page.unroute('**/api/portal/v1/session');
    // The role was taken while the page was open.
    const json = { status: 403, message: 'Only administrators may do this' };
    await page.route('**/api/admin/v1/accounts', (route) => route.fulfill({ status: 403, json }));
    await open('/admin/accounts');
    await page.waitForSelector('[role=alert]:has-text("Not allowed")');
    await assertAccessible(page);
  });

  await t.test('hostile names are texts', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTHS.phone });
    const base = { tier: '<b>x</b>', enabled: true, admin: true, created_ts: 1_700_000_000, queries_day: 1 };
    const names = ['<img src=x onerror=alert(1)>', 'a\u202eb', `http://${'x'.repeat(8_000)}.example/`, 'half \ud800'];
    const items = names.map((username, i) => {
      return { ...base, username, sub: String(i), queries_month: i, soft: 5, hard: 10 };
    });
    await page.route('**/api/admin/v1/accounts', (route) => route.fulfill({ json: { items } }));
    await open('/admin/accounts');
    assert.deepEqual(await page.locator('tbody td:first-child a').allTextContents(), [
      'half \\ud800',
      names[2],
      'a\\u202eb',
      names[0],
    ]);
    await assertAccessible(page);
    await assertFits(page);
    await screenshot(page, 'accounts-hostile');
    assert.deepEqual(messages, []);
  });
});

/** Presses a button of the account and confirms. */
async function act(page: Visit['page'], button: string, submit: string): Promise<void> {
  await page.click(`.actions button:text-is("${button}")`);
  await page.waitForSelector('dialog[open]');
  await page.click(`dialog button:text-is("${submit}")`);
}

/** In a page, with a real refusal of the real customer. */
async function logIn({ page, open }: Visit, password: string): Promise<void> {
  await open('/admin');
  await page.fill('input[name=username]', CUSTOMER);
  await page.fill('input[name=password]', password);
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("Only for administrators")');
  await settled(page);
  const status = await page.evaluate<number>("fetch('/api/admin/v1/accounts').then((response) => response.status)");
  assert.equal(status, 403);
}
