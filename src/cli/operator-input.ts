import { parseDomainName } from '../core/domain-name.ts';
import { ADDRESS_DATASETS, type AddressDataset } from '../core/evidence.ts';
import type { KeyNetwork } from '../core/ip/key-network.ts';
import { textFault } from '../core/text.ts';
import { refangHost } from '../core/url/refang.ts';
import { toNetwork } from '../ingest/evidence.ts';
import { UsageError } from './command.ts';

/** An operand NETWORK, also defanged, within the width of networks that can be listed. Host bits are cleared. */
export function readNetwork(text: string): KeyNetwork {
  const network = toNetwork(refangHost(text));
  if (typeof network !== 'string') return network;
  throw new UsageError(`NETWORK must be like 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32. ${network}`);
}

/** The value of --dataset, in any case. */
export function readDataset(text: string): AddressDataset {
  const dataset = ADDRESS_DATASETS.find((name) => name === text.toUpperCase());
  if (dataset !== undefined) return dataset;
  throw new UsageError(`--dataset must be one of ${ADDRESS_DATASETS.join(', ')}, not ${JSON.stringify(text)}`);
}

/** An operand FILE of a command that cannot use a pipe. */
export function readFileName(text: string): string {
  if (text !== '' && text !== '-') return text;
  throw new UsageError(`FILE must be the name of a file, not ${JSON.stringify(text)}`);
}

/** The value of --reason, which is stored as it is. */
export function readReason(text: string): string {
  const fault = textFault(text);
  if (fault !== null) throw new UsageError(`--reason: ${fault}`);
  return text;
}

const NO_DOMAIN = {
  not_a_name: 'is not the name of a domain',
  address: 'is an address, not a domain. Use: urlwarden listing show ADDRESS',
  suffix: 'is a public suffix: domains are below it',
} as const;

/** An operand NAME, also defanged: a registrable domain. */
export function readDomain(text: string): string {
  const parsed = parseDomainName(refangHost(text));
  if (!parsed.ok) throw new UsageError(`${JSON.stringify(text)} ${NO_DOMAIN[parsed.reason]}`);
  const { hostname, domain } = parsed.name;
  if (hostname !== domain) throw new UsageError(`${hostname} is a name below ${domain}: give the domain ${domain}`);
  return domain;
}
