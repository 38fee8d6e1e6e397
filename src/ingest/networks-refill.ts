import type { AddressNetwork, Store } from '../store/store.ts';
import type { Networks } from './networks.ts';

export type RefillReport = {
  /** Looked up because they were stored without a network; one that was seen over months counts more than once. */
  addresses: number;
  /** Those of them that the table does not have. */
  unknown: number;
  /** What was changed: one address has a resolution for every URL and day. */
  resolutions: number;
};

/** Page by page, so that imports and memory do not notice. Stops early, without an error, when the signal says so. */
export async function refillNetworks(store: Store, networks: Networks, signal: AbortSignal): Promise<RefillReport> {
  const report: RefillReport = { addresses: 0, unknown: 0, resolutions: 0 };
  try {
    for await (const page of store.networklessAddresses(signal)) {
      const found = page.flatMap((ip): AddressNetwork[] => {
        const asn = networks.asnOf(ip);
        return asn === null ? [] : [{ ip, asn }];
      });
      report.addresses += page.length;
      report.unknown += page.length - found.length;
      if (found.length > 0) report.resolutions += await store.setNetworks(found);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return report;
}
