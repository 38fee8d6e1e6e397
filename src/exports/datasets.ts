import { AppError } from '../core/errors.ts';
import { DOMAIN_DATASET, URL_DATASET } from '../core/tier.ts';
import type { Caller } from '../http/endpoint.ts';
import type { ListDefinition } from './store.ts';

/** The datasets (`ads`) that an account must have to fetch a list: all of them. */
export function datasetsOf({ kind, filter }: Pick<ListDefinition, 'kind' | 'filter'>): readonly string[] {
  if (kind === 'addresses') return filter.datasets;
  if (kind === 'urls') return [URL_DATASET];
  if (filter.listedDomains) return [DOMAIN_DATASET];
  // Which hosts are on it says something about the scores of their domains.
  return filter.maxScore === null ? [URL_DATASET] : [URL_DATASET, DOMAIN_DATASET];
}

/** The first that an account with the datasets `ads` lacks. */
export function missingDataset(ads: readonly string[], definition: ListDefinition): string | undefined {
  return datasetsOf(definition).find((dataset) => !ads.includes(dataset));
}

export const mayFetch = ({ limits }: Caller, definition: ListDefinition): boolean =>
  missingDataset(limits.ads, definition) === undefined;

export function requireDatasets({ limits }: Caller, definition: ListDefinition): void {
  const missing = missingDataset(limits.ads, definition);
  if (missing !== undefined) throw new AppError('forbidden', `The dataset ${missing} is not part of this subscription`);
}
