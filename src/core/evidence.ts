import type { DomainName } from './domain-name.ts';
import type { KeyNetwork } from './ip/key-network.ts';

// What sources say about addresses and domains. All values are normalized; `ingest/evidence.ts` parses them.

/** The datasets of listed addresses, in the order of their codes in the database. */
export const ADDRESS_DATASETS = ['XBL', 'CSS', 'BCL', 'DROP'] as const;
export type AddressDataset = (typeof ADDRESS_DATASETS)[number];

/** What a source may say about a name, in the order of the codes in the database. */
export const DOMAIN_KINDS = ['malware', 'botnetcc', 'phishing'] as const;
export type DomainKind = (typeof DOMAIN_KINDS)[number];

/** Lists of networks, in the order of the codes in the database. */
export const NETWORK_LIST_KINDS = ['allow', 'shared'] as const;
export type NetworkListKind = (typeof NETWORK_LIST_KINDS)[number];

/** Lists of names, in the order of the codes in the database. */
export const NAME_LIST_KINDS = ['popular', 'shared', 'shortener', 'dyndns'] as const;
export type NameListKind = (typeof NAME_LIST_KINDS)[number];

/** Tags of a domain; other words in evidence are dropped. */
export const DOMAIN_TAGS = {
  malware: 'Distributes malware, or is named by a source of malware domains',
  botnetcc: 'Controls a botnet',
  phishing: 'Imitates another site to collect passwords or payments',
  compromised: 'A legitimate site that somebody broke into',
  popular: 'On a list of popular sites',
  shared: 'Many independent users share this site',
  shortener: 'Shortens URLs',
  dyndns: 'Gives names to dynamic addresses',
} as const;
export type DomainTag = keyof typeof DOMAIN_TAGS;

/** The trust of a source that has no other, in thousandths; also the greatest trust. */
export const DEFAULT_TRUST_PERMILLE = 900;

/** The source of what an operator sets by a command. No feed may have this name. */
export const OPERATOR_SOURCE = 'operator';

/** A source of evidence and what it is trusted with. */
export type Source = {
  /** The name of a feed or an import, or `operator`. */
  name: string;
  /** 0 to 900: 900 is a trust of 0.9. */
  trustPermille: number;
  /** How long a listing lives without new evidence; null: as long as its dataset says. */
  lifeSeconds: number | null;
  /** The interval of the feed; null if it is not fetched at an interval. */
  intervalSeconds: number | null;
};

/** From `listedTs` to `ts`, `source` listed `network` without a gap. */
export type ListingEvidence = {
  source: string;
  network: KeyNetwork;
  dataset: AddressDataset;
  /** The malware family. */
  family: string | null;
  /** The port of the controller (`dstport`). */
  port: number | null;
  listedTs: number;
  ts: number;
  /** The other keys of the record, as JSON with sorted keys (`detailsText`); empty without any. */
  details: string;
};

/** At `ts`, `source` named `name`. */
export type DomainEvidence = {
  source: string;
  name: DomainName;
  kind: DomainKind;
  ts: number;
  /** 1 to 100. */
  confidence: number;
  botname: string | null;
  /** Whether the source says that the site is legitimate and was broken into; null if it says nothing. */
  isAbused: boolean | null;
  /** Sorted. */
  tags: readonly DomainTag[];
};

/** What is known about a name besides evidence. */
export type DomainFact = { ts: number; name: DomainName } & (
  | { kind: 'a'; ips: readonly Uint8Array[] }
  | { kind: 'ns'; servers: readonly DomainName[] }
  | { kind: 'sender'; ip: Uint8Array; helo: string }
  | { kind: 'whois'; createdTs: number | null; expiresTs: number | null; registrar: string | null }
  | { kind: 'rank'; source: string; rank: number }
);

/** An entry of a list that `source` published at `ts`. `name`: a host name or a public suffix. */
export type ListEntry = { source: string; ts: number } & (
  | { as: NetworkListKind; network: KeyNetwork; reason: string }
  | { as: NameListKind; name: string }
);

/** JSON with sorted keys, so that equal details are equal texts; empty without any. */
export function detailsText(details: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(details).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  return JSON.stringify(Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1))));
}
