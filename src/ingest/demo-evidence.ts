import { type DomainName, parseDomainName } from '../core/domain-name.ts';
import {
  type DomainEvidence,
  type DomainFact,
  detailsText,
  type ListEntry,
  type ListingEvidence,
  type Source,
} from '../core/evidence.ts';
import { parseIp } from '../core/ip/address.ts';
import { type KeyNetwork, parseKeyNetwork } from '../core/ip/key-network.ts';
import { DAY_SECONDS as DAY } from '../core/time.ts';

/**
 * Invented evidence in addition to the URLs of `demo.ts`: every dataset of addresses, and domains that are listed, abused or popular.
 * All names and addresses are reserved for documentation, as there.
 *
 * The newest sightings are at `nowTs`, and `serve --demo` applies them at every start: a listing lives only for days.
 */
export function demoEvidence(nowTs: number): {
  sources: Source[];
  listings: ListingEvidence[];
  domains: DomainEvidence[];
  facts: DomainFact[];
  lists: ListEntry[];
} {
  return {
    sources: SOURCES,
    listings: LISTINGS.map((listing) => toEvidence(listing, nowTs)),
    domains: DOMAINS.map(({ daysAgo, name, ...rest }) => ({ ...rest, name: named(name), ts: nowTs - daysAgo * DAY })),
    facts: FACTS.flatMap((site) => toFacts(site, nowTs)),
    lists: LISTS.map((entry) => ({ ...entry, ts: nowTs })),
  };
}

const YEAR = 365 * DAY;

const SOURCES: Source[] = [
  source('demo-controllers', 900, 3_600),
  source('demo-attackers', 700, 3_600),
  source('demo-spam', 900, 3_600),
  source('demo-hijacked', 900, DAY),
  source('demo-phishing', 800, 3_600),
  source('demo-scanner', 900, 3_600),
  source('demo-lists', 900, DAY),
];

type DemoListing = Pick<ListingEvidence, 'source' | 'dataset'> & {
  network: string;
  family?: string;
  port?: number;
  /** First and last evidence, in days before now. */
  seen: [from: number, to: number];
  details?: Record<string, unknown>;
};

const LISTINGS: DemoListing[] = [
  {
    source: 'demo-controllers',
    dataset: 'BCL',
    network: '198.51.100.66',
    family: 'Emotet',
    port: 8080,
    seen: [6, 0],
    details: { cc: 'ZZ' },
  },
  {
    source: 'demo-controllers',
    dataset: 'BCL',
    network: '203.0.113.130',
    family: 'AgentTesla',
    port: 443,
    seen: [3, 1],
  },
  {
    source: 'demo-controllers',
    dataset: 'BCL',
    network: '192.0.2.77',
    family: 'Emotet',
    port: 8443,
    seen: [2, 0],
    details: { abused: true },
  },
  { source: 'demo-controllers', dataset: 'BCL', network: '2001:db8:bc::5', port: 4443, seen: [1, 0] },
  { source: 'demo-hijacked', dataset: 'DROP', network: '203.0.113.128/25', seen: [150, 0] },
  { source: 'demo-hijacked', dataset: 'DROP', network: '2001:db8:dead::/48', seen: [40, 0] },
  { source: 'demo-attackers', dataset: 'XBL', network: '192.0.2.10', seen: [4, 0], details: { heuristic: 'SSH' } },
  { source: 'demo-attackers', dataset: 'XBL', network: '198.51.100.24', family: 'Mirai', seen: [3, 0] },
  // Expired: only in the history.
  { source: 'demo-attackers', dataset: 'XBL', network: '192.0.2.11', family: 'Gafgyt', seen: [70, 61] },
  // On the allow list below: in no response.
  { source: 'demo-attackers', dataset: 'XBL', network: '192.0.2.53', seen: [1, 0] },
  {
    source: 'demo-spam',
    dataset: 'CSS',
    network: '192.0.2.25',
    seen: [2, 0],
    details: { helo: 'mail.controller.example', subject: 'Your invoice' },
  },
  { source: 'demo-spam', dataset: 'CSS', network: '2001:db8:25::/64', seen: [2, 0] },
  // Devices in the subnet with many URLs (demo-bulk.ts): some attack now, some have stopped.
  ...[20, 23, 27, 31, 38, 44, 52, 58].map((host, i) => attacker(`203.0.113.${host}`, [9 + 5 * i, 0])),
  ...[21, 25, 33, 47].map((host, i) => attacker(`203.0.113.${host}`, [80 + 20 * i, 40 + 20 * i])),
  { source: 'demo-spam', dataset: 'CSS', network: '203.0.113.31', seen: [3, 0], details: { subject: 'Your parcel' } },
];

function attacker(network: string, seen: DemoListing['seen']): DemoListing {
  return { source: 'demo-attackers', dataset: 'XBL', network, family: 'Mirai', seen, details: { heuristic: 'TELNET' } };
}

type DemoDomain = Omit<DomainEvidence, 'name' | 'ts'> & { name: string; daysAgo: number };

const SAYS_NOTHING_ELSE = { confidence: 100, botname: null, isAbused: null, tags: [] };

const DOMAINS: DemoDomain[] = [
  {
    ...SAYS_NOTHING_ELSE,
    source: 'demo-controllers',
    name: 'gate.controller.example',
    kind: 'botnetcc',
    botname: 'Emotet',
    daysAgo: 0,
  },
  // All evidence on one host name of an old domain: rule 4 of "abused".
  { ...SAYS_NOTHING_ELSE, source: 'demo-scanner', name: 'blog.example.org', kind: 'malware', daysAgo: 0 },
  // The source says that the site was broken into: rule 2.
  {
    ...SAYS_NOTHING_ELSE,
    source: 'demo-scanner',
    name: 'florist.example',
    kind: 'malware',
    confidence: 75,
    isAbused: true,
    tags: ['compromised'],
    daysAgo: 1,
  },
  { ...SAYS_NOTHING_ELSE, source: 'demo-scanner', name: 'cdn.filedrop.example', kind: 'malware', daysAgo: 0 },
  { ...SAYS_NOTHING_ELSE, source: 'demo-phishing', name: 'login-bank.test', kind: 'phishing', daysAgo: 0 },
];

type DemoSite = {
  name: string;
  a?: string[];
  ns?: string[];
  sender?: { ip: string; helo: string };
  whois?: { ageSeconds: number; registrar: string };
  rank?: number;
};

const FACTS: DemoSite[] = [
  {
    name: 'controller.example',
    a: ['198.51.100.66'],
    ns: ['ns1.hoster.test', 'ns2.hoster.test'],
    sender: { ip: '192.0.2.25', helo: 'mail.controller.example' },
    whois: { ageSeconds: 12 * DAY, registrar: 'Example Registrar' },
  },
  { name: 'ns1.hoster.test', a: ['192.0.2.1'] },
  { name: 'ns2.hoster.test', a: ['192.0.2.2'] },
  // Its address is a listed controller in a listed network.
  { name: 'ns.hideout.test', a: ['203.0.113.130'] },
  {
    name: 'login-bank.test',
    ns: ['ns.hideout.test'],
    whois: { ageSeconds: 3 * DAY, registrar: 'Example Registrar' },
  },
  { name: 'example.org', ns: ['ns1.hoster.test'], whois: { ageSeconds: 11 * YEAR, registrar: 'Example Registrar' } },
  { name: 'example.com', rank: 1_200, whois: { ageSeconds: 20 * YEAR, registrar: 'Example Registrar' } },
  {
    name: 'wiki.example',
    a: ['192.0.2.80', '2001:db8:80::1'],
    ns: ['ns1.hoster.test'],
    sender: { ip: '192.0.2.81', helo: '' },
    whois: { ageSeconds: 25 * YEAR, registrar: 'Example Registrar' },
    rank: 250,
  },
  // The host with many URLs (demo-bulk.ts), and others at one address of the subnet with many URLs.
  {
    name: 'filedrop.example',
    a: ['192.0.2.150', '203.0.113.44'],
    ns: ['ns.hideout.test', 'ns1.hoster.test'],
    sender: { ip: '203.0.113.31', helo: 'mail.filedrop.example' },
    whois: { ageSeconds: 75 * DAY, registrar: 'Sample Names' },
  },
  ...['cdn', 'img', 'get', 'mirror'].map((label) => ({ name: `${label}.filedrop.example`, a: ['192.0.2.151'] })),
  ...['parcel-track.test', 'free-player.example', 'codec-update.test'].map((name) => ({ name, a: ['203.0.113.44'] })),
  { name: 'portal.example', a: ['192.0.2.82'] },
  { name: 'short.test', a: ['192.0.2.83'] },
  { name: 'dyn.test', a: ['192.0.2.84'] },
];

/** Entries of lists; the times are added. */
const LISTS = [
  { source: 'demo-lists', as: 'allow', network: network('192.0.2.53'), reason: 'resolver of our own' },
  { source: 'demo-lists', as: 'shared', network: network('192.0.2.64/27'), reason: 'cloud' },
  { source: 'demo-lists', as: 'popular', name: 'portal.example' },
  { source: 'demo-lists', as: 'shared', name: 'example.net' },
  { source: 'demo-lists', as: 'shortener', name: 'short.test' },
  { source: 'demo-lists', as: 'dyndns', name: 'dyn.test' },
] as const;

function source(name: string, trustPermille: number, intervalSeconds: number): Source {
  return { name, trustPermille, lifeSeconds: null, intervalSeconds };
}

function toEvidence(listing: DemoListing, nowTs: number): ListingEvidence {
  const { source, dataset, family = null, port = null, details = {} } = listing;
  const [listedTs, ts] = listing.seen.map((days) => nowTs - days * DAY) as [number, number];
  return {
    source,
    network: network(listing.network),
    dataset,
    family,
    port,
    listedTs,
    ts,
    details: detailsText(details),
  };
}

function toFacts({ name, a, ns, sender, whois, rank }: DemoSite, nowTs: number): DomainFact[] {
  const base = { ts: nowTs, name: named(name) };
  const facts: DomainFact[] = [];
  if (a) facts.push({ ...base, kind: 'a', ips: a.map(address) });
  if (ns) facts.push({ ...base, kind: 'ns', servers: ns.map(named) });
  if (sender) facts.push({ ...base, kind: 'sender', ip: address(sender.ip), helo: sender.helo });
  if (whois) facts.push({ ...base, kind: 'whois', ...registration(whois, nowTs) });
  if (rank) facts.push({ ...base, kind: 'rank', source: 'demo-lists', rank });
  return facts;
}

/** Registered for whole years: it ends in the next one. */
function registration({ ageSeconds, registrar }: NonNullable<DemoSite['whois']>, nowTs: number) {
  const createdTs = nowTs - ageSeconds;
  return { createdTs, expiresTs: createdTs + (Math.floor(ageSeconds / YEAR) + 1) * YEAR, registrar };
}

function named(text: string): DomainName {
  const parsed = parseDomainName(text);
  if (!parsed.ok) throw new Error(`demo data: ${text}: ${parsed.reason}`);
  return parsed.name;
}

function network(text: string): KeyNetwork {
  return parseKeyNetwork(text) ?? unusable(text);
}

function address(text: string): Uint8Array {
  return parseIp(text) ?? unusable(text);
}

function unusable(text: string): never {
  throw new Error(`demo data: ${text} is not an address`);
}
