import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { AddressPageResponse, DomainPageResponse } from '../../src/portal/schemas.ts';
import { assertAccessible, assertFits, openPortal, type Portal, screenshot, WIDTHS } from './browser.ts';

// The pages of an address, a network and a domain.

const LISTED = '203.0.113.130';
const CONTROLLER = 'controller.example';

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  'a\u202egpj.exe',
  `http://x.example/${'a'.repeat(8_000)}`,
  'half \ud800',
];

test('pages of an address, a network and a domain', async (t) => {
  const portal = await openPortal(t);
  await t.test('loaded, in both themes and widths', () => looks(portal));
  await t.test('an address: verdict, listings, networks around it', () => address(portal));
  await t.test('a network asks before it spends queries', () => network(portal));
  await t.test('a domain: verdict, score and reasons', () => domain(portal));
  await t.test('URLs that begin with the same characters can be distinguished', () => longUrls(portal));
  await t.test('searches for what these pages show have no limit of time', () => searches(portal));
  await t.test('states: not listed, unknown, not understood, limit reached', () => states(portal));
  await t.test('hostile texts are shown as text', () => hostile(portal));
});

const mainText = (page: Page) => page.locator('main').innerText();

async function looks(portal: Portal): Promise<void> {
  for (const [theme, width] of [
    ['light', WIDTHS.desktop],
    ['dark', WIDTHS.phone],
  ] as const) {
    const { page, open, messages } = await portal.visit({ theme, width });
    for (const [name, path] of [
      ['address', `/address/${LISTED}`],
      ['domain', `/domain/${CONTROLLER}`],
    ] as const) {
      await open(path);
      await assertAccessible(page);
      await assertFits(page);
      await screenshot(page, `${name}-${theme}-${width}`);
    }
    assert.deepEqual(messages, []);
  }
}

async function address(portal: Portal): Promise<void> {
  const { page, open, messages } = await portal.visit();
  await open(`/address/${LISTED}`);
  const text = await mainText(page);
  for (const part of ['Listed', 'botnet controller, network under hostile control', 'AgentTesla', 'port 443'])
    assert.ok(text.includes(part), part);
  assert.ok(text.includes('reported by demo-hijacked'));
  assert.equal(await page.locator('h1').innerText(), LISTED);
  await open('/address/203.0.113.7');
  assert.ok((await mainText(page)).includes('1 malware URL online'));
  const wider = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: '203.0.113.0/24' }) });
  assert.ok((await wider.innerText()).includes('9 queries'));
  // Its cost was shown, so it is not asked for again.
  await wider.getByRole('link').click();
  await page.getByText('Partly listed').waitFor();
  assert.equal(new URL(page.url()).pathname, '/network/203.0.113.0/24');
  await open('/');
  assert.ok((await mainText(page)).includes('203.0.113.0/24'), 'it is among the last queries');
  assert.deepEqual(messages, []);
}

async function network(portal: Portal): Promise<void> {
  const { page, open, messages } = await portal.visit();
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/portal/v1/network/')) asked++;
  });
  await open('/network/203.0.113.77/24');
  await page.getByText('counts as 9 queries').waitFor();
  assert.equal(asked, 0);
  await assertAccessible(page);
  await screenshot(page, 'network-asks');
  await page.getByRole('button', { name: 'Look it up' }).click();
  await page.getByText('Partly listed').waitFor();
  assert.equal(asked, 1);
  await assertFits(page);
  await screenshot(page, 'network');
  // One query: no query.
  await open('/network/2001:db8:bc::/64');
  await page.getByText('Botnet controller (BCL)').waitFor();
  // The box shows the cost.
  await page.getByRole('combobox').fill('198.51.100.0/25');
  await page.getByRole('combobox').press('Enter');
  await page.getByText('Partly listed').waitFor();
  await open('/network/203.0.0.0/16');
  assert.ok((await mainText(page)).includes('too wide for a page'));
  await open('/network/203.0.113.0/99');
  assert.ok((await mainText(page)).includes('This is no network'));
  await open('/address/999.1.1.1');
  assert.ok((await mainText(page)).includes('This is no address'));
  assert.deepEqual(messages, []);
}

async function domain(portal: Portal): Promise<void> {
  const { page, open, messages } = await portal.visit();
  await open(`/domain/${CONTROLLER}`);
  const text = await mainText(page);
  for (const part of ['Listed', 'unless it is seen again', '−46.6', '−28.0', 'Registered on', 'Example Registrar'])
    assert.ok(text.includes(part), part);
  assert.ok(text.includes('Names gate.controller.example as a botnet controller'));
  assert.ok(text.includes('ns1.hoster.test'));
  await open('/domain/blog.example.org');
  assert.match(await mainText(page), /Abused site[\s\S]*You asked for\s+blog\.example\.org\s+listed/);
  await screenshot(page, 'domain-abused');
  await open('/domain/blog.example.org.');
  assert.match(await mainText(page), /You asked for\s+blog\.example\.org\s+listed/);
  await open('/domain/wiki.example');
  assert.ok((await mainText(page)).includes('Not listed'));
  await screenshot(page, 'domain-good');
  assert.deepEqual(messages, []);
}

/** URLs on one host begin with the same characters: a line of a table would show the same of each. */
async function longUrls(portal: Portal): Promise<void> {
  const urls = ['a', 'b'].map((name, id) => ({
    id,
    url: `http://203.0.113.7:1080/${'folder/'.repeat(7)}${name}.zip`,
    status: 'online',
    ts: TS,
    family: null,
    asn: null,
    network: null,
  }));
  for (const width of [WIDTHS.desktop, WIDTHS.phone]) {
    const { page, open } = await portal.visit({ width });
    const cut = () =>
      page.evaluate(`[...document.querySelectorAll('td a.mono')]
        .filter((link) => link.scrollWidth > link.clientWidth || link.scrollHeight > link.clientHeight).length`);
    await page.route('**/portal/v1/address/*', async (route) => {
      const report = await (await route.fetch()).json();
      await route.fulfill({ json: { ...report, urls, domains: [] } });
    });
    await open('/address/203.0.113.7');
    assert.equal(await page.locator('td a.mono').count(), 2);
    assert.equal(await cut(), 0, `${width} pixels`);
    await screenshot(page, `address-long-urls-${width}`);
    if (width === WIDTHS.phone) continue;
    const body = urls.map((line) => `${JSON.stringify(line)}\n`).join('');
    await page.route('**/portal/v1/search*', (route) => route.fulfill({ contentType: 'application/x-ndjson', body }));
    await open('/search?ip=203.0.113.7');
    await page.getByText('Complete').waitFor();
    assert.equal(await cut(), 0, 'in a search');
    const rows = await page.locator('.long tbody tr').all();
    const heights = await Promise.all(rows.map(async (row) => (await row.boundingBox())?.height));
    assert.deepEqual(heights, [37, 37]);
  }
}

/** The pages show what was ever seen. A search of the last twelve months may have none of it. */
async function searches(portal: Portal): Promise<void> {
  const { page, open, messages } = await portal.visit();
  const mustSearchAll = async (name: string, key: string) =>
    assert.equal(
      await page.getByRole('link', { name, exact: true }).first().getAttribute('href'),
      `/search?${key}&since=0`,
    );
  await page.route('**/portal/v1/address/*', async (route) => {
    const report = await (await route.fetch()).json();
    await route.fulfill({ json: { ...report, urls_truncated: true } });
  });
  await page.route('**/portal/v1/url', async (route) => {
    const report = await (await route.fetch()).json();
    await route.fulfill({ json: { ...report, on_host: { ...report.on_host, truncated: true } } });
  });
  await open('/address/203.0.113.7');
  await mustSearchAll('All of them, with filters and downloads', 'ip=203.0.113.7');
  await open('/url?u=https://files.example.com/never-seen');
  await mustSearchAll('All URLs on this host', 'host=files.example.com');
  await open(`/domain/${CONTROLLER}`);
  await mustSearchAll(`gate.${CONTROLLER}`, `host=gate.${CONTROLLER}`);
  assert.deepEqual(messages, []);
}

async function states(portal: Portal): Promise<void> {
  const { page, open, messages } = await portal.visit();
  await open('/address/192.0.2.200');
  assert.match(await mainText(page), /Not listed[\s\S]*That does not make it safe/);
  await assertAccessible(page);
  await screenshot(page, 'address-not-listed');
  await open('/address/192.0.2.11');
  assert.match(await mainText(page), /Not listed now[\s\S]*1 past listing/);
  await open('/domain/never-seen.example');
  assert.match(await mainText(page), /Unknown[\s\S]*Nothing is known about this domain/);
  await assertAccessible(page);
  await screenshot(page, 'domain-unknown');
  assert.deepEqual(messages, []);
  // From here on the browser prints the status of failed requests.
  await open('/domain/com');
  assert.match(await mainText(page), /public suffix/);
  await page.route('**/portal/v1/address/*', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '30' }, json: { code: 429, message: 'Too many queries' } }),
  );
  await open(`/address/${LISTED}`);
  assert.match(await mainText(page), /Limit reached[\s\S]*Room again in/);
  await assertAccessible(page);
  await page.route('**/portal/v1/domain/*', (route) => route.abort());
  await open(`/domain/${CONTROLLER}`);
  assert.match(await mainText(page), /The server does not answer/);
}

async function hostile(portal: Portal): Promise<void> {
  const { page, open, messages } = await portal.visit({ width: WIDTHS.phone });
  await page.route('**/portal/v1/address/*', (route) => route.fulfill({ json: hostileAddress() }));
  await page.route('**/portal/v1/domain/*', (route) => route.fulfill({ json: hostileDomain() }));
  for (const path of [`/address/${LISTED}`, `/domain/${CONTROLLER}`]) {
    await open(path);
    const text = await mainText(page);
    for (const part of [HOSTILE[0], 'a\\u202egpj.exe', 'half \\ud800']) assert.ok(text.includes(part as string), part);
    assert.equal(await page.locator('main img').count(), 0);
    await screenshot(page, `hostile-${path.split('/')[1]}`);
    await assertFits(page);
  }
  assert.deepEqual(messages, []);
}

const TS = Math.floor(Date.now() / 1_000);
const TIMES = { listed_ts: TS, seen_ts: TS, valid_until_ts: TS + 9_999, removed_ts: null };

function hostileAddress(): AddressPageResponse {
  return {
    cidr: LISTED,
    ip: LISTED,
    asn: 64500,
    network: HOSTILE[0] as string,
    listings: HOSTILE.map((text) => ({
      dataset: 'BCL',
      state: 'live',
      cidr: LISTED,
      source: text,
      botname: text,
      details: { subject: text },
      ...TIMES,
    })),
    domains: HOSTILE.map((text) => ({ domain: text, hostname: text, last_ts: TS })),
    urls: HOSTILE.map((url, id) => ({ id, url, status: 'online', ts: TS, family: url })),
    listings_truncated: true,
    domains_truncated: true,
    urls_truncated: true,
  };
}

function hostileDomain(): DomainPageResponse {
  const seen = { 'last-seen': TS, score: -1, counter: 1 };
  return {
    domain: CONTROLLER,
    known: true,
    score: -12,
    dimensions: { malware: -12, human: 50 },
    listed: false,
    listed_until_ts: null,
    evidence_ts: TS,
    last_seen_ts: TS,
    abused: true,
    abused_reason: HOSTILE[1] as string,
    tags: HOSTILE,
    whois: { created_ts: TS, expires_ts: TS, registrar: HOSTILE[2] as string },
    reasons: HOSTILE.map((text) => ({ dimension: 'malware', points: -3, text, feed: text, ts: TS })),
    contexts: [],
    hostnames: HOSTILE.map((hostname) => ({ hostname, 'last-seen': TS, 'is-listed': true, abused: true })),
    addresses: [{ ip: LISTED, ...seen, asn: 64500, network: HOSTILE[2] as string }],
    name_servers: HOSTILE.map((ns) => ({ ns, ...seen })),
    senders: HOSTILE.map((helo) => ({ ip: LISTED, helo, 'last-seen': TS, score: 0 })),
    urls: HOSTILE.map((url) => ({ url, botname: url, 'last-seen': TS })),
    files: HOSTILE.map((hash) => ({ type: 'sha256', hash, botname: hash, 'last-seen': TS })),
    truncated: { hostnames: true, addresses: true, name_servers: true, senders: true, urls: true, files: true },
    settings: { human: 50, abused: true, reason: HOSTILE[3] as string, set_ts: TS },
  };
}
