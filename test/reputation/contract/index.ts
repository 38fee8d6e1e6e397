import type { TestContext } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { domainSuite } from './domains.ts';
import { listReadsSuite } from './list-reads.ts';
import { listingsSuite } from './listings.ts';
import { listsSuite } from './lists.ts';

/** Opens an empty store that is closed and deleted after the test. */
export type OpenStore = (t: TestContext) => Promise<Intelligence>;

/** The tests that every engine must pass. */
export function reputationContract(open: OpenStore): void {
  listingsSuite(open);
  listsSuite(open);
  domainSuite(open);
  listReadsSuite(open);
}
