import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFits, assertWhole, openPortal, screenshot } from './browser.ts';

/** A4 with the margins of a browser, and without. */
const WIDTHS = [718, 794];

test('printed pages', async (t) => {
  const portal = await openPortal(t);

  await t.test('have colours that mean something, and nothing to click', async () => {
    const { page, open } = await portal.visit({ theme: 'dark' });
    await open('/url?u=hxxp://203.0.113.7/bin.sh');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const selector of ['.legend .key-online', '.badge']) {
      const style = await page.evaluate<string>(
        `(({ backgroundColor, printColorAdjust }) => backgroundColor + ' ' + printColorAdjust)(getComputedStyle(document.querySelector('${selector}'), '::before'))`,
      );
      assert.match(style, /^rgb\(1\d\d, .* exact$/, selector);
    }
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 1_000 });
      await assertFits(page);
      await assertWhole(page);
      await screenshot(page, `print-url-${width}`);
    }
    const text = await page.locator('main').innerText();
    assert.match(text, /Payloads.*History.*nightwatch/s);
    assert.doesNotMatch(text, /Copy|Defanged|Related URLs|Raw JSON/);
  });

  await t.test('say which rows of a long table they have', async () => {
    const { page, open } = await portal.visit();
    await open('/search?asn=64500');
    await page.getByText('Complete', { exact: true }).waitFor();
    const count = await page.locator('.long tbody tr[aria-rowindex]').count();
    const line = page.locator('.printed');
    assert.equal(await line.isVisible(), false, 'only on paper');
    await page.emulateMedia({ media: 'print' });
    assert.match(await line.innerText(), new RegExp(`^Rows 1 to ${count} of 568\\. Download the file`));
    const { height: tall = 0 } = (await page.locator('.long').boundingBox()) ?? {};
    assert.ok(tall > count * 37, `${count} rows need more than ${tall} px`);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 1_000 });
      await assertFits(page);
      await assertWhole(page);
      assert.ok(((await page.locator('.long th').first().boundingBox())?.width ?? 0) > 150);
      await screenshot(page, `print-search-${width}`);
    }
    assert.doesNotMatch(await page.locator('main').innerText(), /Search again|NDJSON|Change the search/);
    await page.emulateMedia({ media: 'screen' });
    await page.route('**/api/portal/v1/overview', async (route) => {
      const json = await (await route.fetch()).json();
      const more = json.newest.map((row: { id: number }) => ({ ...row, id: -row.id }));
      await route.fulfill({ json: { ...json, newest: [...json.newest, ...more] } });
    });
    await open('/');
    await page.waitForSelector('text=Show 10 more');
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.isVisible('text=Show 10 more'), 'a folded table says how many rows are missing');
  });
});
