import { createHash } from 'node:crypto';
import { formatIp } from '../core/ip/address.ts';
import { formatKeyNetwork } from '../core/ip/key-network.ts';
import type { AddressRecord } from './address-report.ts';
import { addressScore, type DomainReport, isHostListed, type ListedAddresses, serverScore } from './domain-report.ts';
import { reasonsOf } from './explain.ts';
import { listedUntil } from './score.ts';
import { type MalwareFile, type MalwareUrl, type SeenAddress, type SeenHostname, URL_SOURCE } from './store.ts';

// The JSON of this feature. `schemas.ts`, which commands without a server do not need to load, describes it. A key whose
// value is unknown is absent, never null: a client in use fails at null.

/** The family of malware if it is not known. */
const UNKNOWN_FAMILY = 'unknown';

/** The heuristic of a listing that follows from URLs, and of one whose source says nothing, as JSON. */
const URL_HEURISTIC = '"MALWARE_URL"';
const FEED_HEURISTIC = '"FEED"';

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
  return `{"code":200,"results":[${records.map((record) => recordJson(record, asnOf)).join()}]}`;
}

function recordJson(record: AddressRecord, asnOf: AsnOf): string {
  const { network, dataset, listedTs, seenTs, validUntilTs, removedTs } = record;
  return (
    `{"ipaddress":"${formatKeyNetwork(network)}","dataset":"${dataset}","listed":${listedTs},"seen":${seenTs}` +
    `,"valid_until":${validUntilTs}${familyMember(record)}${ruleMembers(record)}` +
    `${asnMember(asnOf(network.ip) ?? record.details.asn)}${detailMembers(record)}${sharedMember(record)}` +
    (removedTs === null ? '}' : `,"remove_timestamp":${removedTs}}`)
  );
}

const UNKNOWN_MEMBER = `,"botname":"${UNKNOWN_FAMILY}"`;

function familyMember({ dataset, botname }: AddressRecord): string {
  if (botname !== null) return `,"botname":${quoted(botname)}`;
  return dataset === 'XBL' || dataset === 'BCL' ? UNKNOWN_MEMBER : '';
}

function ruleMembers({ dataset, source, details }: AddressRecord): string {
  if (dataset !== 'XBL') return '';
  const { heuristic } = details;
  const word = source === URL_SOURCE.name ? URL_HEURISTIC : FEED_HEURISTIC;
  return `,"rule":"${ruleOf(source)}","heuristic":${heuristic === undefined ? word : JSON.stringify(heuristic)}`;
}

/** There are some thousands of families, and as many sources as feeds and imports. A full cache is cleared. */
const MAX_CACHED = 10_000;

/** Remembers the results of a function of a text. */
function cached(compute: (text: string) => string): (text: string) => string {
  const results = new Map<string, string>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    if (results.size >= MAX_CACHED) results.clear();
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}

const quoted = cached((text) => JSON.stringify(text));
const ruleOf = cached((source) => createHash('sha256').update(source).digest('hex').slice(0, 8));

function asnMember(asn: string | number | boolean | undefined): string {
  return asn === undefined ? '' : `,"asn":"${asn}"`;
}

function detailMembers({ details }: AddressRecord): string {
  let members = '';
  for (const key in details) if (DETAIL_KEYS.has(key)) members += `,"${key}":${JSON.stringify(details[key])}`;
  return members;
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

function toWireWhois({ whois }: DomainReport) {
  const { createdTs = null, expiresTs = null, registrar = null } = whois ?? {};
  return {
    ...(createdTs !== null && { created: createdTs }),
    ...(expiresTs !== null && { expires: expiresTs }),
    ...(registrar !== null && { registrar }),
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

export function toWireSenders({ state, listed }: DomainReport) {
  return state.senders.map(({ ip, helo, lastTs }) => ({
    ip: formatIp(ip),
    helo,
    'last-seen': lastTs,
    score: addressScore(ip, listed),
  }));
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
