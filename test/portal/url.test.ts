import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertAccessible,
  assertFits,
  assertSoon,
  assertWhole,
  LOOKS,
  openPortal,
  screenshot,
  settled,
  WIDTHS,
} from './browser.ts';

const KNOWN = '/url?u=hxxp://user:pw@203[.]0[.]113[.]7:80/bin.sh%23top';
const HOSTILE = '<img src=x onerror=alert(1)>\u202e';

test('page of a URL', async (t) => {
  const portal = await openPortal(t);

  await t.test('a known URL: verdict, steps, life, payloads, addresses, in both themes and widths', async () => {
    for (const { name, theme, width } of LOOKS) {
      const { page, open, messages } = await portal.visit({ theme, width });
      await open(KNOWN);
      assert.equal(await page.textContent('h1'), 'http://203.0.113.7/bin.sh');
      assert.match(
        (await page.textContent('.verdict')) ?? '',
        /^Onlinesince .*confirmed .*reported by nightwatchAddress listed: infected or attacking host$/,
      );
      const steps = await page.locator('.chip').allTextContents();
      assert.equal(steps[0], 'defanged form restored');
      assert.ok(steps.length >= 4, `only ${steps}`);
      await assertSoon(() => page.locator('.timeline rect').count(), 5);
      await assertAccessible(page);
      await assertFits(page);
      await screenshot(page, `url-${name}`);
      assert.deepEqual(messages, []);
    }
  });

  await t.test('related URLs show their cost, and are loaded on demand', async () => {
    const { page, open, messages } = await portal.visit();
    await open(KNOWN);
    const network = page.locator('button', { hasText: '203.0.113.0/24' });
    assert.match((await network.textContent()) ?? '', /9 queries/);
    await network.click();
    await page.waitForSelector('section[aria-label^="Related URLs"] tbody tr');
    await assertAccessible(page);
    await page.click('summary');
    assert.match((await page.textContent('details pre')) ?? '', /"url": "http:\/\/203\.0\.113\.7\/bin\.sh"/);
    assert.deepEqual(messages, []);
  });

  await t.test('an unknown URL is an answer: what is known about its host', async () => {
    const { page, open, messages } = await portal.visit();
    await open('/url?u=https://files.example.com/never-seen');
    assert.match((await page.textContent('.verdict')) ?? '', /Unknown.*does not make it safe/);
    await page.waitForSelector('h2:has-text("Other URLs on files.example.com")');
    assert.ok((await page.locator('section[aria-label="URLs on files.example.com"] tbody tr').count()) > 0);
    await assertAccessible(page);
    await screenshot(page, 'url-unknown');

    // A listed domain is known, although no URL and no address of the host are.
    await page.route('**/api/portal/v1/url', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ json: { ...(await response.json()), domain_listed: true } });
    });
    await open('/url?u=https://nowhere.example.net/x');
    await page.waitForSelector('text=No other URL on this host is known.');
    const facts = (await page.locator('.facts dt').allTextContents()).filter((name) => name.endsWith('listed'));
    assert.deepEqual(facts, ['Domain listed']);
    await page.waitForSelector('.verdict a[href="/domain/example.net"]:text-is("Domain listed")');
    await open('/url?u=https://198.51.100.250/x');
    await page.waitForSelector('.facts dt:text-is("Address listed")');
    assert.equal(await page.locator('.columns a[href="/address/198.51.100.250"]').count(), 2); // host, address
    await page.unroute('**/api/portal/v1/url');
    await open('/url?u=http://198.51.100.66/x');
    assert.equal(
      await page.textContent('.verdict'),
      'UnknownAddress listed: botnet controllerNobody has reported this URL.',
    );
    await page.waitForSelector('.verdict a[href="/address/198.51.100.66"]');
    await assertAccessible(page);
    await screenshot(page, 'url-unknown-listed');
    assert.deepEqual(messages, []);
  });

  await t.test('two families of one time are two dots', async () => {
    const { page, open } = await portal.visit();
    await page.route('**/api/portal/v1/url', async (route) => {
      const report = await (await route.fetch()).json();
      const [payload] = report.payloads;
      const payloads = ['Mirai', 'Gafgyt'].map((family) => ({ ...payload, 'malware-family': family }));
      await route.fulfill({ json: { ...report, payloads } });
    });
    await open(KNOWN);
    const [first, second] = await Promise.all([0, 1].map((i) => page.locator('.timeline .dot').nth(i).boundingBox()));
    assert.ok(first && second && Math.abs(first.y - second.y) >= first.height, JSON.stringify([first, second]));
  });

  await t.test('the labels of the chart do not overlap, and none is cut', async () => {
    for (const days of [7, 30, 200, 365, 503, 1_526]) {
      const { page, open } = await portal.visit();
      await page.route('**/api/portal/v1/url', async (route) => {
        const report = await (await route.fetch()).json();
        const ts = Math.floor(Date.now() / 1_000) - days * 86_400;
        await route.fulfill({ json: { ...report, payloads: [], events: [{ ...report.events[0], ts }] } });
      });
      await open(KNOWN);
      for (const width of [WIDTHS.desktop, 800, 360]) {
        await page.setViewportSize({ width, height: 900 });
        const faults = await page.evaluate<string[]>(`(() => {
          const card = document.querySelector('.card:has(.timeline)').getBoundingClientRect();
          const labels = [...document.querySelectorAll('.timeline text')]
            .map((label) => ({ text: label.textContent, box: label.getBoundingClientRect() }))
            .filter(({ box }) => box.width > 0);
          return labels.filter(({ box }, i) => box.left < card.left || box.right > card.right || box.right > labels[i + 1]?.box.left)
            .map(({ text }) => text);
        })()`);
        assert.deepEqual(faults, [], `${days} days, ${width} pixels`);
      }
      await page.close();
    }
  });

  await t.test('a long host name stays inside its card', async () => {
    const { page, open } = await portal.visit({ width: 1_280 });
    const host = `${'long-label-'.repeat(4)}a.${'other-label-'.repeat(3)}b.example`;
    await open(`/url?u=http://${host}/x`);
    const link = page.locator('.facts a', { hasText: host }).first();
    const [inner, outer] = [await link.boundingBox(), await page.locator('.card:has(.facts)').first().boundingBox()];
    assert.ok(inner && outer && inner.x + inner.width <= outer.x + outer.width, JSON.stringify([inner, outer]));
    const isCut = `[...document.querySelectorAll('.facts a')].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)`;
    assert.equal(await page.evaluate(isCut), false, 'the name is cut');
  });

  await t.test('long texts of one source leave room for the rest of the page', async () => {
    const { page, open, messages } = await portal.visit();
    const [words, word] = ['long text '.repeat(102), 'F'.repeat(1_024)];
    await page.route('**/api/portal/v1/{url,overview}', async (route) => {
      const json = await (await route.fetch()).json();
      for (const payload of json.payloads ?? []) Object.assign(payload, { 'malware-family': word, file_type: words });
      for (const event of json.events ?? [])
        Object.assign(event, { status: 'removed', removal: words, reporter: word });
      for (const row of json.newest ?? []) row.family = words;
      const tags = Array.from({ length: 60 }, (_, i) => `${i} ${'t'.repeat(112)}`);
      await route.fulfill({ json: { ...json, tags, reporter: word, removal: words } });
    });
    const heights = (selector: string) =>
      page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    for (const [width, most] of [
      [WIDTHS.desktop, 120],
      [WIDTHS.phone, 160],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of [KNOWN, '/']) {
        await open(path);
        await page.waitForSelector('tbody a.name');
        await assertFits(page);
        await assertWhole(page);
        assert.ok(Math.max(...(await heights('tbody tr, .verdict > span, .legend, .button'))) < most, path);
        await screenshot(page, `long-texts-${width}-${path.length}`);
      }
    }
    await open(KNOWN);
    assert.equal(await page.getAttribute('.verdict strong', 'title'), word);
    await page.click('.chips >> text=Show 48 more');
    await page.waitForSelector('.chips li:focus'); // the button is gone, and the chips have no link
    assert.equal(await page.locator('.chip').count(), 60 + 4, 'tags and steps');
    // A link in a copied text that is as long as a URL may be.
    await open(`/url?u=http://long.example/${'y'.repeat(3_000)}?<script>alert(1)</script>`);
    await page.waitForSelector('.verdict a');
    assert.ok(Math.max(...(await heights('.verdict > span'))) < 160);
    assert.deepEqual(messages, []);
  });

  await t.test('what is no URL is refused in words', async () => {
    const { page, open } = await portal.visit();
    await open('/url?u=http://');
    await page.waitForSelector('[role=alert]:has-text("url:")');
  });

  await t.test('a reached limit counts down', async () => {
    const { page, open } = await portal.visit();
    const message = 'The limit rl_qpm is reached (100 per minute); try again in 3 s, at 2026-11-17T10:00:00Z';
    const body = { code: 429, message };
    await page.route('**/api/portal/v1/url', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '3', ratelimit: '"rl_qpm";r=0;t=3' }, json: body }),
    );
    await open(KNOWN);
    await page.waitForSelector('text=Limit reached');
    assert.match(
      (await page.textContent('main [role=alert]')) ?? '',
      /^Limit reachedYour limit is used up this minute\.(Room again in |There is room again)/,
    );
    assert.match((await page.textContent('.pill.danger')) ?? '', /0 left this minute/);
    await assertAccessible(page);
    await page.unroute('**/api/portal/v1/url');
    await page.click('text=Ask again'); // waits until the button is enabled
    await page.waitForSelector('.verdict');
  });

  await t.test('a proxy that answers with a page of its own is said in words', async () => {
    const { page, open } = await portal.visit();
    for (const status of [200, 502]) {
      await page.route('**/api/portal/v1/url', (route) =>
        route.fulfill({ status, contentType: 'text/html', body: '<html><h1>Sign in</h1></html>' }),
      );
      await open(KNOWN);
      const said = (await page.textContent('main [role=alert]')) ?? '';
      assert.match(said, new RegExp(`Something else answered instead of the server, with the status ${status}`));
      assert.doesNotMatch(said, /token|JSON|Bad Gateway/);
    }
    await page.unroute('**/api/portal/v1/url');
    await page.click('button:text-is("Try again")');
    await page.waitForSelector('.verdict');
  });

  await t.test('hostile texts are shown as text', async () => {
    const { page, open, messages } = await portal.visit({ width: WIDTHS.phone });
    const url = `http://203.0.113.7/${'a'.repeat(8_000)}`;
    const payload = {
      ts: 1,
      mime_type: HOSTILE,
      file_type: HOSTILE,
      file_ext: HOSTILE,
      file_size: 1,
      file_name: HOSTILE,
    };
    const event = { ts: 1, status: 'added', removal: HOSTILE, reporter: HOSTILE, confirmed_ts: 1 };
    const json = {
      input: url,
      url,
      steps: [HOSTILE],
      id: 1,
      status: 'online',
      since_ts: 1,
      confirmed_ts: 1,
      first_seen_ts: 1,
      reporter: HOSTILE,
      removal: HOSTILE,
      tags: [HOSTILE, '\ud800'],
      events: [event],
      payloads: [{ ...payload, sha256_hash: 'a'.repeat(64), 'malware-family': HOSTILE }],
      addresses: [{ ip: '203.0.113.7', asn: 64500, network: HOSTILE, ts: 1 }],
      host: HOSTILE,
      domain: HOSTILE,
      on_host: { urls: [], truncated: false },
      domain_listed: true,
      address_listed: ['XBL'],
    };
    await page.route('**/api/portal/v1/url', (route) => route.fulfill({ json }));
    await open(`/url?u=${encodeURIComponent(url)}`);
    await settled(page);
    assert.ok(!(await page.content()).includes('\u202e'), 'a character that turns the direction is on the page');
    assert.equal(await page.locator('img').count(), 0);
    assert.match((await page.textContent('.verdict')) ?? '', /<img src=x onerror=alert\(1\)>\\u202e/);
    await assertFits(page);
    await assertAccessible(page);
    assert.equal(await page.textContent('h1'), `${url.slice(0, 500)}…`);
    await page.click('text=Show all 8,019 characters');
    assert.equal(await page.textContent('h1'), url);
    await assertFits(page);
    await page.keyboard.press('Enter'); // the button keeps the focus
    assert.equal(await page.textContent('h1'), `${url.slice(0, 500)}…`);
    assert.deepEqual(messages, []);
  });
});
