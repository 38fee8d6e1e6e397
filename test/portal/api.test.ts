import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertAccessible,
  assertFits,
  assertSoon,
  DEMO,
  LOOKS,
  openPortal,
  screenshot,
  settled,
  WIDTHS,
} from './browser.ts';

const is401 = (message: string) => /status of 401/.test(message);

test('API page', async (t) => {
  const portal = await openPortal(t);

  await t.test('operations in both themes and widths; the address names one, which is open', async () => {
    for (const { name, theme, width } of LOOKS) {
      const { page, open, messages } = await portal.visit({ theme, width });
      await open('/api#portalUrl');
      assert.equal(await page.textContent('h1'), 'API');
      await assertSoon(() => page.locator('details[open]').count(), 1);
      const operation = page.locator('#portalUrl');
      await operation.locator('text=Counts as a query').waitFor();
      await operation.locator('.schema-name:text-is("on_host")').waitFor();
      assert.ok((await operation.locator('li').count()) > 40);
      await assertFits(page);
      await screenshot(page, `api-${name}`);
      // The rows of operations are alike: four of them are checked here, all of them once below.
      await page.fill('input[type=search]', 'everything about');
      await page.waitForSelector('text=/^4 operations$/');
      await assertAccessible(page);
      assert.deepEqual(messages, []);
    }
  });

  await t.test('a link in the page opens another operation', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/api');
    assert.equal(await page.locator('details[open]').count(), 0);
    await page.evaluate("location.hash = '#urlLast'");
    await page.waitForSelector('#urlLast[open] pre');
    await page.click('#cidr > summary');
    await page.waitForSelector('#cidr[open] :text("{dataset}")');
    await page.click('#cidr > summary');
    await page.waitForSelector('#cidr:not([open])', { state: 'attached' });
    assert.deepEqual(messages, []);
  });

  await t.test('filter', async () => {
    const { page, open } = await portal.visit({ width: WIDTHS.phone });
    await open('/api');
    const all = await page.locator('.operation').count();
    assert.ok(all > 40);
    await page.fill('input[type=search]', 'POST history');
    await page.waitForSelector('text=/^1 operation$/');
    assert.deepEqual(await page.locator('.operation').evaluateAll((found) => found.map(({ id }) => id)), [
      'urlHistory',
    ]);
    await page.fill('input[type=search]', 'nothing of this kind');
    await page.waitForSelector('text=No operation has all of these words.');
    await assertAccessible(page);
    await assertFits(page);
    await screenshot(page, 'api-none');
    await page.fill('input[type=search]', '');
    await assertSoon(() => page.locator('.operation').count(), all);
  });

  await t.test('commands are copied: the login for this account, an operation for this server', async () => {
    const { page, context, open } = await portal.visit();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('/api#urlLast');
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.click('#urlLast button:has-text("Copy")');
    await page.waitForSelector('.toast:has-text("Command copied.")');
    const url = `${portal.url}/api/intel/v2/byobject/url/last`;
    const line = `curl -H "Authorization: Bearer $TOKEN" --json '{"url":"http://203.0.113.7/bin.sh"}' ${url}`;
    assert.equal(await copied(), line);
    await page.click('.card:has-text("Log in first") button');
    await page.waitForSelector('.toast:has-text("Login copied.")');
    assert.match(await copied(), new RegExp(`^TOKEN=.*"${DEMO.username}"`));
  });

  await t.test('without a session', async () => {
    const { page, open, messages } = await portal.visit({ isLoggedIn: false });
    await open('/api#healthz');
    await page.waitForSelector('#healthz[open] :text("Everyone")');
    await assertAccessible(page);
    assert.deepEqual(
      messages.filter((message) => !is401(message)),
      [],
    );
  });

  await t.test('a server that is away, and hostile texts', async () => {
    const { page, open, messages } = await portal.visit();
    await page.route('**/openapi.json', (route) => route.abort());
    await open('/api');
    await page.waitForSelector('[role=alert]:has-text("The server does not answer")');
    await assertAccessible(page);
    const hostile = `<img src=x onerror=alert(1)>\u202e\ud800${'x'.repeat(8_000)}`;
    const schema = { type: 'object', properties: { [hostile]: { type: 'string', description: hostile } } };
    const operation = { operationId: 'x', summary: hostile, security: [], responses: {} };
    const responses = { 200: { description: hostile, content: { 'application/json': { schema } } } };
    const json = {
      info: {},
      components: { schemas: {} },
      paths: { [`/${hostile}`]: { get: { ...operation, responses } } },
    };
    await page.unroute('**/openapi.json');
    await page.route('**/openapi.json', (route) => route.fulfill({ json }));
    await page.click('text=Try again');
    await page.click('#x > summary');
    await page.waitForSelector('#x .schema-name:has-text("onerror")');
    assert.match((await page.textContent('#x .schema-name')) ?? '', /^<img src=x onerror=alert\(1\)>\\u202e/);
    await settled(page);
    await assertFits(page);
    assert.deepEqual(
      messages.filter((message) => !/ERR_FAILED/.test(message)),
      [],
    );
  });
});
