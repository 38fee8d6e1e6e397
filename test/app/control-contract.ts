import type { TestContext } from 'node:test';
import type { Control } from '../../src/app/stores.ts';
import { controlAccountsSuite } from '../accounts/contract/accounts.ts';
import { controlKeysSuite } from '../accounts/contract/keys.ts';
import { controlSessionsSuite } from '../accounts/contract/sessions.ts';
import { controlTiersSuite } from '../accounts/contract/tiers.ts';
import { controlAuditSuite } from '../audit/contract/audit.ts';
import { controlSoftLimitSuite } from '../audit/contract/soft-limit.ts';
import { controlDailyTasksSuite } from '../database/contract/daily-tasks.ts';
import { controlListsSuite } from '../exports/contract/lists.ts';
import { controlFeedsSuite } from '../ingest/contract/feeds.ts';
import { controlImportsSuite } from '../ingest/contract/imports.ts';
import { controlUsageSuite } from '../limits/contract/usage.ts';

/** Opens an empty control store, which is closed and deleted after the test. */
export type OpenControl = (t: TestContext) => Promise<Control>;

/** The tests for every engine of the control store. */
export function controlContract(open: OpenControl): void {
  controlAccountsSuite(open);
  controlSessionsSuite(open);
  controlTiersSuite(open);
  controlKeysSuite(open);
  controlUsageSuite(open);
  controlDailyTasksSuite(open);
  controlFeedsSuite(open);
  controlImportsSuite(open);
  controlAuditSuite(open);
  controlSoftLimitSuite(open);
  controlListsSuite(open);
}
