import type { Intelligence } from '../../../src/app/stores.ts';
import type { Observation } from '../../../src/core/observation.ts';
import { historyOf, lastOf } from '../results.ts';
import { ALWAYS, bounds, collectFacts, searchKey } from './observations.ts';

/** All that a store returns for the URLs of these observations, without ids. */
export async function dump(store: Intelligence, observations: readonly Observation[]) {
  const urls = [...new Set(observations.map(({ url }) => url))].sort();
  const responses = [];
  for (const url of urls) {
    const history = await historyOf(store, url, 1_000);
    const last = await lastOf(store, url);
    responses.push({ ...history, last, id: null, ...(last && { last: { ...last, id: null } }) });
  }
  const everywhere = ['0.0.0.0/0', '::/0'].map((network) => store.search(searchKey('ip', network), ALWAYS, bounds()));
  const facts = (await Promise.all(everywhere.map(collectFacts))).flat();
  return { responses, resolutions: facts.map(({ ts, url }) => `${ts} ${url}`).sort() };
}
