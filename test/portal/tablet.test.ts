import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertFits, assertWhole, openPortal, screenshot } from './browser.ts';

const WIDTHS = [768, 910, 1024];

/** A path, and what is there when it is loaded. */
const TABLES = [
  ['/url?u=http://203.0.113.7/bin.sh', 'section[aria-label^="Changes"] tbody tr'],
  ['/search?asn=64500', 'text=Complete'],
  ['/account', 'section[aria-label^="Sessions"] tbody tr'],
  ['/admin/feeds', 'tr:has-text("demo-failing")'],
  ['/admin/tiers', 'tr:has-text("developer")'],
  ['/admin/imports', 'section[aria-label^="Imports"] tbody tr'],
  ['/admin/health', 'section[aria-label="Servers"] tbody tr'],
] as const;

test('pages between phone and desktop', async (t) => {
  const portal = await openPortal(t);

  await t.test('no table is cut, and a URL has room', async () => {
    const { page, open, messages } = await portal.visit();
    for (const [path, loaded] of TABLES) {
      await open(path);
      await page.waitForSelector(loaded);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await assertFits(page);
        await assertWhole(page);
        const columns = await columnWidths(page);
        assert.ok(Math.min(...columns) > 150, `${path} at ${width}: the URL has ${columns} px`);
        await screenshot(page, `tablet${path.replaceAll(/\W+/g, '-')}-${width}`);
      }
    }
    assert.deepEqual(messages, []);
  });
});

/** Of the columns whose width is what the others leave. */
const columnWidths = (page: Page) =>
  page.evaluate<number[]>(
    `[...document.querySelectorAll('.long th.long-text')].map((column) => Math.round(column.getBoundingClientRect().width))`,
  );
