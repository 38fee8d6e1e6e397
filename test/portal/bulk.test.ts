import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  assertAccessible,
  assertFits,
  assertSoon,
  DEMO,
  downloaded,
  LOOKS,
  openPortal,
  type Portal,
  screenshot,
  type Visit,
  WIDTHS,
} from './browser.ts';

const PATH = '/api/intel/v2/byobject/url/bulk';
const LIMITS = '**/api/intel/v1/limits';
/** A pause between two frames that nobody calls frozen, on a busy machine. */
const SMOOTH_MS = 300;

/** The page gets streams that the test writes: `feed(text)`, `feed(null)` to break one, `feed('')` to end one. */
const ownStreams = (page: Page) =>
  page.addInitScript(`
    const original = window.fetch;
    window.bodies = [];
    window.fetch = (path, init) => {
      if (path !== '${PATH}') return original(path, init);
      window.bodies.push(init.body);
      return Promise.resolve(new Response(new ReadableStream({
        start(controller) {
          init.signal.addEventListener('abort', () => controller.error(init.signal.reason));
          window.feed = (text) => text === null ? controller.error(new TypeError('network error'))
            : text === '' ? controller.close() : controller.enqueue(new TextEncoder().encode(text));
        },
      })));
    };`);

const feed = (page: Page, text: string | null) => page.evaluate(`window.feed(${JSON.stringify(text)})`);
const bodies = (page: Page) => page.evaluate<string[]>('window.bodies');
const requestsAre = async (page: Page, count: number) => {
  while ((await bodies(page)).length < count) await page.waitForTimeout(20);
};

const unknown = (n: number) => `{"n":${n},"found":false}\n`;
const found = (n: number, url: string, more: object = {}) =>
  `${JSON.stringify({ n, found: true, id: n, url, status: { ts: 1_700_000_000, status: 'online', removal: null, reporter: 'x' }, payload: null, ...more })}\n`;
const end = (more: object = {}) =>
  `${JSON.stringify({ end: true, lines: 0, distinct: 0, found: 0, invalid: 0, charged: 0, ...more })}\n`;

async function fill(page: Page, text: string): Promise<void> {
  await page.locator('textarea').fill(text);
  await page.locator('.stats').waitFor();
}

const start = (page: Page) => page.getByRole('button', { name: /^Look up [\d,]+ URLs?$/ }).click();
const complete = (page: Page) => page.getByText('Complete', { exact: true }).waitFor();
const figures = (page: Page) => page.locator('.stats dd').allInnerTexts();
const rowTexts = (page: Page) => page.locator('.long tbody tr[aria-rowindex]').allInnerTexts();
const list = (count: number) => Array.from({ length: count }, (_, i) => `http://a.example/${i + 1}`).join('\n');

const limitsOf = async ({ page }: Visit) => {
  const headers = { 'sec-fetch-site': 'same-origin' };
  return (await page.request.get('/api/intel/v1/limits', { headers })).json();
};

describe('the page for lists', () => {
  it('works in a browser', async (t) => {
    const portal = await openPortal(t);
    await Promise.all(Object.entries(PARTS).map(([name, part]) => t.test(name, (inner) => part(inner, portal))));
  });
});

const MAIL = `Dear team,
please block (hxxp://203[.]0[.]113[.]7/bin.sh), https://unknown.example/a and https://unknown.example/a.
http://203.0.113.7:99999/x is no URL
`;

const PARTS: Record<string, (t: TestContext, portal: Portal) => Promise<void>> = {
  async 'from a text to its results, with the exact cost'(_, portal) {
    const visit = await portal.visit({ hasOwnSession: true });
    const { page } = visit;
    await visit.open('/bulk');
    await page.waitForSelector('textarea:focus'); // one can paste at once
    await assertAccessible(page);
    await screenshot(page, 'bulk-empty');
    await fill(page, MAIL);
    await page.getByText('Counts as 2 queries').waitFor();
    assert.deepEqual(await figures(page), ['2', '4', '1', '1']);
    await page.getByRole('button', { name: 'Text', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Defanged 1' }).click();
    assert.match((await rowTexts(page)).join(), /hxxp:\/\/203\[\.\]0.*http:\/\/203\.0\.113\.7\/bin\.sh/s);
    await page.getByRole('button', { name: 'Invalid 1' }).click();
    assert.match((await rowTexts(page)).join(), /99999\/x.*The port is not valid\.$/s);

    await start(page);
    await complete(page);
    await page.getByText('Counted as 2 queries').waitFor();
    assert.deepEqual(
      (await rowTexts(page)).map((text) => text.split(/\s+/).slice(0, 3)),
      [['3', 'http://203.0.113.7:99999/x', 'The']],
    );
    await page.getByRole('button', { name: 'All 3' }).click();
    assert.deepEqual(
      (await rowTexts(page)).map((text) =>
        text
          .replaceAll(/\s+/g, ' ')
          .trim()
          .replace(/ online.*/, ' online'),
      ),
      [
        '2 http://203.0.113.7/bin.sh online',
        '2 https://unknown.example/a not known 2',
        '3 http://203.0.113.7:99999/x invalid',
      ],
    );
    await page.getByRole('button', { name: 'Found 1' }).click();
    assert.equal((await rowTexts(page)).length, 1);
    const asksBeforeLeaving = () => page.evaluate(`!dispatchEvent(new Event('beforeunload', { cancelable: true }))`);
    assert.equal(await asksBeforeLeaving(), true);
    const csv = (await downloaded(page, 'CSV')).trimEnd().split('\r\n');
    assert.deepEqual(
      csv.map((line) => line.split(',')[2]),
      ['result', 'found', 'unknown', 'invalid'],
    );
    assert.equal(await asksBeforeLeaving(), false, 'the results are saved');
    const records = (await downloaded(page, 'NDJSON')).trimEnd().split('\n');
    assert.deepEqual(
      records.map((line) => JSON.parse(line).found),
      [true, false, undefined],
    );

    // A look at a URL and back costs nothing more: the results are still there.
    await page.locator('.long tbody a').first().click();
    await page.waitForURL('**/url?u=*');
    await page.goBack();
    await complete(page);
    assert.equal((await rowTexts(page)).length, 1, 'the filter stays');
    await page.getByRole('button', { name: 'All 3' }).click();
    assert.equal((await rowTexts(page)).length, 3);
    await page.getByRole('button', { name: 'Another list' }).click();
    assert.equal(await page.locator('textarea').inputValue(), '');
    assert.equal(await page.locator('.stats').count(), 0);
    assert.deepEqual(visit.messages, []);
  },

  async 'whoever opens a URL and goes back finds the table where it was left'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await ownStreams(page);
    await visit.open('/bulk');
    await fill(page, list(300));
    await start(page);
    await requestsAre(page, 1);
    await feed(page, Array.from({ length: 300 }, (_, i) => unknown(i + 1)).join('') + end({ charged: 300 }));
    await feed(page, '');
    await complete(page);
    await page.getByRole('button', { name: 'Not known 300' }).click();
    const top = () => page.evaluate<number>(`document.querySelector('.long')?.scrollTop ?? -1`);
    await page.evaluate(`document.querySelector('.long').scrollTo(0, 3000)`);
    await page.route('**/api/**', (route) => route.abort()); // the other tests count queries
    await page.locator('.long a:has-text("http://a.example/82")').click();
    await page.waitForURL('**/url?u=*');
    await page.goBack();
    await assertSoon(top, 3_000);
    await page.getByRole('button', { name: 'All 300' }).click();
    await assertSoon(top, 0);
  },

  async 'without a file the text of the field is back, and the same file can be chosen again'(t, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await visit.open('/bulk');
    await fill(page, list(2));
    await page.getByText('Counts as 2 queries').waitFor();
    const file = join(temporaryFolder(t), 'urls.txt');
    const choose = async (urls: number) => {
      writeFileSync(file, list(urls));
      await page.setInputFiles('input[type=file]', file);
      await page.getByText(`Counts as ${urls} queries`).waitFor();
    };
    await choose(3);
    assert.equal(await page.locator('input[type=file]').inputValue(), '', 'a browser says nothing of an equal choice');
    await choose(4);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Counts as 2 queries').waitFor();
    assert.equal(await page.locator('textarea').inputValue(), list(2));
    await start(page);
    await complete(page);
    assert.deepEqual(visit.messages, []);
  },

  async 'a session that ends is said in words, and the list goes on after the login'(_, portal) {
    const visit = await portal.visit({ hasOwnSession: true });
    const { page } = visit;
    await visit.open('/bulk');
    await fill(page, list(2));
    await page.getByText('You have no limit').waitFor();
    await visit.context.clearCookies();
    await start(page);
    await page.getByText('Your session is over. Log in again: the page stays as it is.').waitFor();
    await page.waitForLoadState('networkidle');
    await page.getByText('Your session is over. Log in again: the page stays as it is.').waitFor();
    await page.fill('input[name=username]', DEMO.username);
    await page.fill('input[name=password]', DEMO.password);
    await page.keyboard.press('Enter');
    await page.getByText('You are logged in again.').waitFor();
    assert.doesNotMatch((await page.textContent('main')) ?? '', /Authorization|Bearer/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await complete(page);
  },

  async 'both themes, both widths'(_, portal) {
    for (const { name, theme, width } of LOOKS) {
      const visit = await portal.visit({ theme, width });
      const { page } = visit;
      await visit.open('/bulk');
      await fill(page, `${MAIL}http://203.0.113.7/${'long/'.repeat(90)}`);
      await page.getByText('You have no limit').waitFor();
      await assertFits(page);
      await assertAccessible(page);
      await screenshot(page, `bulk-preview-${name}`);
      await start(page);
      await complete(page);
      await assertFits(page);
      await assertAccessible(page);
      await screenshot(page, `bulk-done-${name}`);
      assert.deepEqual(visit.messages, []);
    }
  },

  async 'a limit of the server ends it half way; the cost was shown against what is left'(_, portal) {
    const admin = await portal.visit();
    const headers = { origin: portal.url, 'sec-fetch-site': 'same-origin' };
    const ask = async (path: string, data: object) => {
      const response = await admin.page.request.post(`/api/admin/v1/${path}`, { data, headers });
      assert.ok(response.ok(), await response.text());
    };
    await ask('tiers', { name: 'few', qmh: 3, qms: 3, ads: ['URL'], rl_qph: 100, rl_qpm: 100, rl_qps: 100 });
    const account = { username: 'few@example.com', password: 'a password that is long' };
    await ask('accounts', { ...account, tier: 'few', admin: false });
    const visit = await portal.visit({ isLoggedIn: false, width: WIDTHS.phone });
    const { page } = visit;
    await page.request.post('/api/portal/v1/login', { data: account, headers });
    await visit.open('/bulk');
    await fill(page, list(5));
    await page.getByText('3 left this month, 100 left this hour, 100 left this minute').waitFor();
    await page.getByText('It stops after 3 URLs: that is what is left this month.').waitFor();
    await screenshot(page, 'bulk-too-much');
    await assertAccessible(page);
    await start(page);
    await page.getByText('Your limit is used up this month.').waitFor();
    await page.getByText('3 of 5 URLs').waitFor();
    await page.getByText(/Room again in \d+ (days|hours?|minutes?|seconds?), at \d{4}-\d\d-01 00:00 UTC\./).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Go on with the other 2 URLs' }).isDisabled());
    assert.equal((await limitsOf(visit)).current.qpm, 3);
    assert.match(await downloaded(page, 'CSV'), /\r\n# Incomplete: 2 URLs of 5 were not looked up\.\r\n$/);
    await assertFits(page);
    await assertAccessible(page);
    await screenshot(page, 'bulk-limit');
    assert.deepEqual(visit.messages, []);
  },

  async 'goes on where a limit, a cut connection or its person stopped it'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await ownStreams(page);
    await visit.open('/bulk');
    await fill(page, `${list(6)}\nnowhere.example/`);
    await start(page);
    await requestsAre(page, 1);
    await feed(page, found(1, 'http://a.example/1') + unknown(2).slice(0, 8));
    await page.getByText('1 of 6 URLs').waitFor();
    await page.getByText('Looking up …').waitFor();
    await screenshot(page, 'bulk-running');
    await feed(page, unknown(2).slice(8) + end({ stopped_at: 3, limit: 'rl_qpm', retry_after: 1, charged: 2 }));
    await feed(page, '');
    await page.getByText('Your limit is used up this minute.').waitFor();
    await page.getByText('There is room again.').waitFor();
    await page.getByRole('button', { name: 'Go on with the other 4 URLs' }).click();
    await requestsAre(page, 2);

    await feed(page, unknown(1));
    await page.getByText('3 of 6 URLs').waitFor();
    await feed(page, null);
    await page.getByText('The connection was cut').waitFor();
    await assertAccessible(page);
    await screenshot(page, 'bulk-cut');
    await page.getByRole('button', { name: 'Go on with the other 3 URLs' }).click();
    await requestsAre(page, 3);

    await feed(page, unknown(1));
    await feed(page, ''); // without the last line
    await page.getByText('The connection was cut').waitFor();
    await page.getByRole('button', { name: 'Go on with the other 2 URLs' }).click();
    await requestsAre(page, 4);

    await feed(page, `{"n":1,"error":{"code":400,"message":"url: The host is not valid."}}\n`);
    await page.getByText('5 of 6 URLs').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped it').waitFor();
    await page.getByRole('button', { name: 'Go on with the other 1 URL' }).click();
    await requestsAre(page, 5);
    await feed(page, unknown(1) + end({ charged: 1 }));
    await feed(page, '');
    await complete(page);
    await page.getByText('Counted as 3 queries').waitFor();
    await page.getByRole('button', { name: 'Not known 4' }).waitFor();
    await page.getByRole('button', { name: 'Invalid 2' }).click();
    assert.match((await rowTexts(page))[0] ?? '', /a\.example\/5\s+url: The host is not valid\./);
    const sent = (await bodies(page)).map((body) =>
      body
        .trimEnd()
        .split('\n')
        .map((url) => url.slice(-1))
        .join(''),
    );
    assert.deepEqual(sent, ['123456', '3456', '456', '56', '6']);
    assert.deepEqual(visit.messages, []);
  },

  async '10 MB are read without freezing, and sent in several requests'(t, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await page.addInitScript(`
      const original = window.fetch;
      window.sizes = [];
      window.fetch = async (path, init) => {
        if (path !== '${PATH}') return original(path, init);
        const count = init.body.split('\\n').length - 1;
        window.sizes.push(count);
        let n = 0;
        return new Response(new ReadableStream({ pull(controller) {
          if (n === count) { controller.enqueue(new TextEncoder().encode('{"end":true,"charged":' + count + '}\\n')); return controller.close(); }
          let text = '';
          for (let i = 0; i < 200 && n < count; i++) text += '{"n":' + ++n + ',"found":false}\\n';
          controller.enqueue(new TextEncoder().encode(text));
        } }));
      };
      window.gapMs = 0;
      let lastMs = 0;
      const frame = (nowMs) => {
        if (lastMs > 0) window.gapMs = Math.max(window.gapMs, nowMs - lastMs);
        lastMs = nowMs;
        window.hadBar ||= document.querySelector('progress') !== null;
        requestAnimationFrame(frame);
      };
      window.watch = () => requestAnimationFrame(frame);`);
    await visit.open('/bulk');
    const log = Array.from(
      { length: 100_000 },
      (_, i) =>
        `${1_700_000_000 + i}.123 192.0.2.${i % 250} TCP_MISS/200 GET http://host-${i % 25_000}.example/path/${i % 25_000}?x=1&amp;y=2 - DIRECT/-`,
    ).join('\n');
    assert.ok(log.length > 9_500_000);
    const file = join(temporaryFolder(t), 'proxy.log');
    writeFileSync(file, log);
    await page.evaluate('window.watch()');
    const startMs = performance.now();
    await page.setInputFiles('input[type=file]', file);
    await page.locator('.button.primary:enabled', { hasText: 'Look up 25,000 URLs' }).waitFor();
    const readMs = performance.now() - startMs;
    const hadBar = await page.evaluate<boolean>('window.hadBar');
    assert.deepEqual(await figures(page), ['25,000', '100,000', '0', '0']);
    await page.getByText('proxy.log', { exact: true }).waitFor();
    await start(page);
    await complete(page);
    const gapMs = await page.evaluate<number>('window.gapMs');
    t.diagnostic(`10 MB: read in ${Math.round(readMs)} ms, longest pause ${Math.round(gapMs)} ms`);
    assert.ok(gapMs < Math.max(SMOOTH_MS, readMs / 2), `${gapMs} ms of ${readMs} ms`);
    assert.equal(hadBar, true);
    assert.deepEqual(await page.evaluate('window.sizes'), [10_000, 10_000, 5_000]);
    await page.getByText('25,000 URLs looked up').waitFor();
    assert.ok((await page.locator('.long tbody tr').count()) < 80, 'only visible rows are in the document');
    await page.locator('.table.long').focus();
    await page.keyboard.press('End');
    await page.waitForSelector('[aria-rowindex="25001"]');
    assert.deepEqual(visit.messages, []);
  },

  async 'files can be dropped; nothing to look up, a refusal and an absent server are said in words'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await visit.open('/bulk');
    await fill(page, 'no URL in here');
    await page.getByText('There is no URL to look up.').waitFor();
    const drop = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(['url;x\\nhttp://a.example/;1\\n'], 'a.csv'));
      data.items.add(new File(['3;http://b.example/\\n'], 'b.csv'));
      return data;
    })()`);
    await page.dispatchEvent('.bulk-input', 'dragover', { dataTransfer: drop });
    await page.locator('.bulk-input.over').waitFor();
    await page.dispatchEvent('.bulk-input', 'drop', { dataTransfer: drop });
    await page.getByText('a.csv and 1 more').waitFor();
    await page.getByText('Counts as 2 queries').waitFor();
    await page.getByRole('button', { name: 'Table', pressed: true }).waitFor();
    await screenshot(page, 'bulk-file');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByRole('button', { name: 'Invalid 2' }).waitFor();
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.getByText('Counts as 2 queries').waitFor();

    await page.route(`**${PATH}`, (route) => route.abort());
    await start(page);
    await page.getByText('The server does not answer', { exact: true }).waitFor();
    await page.unroute(`**${PATH}`);
    await page.route(`**${PATH}`, (route) =>
      route.fulfill({ status: 403, json: { code: 403, message: 'No URL dataset' } }),
    );
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No URL dataset').waitFor();
    await page.unroute(`**${PATH}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await complete(page);
    assert.deepEqual(
      visit.messages.filter((text) => !text.startsWith('Failed to load resource')),
      [],
    );
  },

  async 'several lines in the box of the start page lead here'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await visit.open('/');
    await page.getByRole('link', { name: 'Look up all its URLs at once' }).waitFor();
    const paste = (text: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        data.setData('text', ${JSON.stringify(text)});
        document.querySelector('.box input').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      })()`);
    await page.locator('.box input').focus();
    await paste('http://a.example/\nhttp://b.example/\n');
    await page.getByRole('option', { name: 'Bulk lookup 2 lines' }).waitFor();
    await screenshot(page, 'bulk-pasted');
    await page.keyboard.press('Enter');
    await page.getByText('Counts as 2 queries').waitFor();
    assert.equal(new URL(page.url()).pathname, '/bulk');
    assert.equal(await page.locator('textarea').inputValue(), 'http://a.example/\nhttp://b.example/\n');
    await page.locator('.box input').focus();
    await paste('http://c.example/\nhttp://d.example/\nhttp://e.example/');
    await page.keyboard.press('Enter');
    await page.getByText('Counts as 3 queries').waitFor();
    assert.deepEqual(visit.messages, []);
  },

  async 'hostile texts are texts'(_, portal) {
    const visit = await portal.visit({ width: WIDTHS.phone });
    const { page } = visit;
    await ownStreams(page);
    await page.route(LIMITS, (route) => route.fulfill({ status: 503, json: { code: 503, message: '<img src=x>' } }));
    await visit.open('/bulk');
    const image = '<img src=x onerror=alert(1)>';
    await fill(
      page,
      `http://a.example/\nhttp://b.example/\u202egpj.exe\n${image}.x\nhttp://c.example/${'a'.repeat(8_000)}`,
    );
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByRole('button', { name: 'Invalid 1' }).click();
    assert.match((await rowTexts(page))[0] ?? '', /<img src=x onerror=alert\(1\)>/);
    await page.getByRole('button', { name: 'All 4' }).click();
    await start(page);
    await requestsAre(page, 1);
    const payload = {
      ts: 1,
      sha256_hash: 'x',
      file_type: image,
      file_name: '\u202e',
      'malware-family': `${image}\u202e`,
    };
    const error = { code: 400, message: `${image}\u202e` };
    await feed(
      page,
      found(1, image, { payload, status: { ts: 1, status: image, removal: image, reporter: '\ud800' } }),
    );
    await feed(page, `${JSON.stringify({ n: 2, error })}\n${unknown(3)}${end()}`);
    await feed(page, '');
    await complete(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'Invalid 2' }).click();
    const text = (await page.locator('main').textContent()) ?? '';
    assert.ok(text.includes(`${image}\\u202e`), text.slice(-500));
    assert.doesNotMatch(text, /\u202e/u);
    assert.equal(await page.locator('main img').count(), 0);
    await assertFits(page);
    await assertAccessible(page);
    await screenshot(page, 'bulk-hostile');
    const unexpected = visit.messages.filter((said) => !said.startsWith('Failed to load resource'));
    assert.deepEqual(unexpected, []);
  },
};
