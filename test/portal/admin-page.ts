import { assertAccessible, assertFits, screenshot, settled, type Visit, WIDTHS } from './browser.ts';

/** The loaded page in both themes and at both widths, without loading it again. */
export async function assertGood({ page }: Visit, name: string): Promise<void> {
  await settled(page);
  for (const [device, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await assertAccessible(page);
      await assertFits(page);
      await screenshot(page, `${name}-${colorScheme}-${device}`);
    }
  }
}
