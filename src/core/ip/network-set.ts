import { containsNetwork, type KeyNetwork } from './key-network.ts';
import { compareKeys } from './network.ts';

/** Networks that many others are looked up in. */
export type NetworkSet = {
  /** Whether one of the networks contains all of this one. */
  covers(network: KeyNetwork): boolean;
};

/** Networks are nested or disjoint: with the outermost ones alone, the last one that begins before an address decides. */
export function createNetworkSet(networks: readonly KeyNetwork[]): NetworkSet {
  const outermost: KeyNetwork[] = [];
  for (const network of [...networks].sort((a, b) => compareKeys(a.ip, b.ip) || a.prefix - b.prefix)) {
    const last = outermost.at(-1);
    if (last === undefined || !containsNetwork(last, network)) outermost.push(network);
  }
  return {
    covers(network) {
      let [from, to] = [0, outermost.length];
      while (from < to) {
        const middle = (from + to) >>> 1;
        if (compareKeys(outermost[middle]?.ip ?? network.ip, network.ip) <= 0) from = middle + 1;
        else to = middle;
      }
      const candidate = outermost[from - 1];
      return candidate !== undefined && containsNetwork(candidate, network);
    },
  };
}
