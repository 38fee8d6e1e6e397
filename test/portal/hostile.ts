import assert from 'node:assert/strict';
import { assertFits, screenshot, settled, type Visit } from './browser.ts';

export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  'a\u202eb',
  'half \ud800',
  `http://long.example/${'x'.repeat(8_000)}`,
];

/** The same response with hostile texts in all places that data can reach. */
export function hostile(response: unknown): unknown {
  const keys = ['about', 'terms', 'url', 'last_error', 'error', 'feed', 'source', 'reason', 'text', 'domain', 'cidr'];
  let next = 0;
  return JSON.parse(JSON.stringify(response), (key, value) =>
    keys.includes(key) && (typeof value === 'string' || key.endsWith('error'))
      ? HOSTILE[next++ % HOSTILE.length]
      : value,
  );
}

/** Opens a page of administrators whose data is hostile, on a phone. */
export async function assertShowsHostile({ page, open }: Visit, path: string): Promise<void> {
  await page.route('**/api/admin/v1/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ json: hostile(await response.json()) });
  });
  await open(path);
  await settled(page);
  assert.equal(await page.locator('main img').count(), 0);
  await assertFits(page);
  await screenshot(page, `hostile${path.replaceAll(/\W/g, '-')}`);
  const text = await page.locator('main').innerText();
  for (const shown of ['<img src=x onerror=alert(1)>', 'a\\u202eb', 'half \\ud800']) {
    assert.ok(text.includes(shown), `${path}: ${shown}`);
  }
}
