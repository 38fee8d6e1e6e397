import type { TestContext } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { applySuite } from './apply.ts';
import { barePayloadsSuite } from './bare-payloads.ts';
import { detailsSuite } from './details.ts';
import { exportSuite } from './export.ts';
import { filesSuite } from './files.ts';
import { listUrlsSuite } from './list-urls.ts';
import { listingsSuite } from './listings.ts';
import { networksSuite } from './networks.ts';
import { oneUrlSuite } from './one-url.ts';
import { resolutionsSuite } from './resolutions.ts';
import { searchSuite } from './search.ts';
import { tagsSuite } from './tags.ts';

/** Opens an empty store that is closed and deleted after the test. */
export type OpenStore = (t: TestContext) => Promise<Intelligence>;

/** The tests that every engine must pass. */
export function storeContract(open: OpenStore): void {
  applySuite(open);
  oneUrlSuite(open);
  detailsSuite(open);
  searchSuite(open);
  listingsSuite(open);
  filesSuite(open);
  resolutionsSuite(open);
  networksSuite(open);
  exportSuite(open);
  tagsSuite(open);
  barePayloadsSuite(open);
  listUrlsSuite(open);
}
