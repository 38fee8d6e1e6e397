import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { openApp } from '../../src/app.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../src/config/settings.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

// A real Chromium on a real server with demo data.

export const DEMO = { username: 'demo@example.com', password: 'demo' };
export const WIDTHS = { desktop: 1440, phone: 390 } as const;

export type Portal = {
  url: string;
  /** A new browser profile; logged in as the demo account unless said otherwise. */
  visit(options?: VisitOptions): Promise<Visit>;
};

export type VisitOptions = {
  theme?: 'light' | 'dark';
  width?: number;
  isLoggedIn?: boolean;
  /** A profile and a session that no other visit has. */
  hasOwnSession?: boolean;
};

/** Every page is tested in both themes and at both widths. */
export const LOOKS = [
  { name: 'light-desktop', theme: 'light', width: WIDTHS.desktop },
  { name: 'dark-phone', theme: 'dark', width: WIDTHS.phone },
] as const;

export type Visit = {
  page: Page;
  context: BrowserContext;
  /** Opens a path and waits until nothing is loading. */
  open(path: string): Promise<void>;
  /** What the console printed, and errors of scripts: a good page has none. */
  messages: string[];
};

/** One for all files of this process. */
let started: Promise<Browser> | undefined;
after(async () => (await started)?.close());

/** Chromium without windows takes two thirds of the CPU time of the whole one. Not every system has a package of it. */
function installedBrowser(): string {
  try {
    needs('chromium-headless-shell');
    return 'chromium-headless-shell';
  } catch {
    needs('chromium');
    return 'chromium';
  }
}

function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: execFileSync('bash', ['-c', 'command -v "$0"', installedBrowser()], { encoding: 'utf8' }).trim(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

/** Starts a server for the tests of a file. Browser profiles are closed with it, so there is one at a time. */
export async function openPortal(t: TestContext, settings: Partial<Settings> = {}): Promise<Portal> {
  let close: () => Promise<void> = async () => {};
  t.after(() => close()); // before the folder is removed
  const dataDir = temporaryFolder(t);
  const app = await openApp({
    ...DEFAULT_SETTINGS,
    dataDir,
    demo: true,
    port: 0,
    metricsPort: 'off',
    logLevel: 'error',
    ...settings,
  });
  close = app.close;
  const { url } = await app.listen();
  started ??= startBrowser();
  const browser = await started;
  close = async () => {
    // A page that is open may be asking for something: the route of a test would fail without its page.
    const pages = browser.contexts().flatMap((context) => context.pages());
    await Promise.all(pages.map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
    await Promise.all(browser.contexts().map((context) => context.close()));
    await app.close();
  };
  // One browser profile for most visits: each takes half a second, and an account that logs in often is slowed down.
  let shared: Promise<BrowserContext> | undefined;
  const sharedContext = () => {
    shared ??= browser.newContext({ baseURL: url }).then(async (context) => {
      await logIn(context, url);
      return context;
    });
    return shared;
  };
  return {
    url,
    async visit({ theme = 'light', width = WIDTHS.desktop, isLoggedIn = true, hasOwnSession = false } = {}) {
      const isShared = isLoggedIn && !hasOwnSession;
      const context = isShared ? await sharedContext() : await browser.newContext({ baseURL: url });
      if (isLoggedIn && hasOwnSession) await logIn(context, url);
      const page = await context.newPage();
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: theme });
      const messages: string[] = [];
      page.on('console', (message) => messages.push(message.text()));
      page.on('pageerror', (error) => messages.push(String(error)));
      const open = async (path: string) => {
        await page.goto(path);
        await settled(page);
      };
      return { page, context, open, messages };
    },
  };
}

/** As a page does it, but without a page. */
async function logIn(context: BrowserContext, url: string): Promise<void> {
  const headers = { origin: url, 'sec-fetch-site': 'same-origin' };
  const response = await context.request.post('/api/portal/v1/login', { data: DEMO, headers });
  assert.equal(response.status(), 200, await response.text());
}

/** No request is in progress, and no part of the page says that it is loading. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('.frame:not(:has(.progress.busy, .loading)) h1');
}

/** Reads until the page shows this: it may show a change some moments after a click. */
export async function assertSoon<T>(read: () => Promise<T>, expected: T, what?: string): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  let found = await read();
  while (!isDeepStrictEqual(found, expected) && performance.now() < endMs) {
    await setTimeout(20);
    found = await read();
  }
  assert.deepEqual(found, expected, what);
}

const SOON_MS = 20_000;

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * WCAG 2.2 AA, and headers of tables, which it does not ask for. Style sheets and media are not fetched again: no rule with these tags needs the former, and our pages have
 * none of the latter.
 */
const RULES = {
  resultTypes: ['violations'],
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  rules: { 'empty-table-header': { enabled: true } },
  preload: false,
};

/** Only the faults leave the page: Playwright takes half a second for all results. */
const FIND_FAULTS = `axe.run(document, ${JSON.stringify(RULES)}).then(({ violations }) =>
  violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => id + ': ' + help + ': ' + html)))`;

/** The message names every fault and its element. */
export async function assertAccessible(page: Page): Promise<void> {
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(AXE);
  assert.deepEqual(await page.evaluate(FIND_FAULTS), []);
}

/** Nothing is wider than the window. */
export async function assertFits(page: Page): Promise<void> {
  const [wide, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  assert.ok((wide ?? 0) <= (window ?? 0), `the page is ${wide} pixels wide in a window of ${window}`);
}

/** No row of a table is cut, and so no button: a table that is too wide scrolls inside itself. */
export async function assertWhole(page: Page): Promise<void> {
  const cut = await page.evaluate(`[...document.querySelectorAll('.table')]
    .filter((table) => table.scrollWidth > table.clientWidth)
    .map((table) => table.getAttribute('aria-label') + ': ' + (table.scrollWidth - table.clientWidth) + ' px')`);
  assert.deepEqual(cut, []);
}

/** For people who look at the pages: with URLWARDEN_SCREENSHOTS=folder each call keeps a picture. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.URLWARDEN_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

export const rowOf = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

/** The text of the file that a link of a page downloads. */
export async function downloaded(page: Page, format: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByText(`↓ ${format}`).click()]);
  return readFileSync(await file.path(), 'utf8');
}
