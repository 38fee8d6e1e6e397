import type { TestContext } from 'node:test';
import type { Control } from '../../../src/store/control.ts';
import { controlAccountsSuite } from './control-accounts.ts';
import { controlFeedsSuite } from './control-feeds.ts';
import { controlImportsSuite } from './control-imports.ts';
import { controlKeysSuite } from './control-keys.ts';
import { controlTiersSuite } from './control-tiers.ts';
import { controlUsageSuite } from './control-usage.ts';

/** Opens empty control data that is closed and gone after the test. */
export type OpenControl = (t: TestContext) => Promise<Control>;

/** What every engine must do; the test of an engine calls this and nothing else that others would share. */
export function controlContract(open: OpenControl): void {
  controlAccountsSuite(open);
  controlTiersSuite(open);
  controlKeysSuite(open);
  controlUsageSuite(open);
  controlFeedsSuite(open);
  controlImportsSuite(open);
}
