import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../until.ts';
import {
  assertAccessible,
  assertFits,
  assertSoon,
  downloaded,
  LOOKS,
  openPortal,
  screenshot,
  type Visit,
  WIDTHS,
} from './browser.ts';

const NETWORK = '/search?ip=203.0.113.0%2F24';
const ENDPOINT = '**/api/portal/v1/search*';
const DAY = 86_400;
const TODAY = Math.floor(Date.now() / 1_000 / DAY) * DAY;

/** CPU time of the page until its rows are shown: four times what it takes. Other work beside the test does not count. */
const MAX_CPU_MS: [rows: number, ms: number][] = [
  [10_000, 1_500],
  [200_000, 6_000],
];

const line = (id: number, more: object = {}) =>
  JSON.stringify({
    ts: TODAY - (id % 200) * DAY,
    id,
    url: `http://192.0.2.${id % 50}/${id}`,
    status: id % 3 ? 'offline' : 'online',
    family: id % 2 ? 'Mirai' : null,
    asn: 64500 + (id % 4),
    network: 'Example Hosting',
    ...more,
  });

const respond = (page: Page, lines: string[]) =>
  page.route(ENDPOINT, (route) =>
    route.fulfill({ contentType: 'application/x-ndjson', body: lines.map((text) => `${text}\n`).join('') }),
  );

/** The page gets a stream that the test writes: `feed(text)`, `feed(null)` to break it. */
const ownStream = (page: Page) =>
  page.addInitScript(`
    const original = window.fetch;
    window.fetch = (path, init) => {
      if (!String(path).startsWith('/api/portal/v1/search')) return original(path, init);
      const body = new ReadableStream({
        start(controller) {
          window.feed = (text) => text === null ? controller.error(new TypeError('network error')) : controller.enqueue(new TextEncoder().encode(text));
          init.signal?.addEventListener('abort', () => { window.wasAborted = true; controller.error(init.signal.reason); });
        },
      });
      return Promise.resolve(new Response(body));
    };`);

const feed = (page: Page, text: string | null) => page.evaluate(`window.feed(${JSON.stringify(text)})`);

/** A stream of many records, made inside of the page: a fulfilled route of this size takes half a minute. */
const madeStream = (page: Page, total: number) =>
  page.addInitScript(`
    const original = window.fetch;
    window.fetch = async (path, init) => {
      if (!String(path).startsWith('/api/portal/v1/search')) return original(path, init);
      let id = 0;
      return new Response(new ReadableStream({
        pull(controller) {
          if (id === ${total}) return controller.close();
          let text = '';
          for (let i = 0; i < 500; i++) {
            id++;
            text += JSON.stringify({ ts: ${TODAY} - (id % 300) * ${DAY}, id, url: 'http://192.0.2.' + (id % 250) + '/' + id, status: 'online', family: 'Mirai', asn: 64500, network: null }) + '\\n';
          }
          controller.enqueue(new TextEncoder().encode(text));
        },
      }));
    };`);

/** Keeps the times of the last byte and of the end, and the longest time without a frame. */
const watchTimes = (page: Page) =>
  page.addInitScript(`
    const inner = window.fetch;
    window.fetch = async (path, init) => {
      const response = await inner(path, init);
      if (!String(path).startsWith('/api/portal/v1/search')) return response;
      window.gapMs = 0;
      let lastMs = performance.now();
      const frame = (nowMs) => {
        window.gapMs = Math.max(window.gapMs, nowMs - lastMs);
        lastMs = nowMs;
        const status = document.querySelector('.search-progress [role=status]');
        if (status?.textContent === 'Complete') window.doneMs = performance.now();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
      const watch = new TransformStream({ flush() { window.lastByteMs = performance.now(); } });
      return new Response(response.body.pipeThrough(watch), response);
    };`);

/** Not waitForFunction: the policy of the page forbids its way to repeat a text. */
const untilTrue = (page: Page, condition: string) => until(() => page.evaluate<boolean>(condition), condition, 60_000);

const counts = (page: Page) => page.locator('.figures').innerText();
const shownUrls = (page: Page) => page.locator('.long tbody a[href^="/url"]').allInnerTexts();

async function searched(visit: Visit, path: string): Promise<void> {
  await visit.open(path);
  await visit.page.getByText('Complete', { exact: true }).waitFor();
}

describe('the search page', () => {
  it('works in a browser', async (t) => {
    const portal = await openPortal(t);
    await Promise.all(Object.entries(PARTS).map(([name, part]) => t.test(name, (inner) => part(inner, portal))));
    // Alone, because it prints times.
    await t.test('10,000 and 200,000 rows', (inner) => manyRows(inner, portal));
  });
});

type Part = (t: TestContext, portal: Awaited<ReturnType<typeof openPortal>>) => Promise<void>;

const PARTS: Record<string, Part> = {
  async 'a search is among the last queries in its own words'(_, portal) {
    const visit = await portal.visit({ hasOwnSession: true });
    await searched(visit, '/search?host=files.example.com');
    await visit.open('/');
    const query = visit.page.getByRole('listitem').filter({ hasText: 'files.example.com' });
    assert.match(await query.innerText(), /^URLs on files\.example\.com\s+search, /);
  },

  async 'a form builds a search and shows its cost before it is sent'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await visit.open('/search');
    await assertAccessible(page);
    await screenshot(page, 'search-form');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('Type what to search for.').waitFor();
    await page.getByLabel('Address or network').last().fill('203.0.113.0/24');
    await page.getByText('Counts as 9 queries').waitFor();
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('Complete', { exact: true }).waitFor();
    assert.equal(new URL(page.url()).search, '?ip=203.0.113.0%2F24');
    assert.match(await counts(page), /^[\d,]+ URLs from [\d,]+ facts$/);

    await page.getByText('Change the search').click();
    await page.getByRole('radio', { name: 'Host' }).check();
    await page.locator('input[name=value]').fill('files.example[.]com');
    await page.locator('select[name=window]').selectOption('custom');
    await page.getByLabel('First day').fill('2020-01-01');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('heading', { name: 'URLs on files.example.com' }).waitFor();
    await page.getByText('Seen from 1 Jan 2020 to now.').waitFor();
    assert.equal(new URL(page.url()).search, '?host=files.example.com&since=1577836800');
    assert.deepEqual(visit.messages, []);
  },

  async 'a network asks first, then shows rows, filters and downloads'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await visit.open(NETWORK);
    await page.getByText('This search counts as 9 queries.').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('Complete', { exact: true }).waitFor();
    await screenshot(page, 'search-network');
    const urls = await shownUrls(page);
    assert.ok(urls.length > 10 && urls.every((url) => url.startsWith('http://203.0.113.')), urls.join());
    const [urlCount = 0, factCount = 0] = (await counts(page)).replaceAll(',', '').match(/\d+/g)?.map(Number) ?? [];
    assert.ok(factCount > urlCount, 'some URLs have several facts');

    const csv = (await downloaded(page, 'CSV')).trimEnd().split('\r\n');
    assert.equal(csv.length, factCount + 1);
    assert.equal((await downloaded(page, 'NDJSON')).trimEnd().split('\n').length, factCount);
    assert.equal(JSON.parse(await downloaded(page, 'JSON')).length, factCount);

    // A look at a URL and back costs nothing: the result is still there.
    let requests = 0;
    page.on('request', (request) => {
      if (request.url().includes('/v1/search')) requests++;
    });
    await page.locator('.long tbody a').first().click();
    await page.waitForURL('**/url?u=*');
    await page.goBack();
    await page.getByText('Complete', { exact: true }).waitFor();
    assert.equal(requests, 0);
    // A button that shows the cost does not ask.
    await page.getByRole('link', { name: 'All 9 queries' }).click();
    await page.getByText('Seen at any time.').waitFor();
    await page.getByText('Complete', { exact: true }).waitFor();
    assert.equal(requests, 1);
    assert.deepEqual(visit.messages, []);
  },

  async 'both themes, both widths'(_, portal) {
    for (const { name, theme, width } of LOOKS) {
      const visit = await portal.visit({ theme, width });
      await searched(visit, '/search?host=files.example.com'); // a few rows: the check takes long for many
      await assertFits(visit.page);
      await assertAccessible(visit.page);
      await screenshot(visit.page, `search-${name}`);
      assert.deepEqual(visit.messages, []);
    }
  },

  async 'facets filter, and again remove'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await respond(
      page,
      [1, 2, 3, 4, 5, 6].map((id) => line(id)),
    );
    await searched(visit, '/search?asn=64500');
    const facet = (name: string) => page.getByRole('region', { name }).getByRole('button');
    const online = page.getByRole('button', { name: 'online 2' });
    await online.click();
    const lasts = async () => (await shownUrls(page)).map((url) => url.at(-1));
    await assertSoon(lasts, ['3', '6']);
    await assertSoon(() => facet('Family').count(), 2);
    await page.getByRole('button', { name: 'Mirai 1' }).click();
    await assertSoon(lasts, ['3']);
    await page.getByText('1 of 6 URLs').waitFor();
    await screenshot(page, 'search-filtered');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'online', pressed: true }).click();
    await assertSoon(async () => (await lasts()).length, 3);
    await page.getByRole('button', { name: 'Remove filters' }).click();
    // Sorting at the end: newest first, then by URL.
    await assertSoon(lasts, ['1', '2', '3', '4', '5', '6']);
    await page.getByRole('button', { name: 'Seen' }).click();
    await assertSoon(async () => (await lasts())[0], '6');
    await page.getByRole('button', { name: 'Status', exact: true }).click();
    await assertSoon(() => page.locator('.long tbody .status').first().innerText(), 'offline');
    assert.deepEqual(visit.messages, []);
  },

  async 'the histogram selects days by pointer and by keyboard'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await respond(
      page,
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => line(id)),
    );
    await searched(visit, '/search?asn=64500');
    const chart = page.getByRole('slider');
    const box = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    // The last ten of thirty bars have a URL each.
    const at = (bar: number) => [box.x + ((bar + 20.5) / 30) * box.width, box.y + 20] as const;
    const number = async () => (await shownUrls(page)).length;
    await page.mouse.click(...at(2));
    await assertSoon(number, 1, 'a click selects a day');
    await page.mouse.click(...at(5));
    await assertSoon(number, 4, 'a second click selects everything between');
    await page.mouse.click(...at(5));
    await assertSoon(number, 1, 'a third begins again');
    await page.mouse.click(...at(5));
    await assertSoon(number, 10, 'the same day again removes it');
    await page.mouse.move(...at(1));
    await page.mouse.down();
    await page.mouse.move(...at(6), { steps: 4 });
    await page.mouse.up();
    await assertSoon(number, 6, 'dragging');
    await chart.focus();
    await page.keyboard.press('Escape');
    await assertSoon(number, 10);
    await page.keyboard.press('End');
    await assertSoon(number, 1);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
    await assertSoon(number, 3);
    assert.match((await chart.getAttribute('aria-valuetext')) ?? '', / to .* selected$/);
    assert.deepEqual(visit.messages, []);
  },

  async 'rows are shown while they arrive; Stop keeps them and the file says so'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await ownStream(page);
    await page.goto('/search?asn=64500');
    await untilTrue(page, 'window.feed !== undefined');
    await feed(page, `${line(1)}\n${line(2)}\n${line(2, { ts: TODAY - 3 * DAY })}\n${line(3).slice(0, 20)}`);
    await page.getByText('2 URLs from 3 facts').waitFor();
    await page.getByText('Searching …').waitFor();
    await screenshot(page, 'search-running');
    await feed(page, `${line(3).slice(20)}\n`);
    await page.getByText('3 URLs from 4 facts').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForSelector('section.search-progress:focus');
    await page.getByText('Incomplete: it was stopped after 4 facts.').waitFor();
    assert.equal(await page.evaluate('window.wasAborted'), true);
    await assertSoon(async () => (await shownUrls(page)).length, 3);
    assert.match(await downloaded(page, 'CSV'), /\r\n# Incomplete: it was stopped after 4 facts\.\r\n$/);
    await assertAccessible(page);
    assert.deepEqual(visit.messages, []);
  },

  async 'a stream that breaks keeps its rows'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await ownStream(page);
    await page.goto('/search?asn=64500');
    await untilTrue(page, 'window.feed !== undefined');
    await feed(page, `${line(1)}\n${line(2)}\n{"ts":`);
    await page.getByText('2 URLs from 2 facts').waitFor();
    await feed(page, null);
    await page.getByText('Incomplete: the connection broke after 2 facts. What arrived is kept.').waitFor();
    await assertSoon(async () => (await shownUrls(page)).length, 2);
    assert.deepEqual(JSON.parse(await downloaded(page, 'JSON')).at(-1), {
      incomplete: 'Incomplete: the connection broke after 2 facts.',
    });
    await screenshot(page, 'search-broken');
    assert.deepEqual(visit.messages, []);
  },

  async 'filters are in the address, which can be shared and loaded again'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await respond(
      page,
      Array.from({ length: 30 }, (_, i) => line(i)),
    );
    await searched(visit, '/search?asn=64500');
    await page.getByRole('button', { name: /^online/ }).click();
    await page.getByRole('button', { name: /^Mirai/ }).click();
    await page.getByText('5 of 30 URLs').waitFor();
    const address = new URL(page.url());
    assert.equal(address.search, '?asn=64500&only-status=online&only-family=Mirai');
    const urls = await shownUrls(page);
    await page.reload();
    await page.getByText('5 of 30 URLs').waitFor();
    assert.deepEqual(await shownUrls(page), urls);
    assert.equal(await page.locator('.facet[aria-pressed=true]').count(), 2);
    await page.getByRole('button', { name: 'Search again' }).click();
    await page.getByText('5 of 30 URLs').waitFor();
    await page.locator('.long tbody a').first().click();
    await page.waitForURL('**/url?u=*');
    await page.goBack();
    await page.getByText('5 of 30 URLs').waitFor();
    await page.getByRole('button', { name: 'Remove filters' }).click();
    await page.getByRole('heading', { name: '30 URLs', exact: true }).waitFor();
    assert.equal(new URL(page.url()).search, '?asn=64500');
    await visit.open('/search?host=a.example&since=abc');
    await page.getByText('since and until in this address must be Unix seconds.').waitFor();
    assert.equal(await page.inputValue('input[name=value]'), 'a.example');
    assert.ok(await page.isChecked('input[name=key][value=host]'));
    assert.deepEqual(visit.messages, []);
  },

  async 'whoever opens a URL and goes back finds the table where it was left'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await respond(
      page,
      Array.from({ length: 400 }, (_, i) => line(i)),
    );
    await searched(visit, '/search?asn=64500');
    const before = await shownUrls(page);
    await page.evaluate(`document.querySelector('.long').scrollTo(0, 5000)`);
    const top = () => page.evaluate<number>(`document.querySelector('.long')?.scrollTop ?? -1`);
    await until(async () => (await shownUrls(page)).at(-1) !== before.at(-1), 'other rows', 10_000);
    await page.evaluate(`[...document.querySelectorAll('.long tbody a[href^="/url"]')].at(-1).click()`);
    await page.waitForURL('**/url?u=*');
    await page.goBack();
    await assertSoon(top, 5_000);
    await page.getByRole('button', { name: 'URL', exact: true }).click();
    await assertSoon(top, 0);
  },

  async 'nothing found, a wrong key, a limit and an absent server are said in words'(_, portal) {
    const visit = await portal.visit();
    const { page } = visit;
    await visit.open('/search?host=nothing.example');
    await page.getByText('Nothing matches nothing.example in the last 12 months.').waitFor();
    await assertAccessible(page);
    await screenshot(page, 'search-nothing');
    await page.getByRole('link', { name: 'search without a limit of time' }).click();
    await page.getByText('Nothing matches nothing.example at any time.').waitFor();
    await visit.open('/search?ip=nonsense');
    await page.getByText('This is no address and no network.').waitFor();
    await page.route(ENDPOINT, (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json: { code: 429, message: 'Hourly limit' } }),
    );
    await visit.open('/search?asn=64500');
    await page.getByText('Limit reached').waitFor();
    await page.unroute(ENDPOINT);
    await page.route(ENDPOINT, (route) => route.abort());
    await visit.open('/search?asn=64501');
    await page.getByText('The server does not answer', { exact: true }).waitFor();
    await page.unroute(ENDPOINT);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Complete', { exact: true }).waitFor();
    const unexpected = visit.messages.filter((text) => !text.startsWith('Failed to load resource'));
    assert.deepEqual(unexpected, []);
  },

  async 'hostile texts are texts'(_, portal) {
    const visit = await portal.visit({ width: WIDTHS.phone });
    const { page } = visit;
    const image = '<img src=x onerror=alert(1)>';
    await respond(page, [
      line(1, { url: `http://${image}/`, family: image, network: image, status: image }),
      line(2, { url: 'http://a.example/\u202egpj.exe', family: '\u202eevil', network: '\u0000' }),
      line(3, { url: `http://b.example/${'a'.repeat(8_000)}` }),
      line(4, { url: 'http://c.example/\ud800', family: '\udc00' }),
    ]);
    await searched(visit, `/search?malware_family=${encodeURIComponent(`${image}\u202e`)}`);
    await page.locator('.long tbody a').first().waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    const text = (await page.locator('main').textContent()) ?? '';
    for (const part of [image, '\\u202egpj.exe', '\\u202eevil', '\\u0000', '\\ud800', '\\udc00'])
      assert.ok(text.includes(part), `${part} in ${text.replaceAll(/a{99,}/g, 'a…')}`);
    assert.doesNotMatch(text, /[\u202e\0]/u);
    await assertFits(page);
    await assertAccessible(page);
    await screenshot(page, 'search-hostile');
    assert.deepEqual(visit.messages, []);
  },
};

const manyRows: Part = async (t, portal) => {
  for (const [total, maxCpuMs] of MAX_CPU_MS) {
    const visit = await portal.visit();
    const { page } = visit;
    if (total === 10_000)
      await respond(
        page,
        Array.from({ length: total }, (_, i) => line(i + 1)),
      );
    else await madeStream(page, total);
    await watchTimes(page);
    const devTools = await visit.context.newCDPSession(page);
    await devTools.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto('/search?asn=64500');
    await untilTrue(page, 'window.doneMs !== undefined');
    const { metrics } = await devTools.send('Performance.getMetrics');
    const cpuMs = 1_000 * (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? Number.NaN);
    const [ms = 0, gapMs = 0] = await page.evaluate<number[]>('[window.doneMs - window.lastByteMs, window.gapMs]');
    t.diagnostic(
      `${total} rows: shown ${Math.round(ms)} ms after the last byte, longest pause ${Math.round(gapMs)} ms, CPU time ${Math.round(cpuMs)} ms`,
    );
    assert.ok(cpuMs < maxCpuMs, `${cpuMs} ms`);
    const text = total.toLocaleString('en-US');
    assert.equal(await counts(page), `${text} URLs from ${text} facts`);
    assert.ok((await page.locator('.long tbody tr').count()) < 80, 'only visible rows are in the document');
    const startMs = performance.now();
    await page.getByRole('button', { name: 'URL', exact: true }).click();
    await page.locator('th[aria-sort=ascending]').waitFor();
    t.diagnostic(`${total} rows: sorted by URL in ${Math.round(performance.now() - startMs)} ms`);
    await page.locator('.table.long').focus();
    await page.keyboard.press('End');
    await page.waitForSelector(`[aria-rowindex="${total + 1}"]`);
    const list = "document.querySelector('.table.long')";
    await untilTrue(page, `${list}.scrollHeight - ${list}.scrollTop - ${list}.clientHeight < 2`);
    assert.equal(await page.evaluate(`${list}.querySelector('tr[aria-rowindex="${total}"]').offsetHeight`), 37);
    assert.deepEqual(visit.messages, []);
  }
};
