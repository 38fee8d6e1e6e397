import { assertAccessible, assertFits, LOOKS, screenshot, settled, type Visit } from './browser.ts';

/** The loaded page in both themes and at both widths, without loading it again. */
export async function assertGood({ page }: Visit, name: string): Promise<void> {
  await settled(page);
  for (const { name: look, theme: colorScheme, width } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await assertAccessible(page);
    await assertFits(page);
    await screenshot(page, `${name}-${look}`);
  }
}
