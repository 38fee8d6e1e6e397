import { createHash } from 'node:crypto';
import { cached } from '../core/cached.ts';
import { ADDRESS_DATASETS, type AddressDataset } from '../core/evidence.ts';
import { formatIp } from '../core/ip/address.ts';
import { formatKeyNetwork } from '../core/ip/key-network.ts';
import { flatText } from '../core/text.ts';
import type { AddressRecord } from './address-report.ts';
import { addressScore, type DomainReport, isHostListed, type ListedAddresses, serverScore } from './domain-report.ts';
import { reasonsOf } from './explain.ts';
import { listedUntil } from './score.ts';
import {
  type MalwareFile,
  type MalwareUrl,
  type SeenAddress,
  type SeenHostname,
  type Sender,
  URL_SOURCE,
} from './store.ts';

export type { AddressRecord, AddressReport } from './address-report.ts';

// The JSON of this feature. `schemas.ts`, which commands without a server do not need to load, describes it. A key whose
// value is unknown is absent, never null: a client in use fails at null.

/** The family of malware if it is not known. */
const UNKNOWN_FAMILY = 'unknown';

/** The heuristic of a listing that follows from URLs, and of one whose source says nothing. */
const URL_HEURISTIC = 'MALWARE_URL';
const FEED_HEURISTIC = 'FEED';

/** The AS number of an address; null if no table has it. */
export type AsnOf = (ip: Uint8Array) => number | null;

/** The keys of a record that have the value of the evidence. */
const DETAIL_KEYS: ReadonlySet<string> = new Set([
  'cc',
  'lat',
  'lon',
  'dstport',
  'dstip',
  'srcip',
  'srcport',
  'protocol',
  'helo',
  'subject',
  'domain',
  'detection',
  'abused',
]);

/** The records as text: converting one to an object and the object to text takes longer than finding it. */
export function recordsJson(records: readonly AddressRecord[], asnOf: AsnOf): string {
  let json = '{"code":200,"results":[';
  for (const record of records) json += (record === records[0] ? '' : ',') + recordJson(record, asnOf);
  return `${json}]}`;
}

/** Appended one by one: that takes a third less time than one template for all. */
function recordJson(record: AddressRecord, asnOf: AsnOf): string {
  const { network, removedTs } = record;
  let json = '{"ipaddress":"';
  json += formatKeyNetwork(network);
  json += DATASET_MEMBER[record.dataset];
  json += record.listedTs;
  json += ',"seen":';
  json += record.seenTs;
  json += ',"valid_until":';
  json += record.validUntilTs;
  json += familyMember(record);
  json += ruleMembers(record);
  json += asnMember(asnOf(network.ip) ?? record.details.asn);
  json += detailMembers(record);
  json += sharedMember(record);
  if (removedTs !== null) json += `,"remove_timestamp":${removedTs}`;
  json += '}';
  return json;
}

const datasetMember = (dataset: AddressDataset) => `","dataset":"${dataset}","listed":`;
const DATASET_MEMBER = Object.fromEntries(
  ADDRESS_DATASETS.map((dataset) => [dataset, datasetMember(dataset)]),
) as Record<AddressDataset, string>;

/** There are some thousands of families, and as many sources as feeds and imports. */
const MAX_CACHED = 10_000;

const cachedText = (compute: (text: string) => string) => cached(MAX_CACHED, (text: string) => flatText(compute(text)));

const botnameMember = cachedText((botname) => `,"botname":${JSON.stringify(botname)}`);
const ruleMember = cachedText((source) => `,"rule":"${createHash('sha256').update(source).digest('hex').slice(0, 8)}"`);
const ruleMembersOf = cachedText((source) => {
  const heuristic = source === URL_SOURCE.name ? URL_HEURISTIC : FEED_HEURISTIC;
  return `${ruleMember(source)},"heuristic":"${heuristic}"`;
});

function familyMember({ dataset, botname }: AddressRecord): string {
  if (botname !== null) return botnameMember(botname);
  return dataset === 'XBL' || dataset === 'BCL' ? botnameMember(UNKNOWN_FAMILY) : '';
}

function ruleMembers({ dataset, source, details: { heuristic } }: AddressRecord): string {
  if (dataset !== 'XBL') return '';
  if (heuristic === undefined) return ruleMembersOf(source);
  return `${ruleMember(source)},"heuristic":${JSON.stringify(heuristic)}`;
}

function asnMember(asn: string | number | boolean | undefined): string {
  return asn === undefined ? '' : `,"asn":"${asn}"`;
}

function detailMembers({ details }: AddressRecord): string {
  let members = '';
  for (const key in details) if (DETAIL_KEYS.has(key)) members += `,"${key}":${JSON.stringify(details[key])}`;
  return members;
}

/** What the evidence of a record says, under the names of the API. */
export function shownDetails({ details }: AddressRecord): AddressRecord['details'] {
  return Object.fromEntries(Object.entries(details).filter(([key]) => DETAIL_KEYS.has(key)));
}

function sharedMember({ dataset, isShared, details }: AddressRecord): string {
  if (dataset === 'BCL') return `,"shared":${isShared || details.shared === true}`;
  return details.shared === undefined ? '' : `,"shared":${details.shared}`;
}

// Domains. `toWire…` returns an object; it is small, or its size is limited by the request.

export function toWireDomain(report: DomainReport) {
  const { state, lastSeenTs, tags, input, score } = report;
  return {
    domain: state.name,
    'last-seen': lastSeenTs,
    tags,
    abused: input.isAbused,
    whois: toWireWhois(report),
    score,
  };
}

export function toWireWhois({ state: { whois } }: DomainReport) {
  return {
    created: whois?.createdTs ?? undefined,
    expires: whois?.expiresTs ?? undefined,
    registrar: whois?.registrar ?? undefined,
  };
}

export function toWireOverview(report: DomainReport) {
  return { ...toWireDomain(report), dimensions: report.dimensions };
}

export function toWireListing({ isListed, evidenceTs, input, nowTs }: DomainReport) {
  if (!isListed) return { 'is-listed': false, ts: evidenceTs };
  return { 'is-listed': true, ts: evidenceTs, 'listed-until': listedUntil(input, nowTs) };
}

export function toWireContexts({ contexts }: DomainReport) {
  return contexts.map(({ context, lastTs }) => ({ context, 'last-seen': lastTs }));
}

export function toWireSender({ ip, helo, lastTs }: Sender, listed: ListedAddresses) {
  return { ip: formatIp(ip), helo, 'last-seen': lastTs, score: addressScore(ip, listed) };
}

export function toWireServers({ state, listed }: DomainReport) {
  return state.servers.map(({ hostname, lastTs, days, ips }) => ({
    ns: hostname,
    'last-seen': lastTs,
    score: serverScore(ips, listed),
    counter: days,
  }));
}

export function toWireAddress({ ip, lastTs, days }: SeenAddress, listed: ListedAddresses) {
  return { ip: formatIp(ip), 'last-seen': lastTs, score: addressScore(ip, listed), counter: days };
}

export function toWireHostname(host: SeenHostname, isAbused: boolean, nowTs: number) {
  return {
    hostname: host.hostname,
    'last-seen': host.lastTs,
    'is-listed': isHostListed(host, nowTs),
    abused: isAbused,
  };
}

export function toWireUrl({ url, family, lastTs }: MalwareUrl) {
  return { url, botname: family ?? UNKNOWN_FAMILY, 'last-seen': lastTs };
}

export function toWireFile({ sha256, family, lastTs }: MalwareFile) {
  return { type: 'sha256', hash: sha256, botname: family ?? UNKNOWN_FAMILY, 'last-seen': lastTs };
}

export function toWireExplanation(report: DomainReport) {
  const { state, score, dimensions, isListed } = report;
  return { domain: state.name, score, dimensions, 'is-listed': isListed, reasons: reasonsOf(report) };
}

/** In the shapes of their endpoints. */
type DomainLists = {
  hostnames: ReturnType<typeof toWireHostname>[];
  addresses: ReturnType<typeof toWireAddress>[];
  senders: ReturnType<typeof toWireSender>[];
  urls: ReturnType<typeof toWireUrl>[];
  files: ReturnType<typeof toWireFile>[];
};

/**
 * Everything about a domain for one page: of each list the first `limit` records, and whether there are more. Absent
 * values are null, as in all responses for pages.
 */
export function toWireDomainPage(report: DomainReport, lists: DomainLists, limit: number) {
  const { state, isListed, input, nowTs, evidenceTs, lastSeenTs, abused, tags, score, dimensions } = report;
  const records = { ...lists, name_servers: toWireServers(report) };
  return {
    domain: state.name,
    score,
    dimensions: { ...dimensions } as Record<string, number>,
    listed: isListed,
    listed_until_ts: isListed ? listedUntil(input, nowTs) : null,
    evidence_ts: evidenceTs,
    last_seen_ts: lastSeenTs,
    abused: input.isAbused,
    abused_reason: abused?.text ?? null,
    tags,
    whois: {
      created_ts: state.whois?.createdTs ?? null,
      expires_ts: state.whois?.expiresTs ?? null,
      registrar: state.whois?.registrar ?? null,
    },
    reasons: reasonsOf(report),
    contexts: toWireContexts(report),
    hostnames: records.hostnames.slice(0, limit),
    addresses: records.addresses.slice(0, limit),
    name_servers: records.name_servers.slice(0, limit),
    senders: records.senders.slice(0, limit),
    urls: records.urls.slice(0, limit),
    files: records.files.slice(0, limit),
    truncated: Object.fromEntries(
      Object.entries(records).map(([name, found]) => [name, found.length > limit]),
    ) as Record<keyof typeof records, boolean>,
    settings: state.settings && {
      human: state.settings.human,
      abused: state.settings.isAbused,
      reason: state.settings.reason,
      set_ts: state.settings.setTs,
    },
  };
}
export type DomainPage = ReturnType<typeof toWireDomainPage>;
