import { DOMAIN_DATASET } from '../core/tier.ts';
import type { Route } from '../http/endpoint.ts';
import { addressEndpoints } from './address-endpoints.ts';
import type { AddressReport } from './address-report.ts';
import { catalogueEndpoints } from './catalogue-endpoints.ts';
import { domainEndpoints } from './domain-endpoints.ts';
import type { ReputationStore } from './store.ts';
import type { AsnOf } from './wire.ts';

export type ReputationServices = {
  store: ReputationStore;
  addresses: AddressReport;
  asnOf: AsnOf;
  /** Unix seconds. */
  now(): number;
};

export function reputationRoutes(services: ReputationServices): Route[] {
  const access = { dataset: DOMAIN_DATASET };
  const common = { charge: 'query', isForPrograms: true } as const;
  return [
    // The dataset is a part of the path, so `read` checks it.
    ...addressEndpoints(services).map((endpoint): Route => ({ endpoint, access: 'account', ...common })),
    ...domainEndpoints(services).map((endpoint): Route => ({ endpoint, access, ...common })),
    ...catalogueEndpoints().map((endpoint): Route => ({ endpoint, access, charge: 'call' })),
  ];
}
