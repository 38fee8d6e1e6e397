import type { EvidenceChoices } from '../sources/format.ts';

/** Defaults of `urlwarden feed add NAME` for a public feed. */
type KnownFeed = EvidenceChoices & {
  name: string;
  /** Shown in the help of `feed add`. */
  about: string;
  format: string;
  /** Public address that needs no key. */
  url: string;
  /** Address for users with a key; {Auth-Key} is replaced by the key. */
  keyedUrl?: string;
  intervalSeconds: number;
  /** Each fetch lists everything that is online. */
  isComplete?: true;
  /** What evidence of the feed is trusted with: 900 is a trust of 0.9, the default. */
  trustPermille?: number;
  /** What the publisher asks for, in one line of the help of `feed add`. */
  terms: string;
};

const MINUTE = 60;
const HOUR = 3_600;

const ABUSE_CH = 'free for any use (CC0); at most every 5 minutes';

/**
 * The dumps of abuse.ch are generated every five minutes, and abuse.ch asks not to fetch them more often. It asks
 * users to have a key, free of charge (https://auth.abuse.ch/), and may close the public addresses. Larger dumps have
 * longer intervals.
 *
 * The trust of lists that name addresses without saying what was seen is lower.
 */
export const KNOWN_FEEDS: readonly KnownFeed[] = [
  {
    name: 'urlhaus',
    about: 'URLhaus: all URLs that are online now',
    format: 'urlhaus-csv',
    url: 'https://urlhaus.abuse.ch/downloads/csv_online/',
    intervalSeconds: 5 * MINUTE,
    isComplete: true,
    terms: ABUSE_CH,
  },
  {
    name: 'urlhaus-recent',
    about: 'URLhaus: URLs of the last 30 days, online and offline',
    format: 'urlhaus-csv',
    url: 'https://urlhaus.abuse.ch/downloads/csv_recent/',
    keyedUrl: 'https://urlhaus-api.abuse.ch/v2/files/exports/{Auth-Key}/recent.csv',
    intervalSeconds: 5 * MINUTE,
    terms: ABUSE_CH,
  },
  {
    name: 'urlhaus-full',
    about: 'URLhaus: URLs of the last 90 days, and all that are online',
    format: 'urlhaus-csv',
    url: 'https://urlhaus.abuse.ch/downloads/csv/',
    intervalSeconds: 24 * HOUR,
    terms: ABUSE_CH,
  },
  {
    name: 'urlhaus-payloads',
    about: 'URLhaus: files that URLs served, with their malware families',
    format: 'urlhaus-payloads',
    url: 'https://urlhaus.abuse.ch/downloads/payloads/',
    intervalSeconds: 24 * HOUR,
    terms: ABUSE_CH,
  },
  {
    name: 'malwarebazaar',
    about: 'MalwareBazaar: details of files of the last days',
    format: 'malwarebazaar-csv',
    url: 'https://bazaar.abuse.ch/export/csv/recent/',
    keyedUrl: 'https://mb-api.abuse.ch/v2/files/exports/{Auth-Key}/recent.csv',
    intervalSeconds: HOUR,
    terms: ABUSE_CH,
  },
  {
    name: 'threatfox',
    about: 'ThreatFox: botnet controllers, malware domains, URLs and files of the last two days',
    format: 'threatfox-json',
    url: 'https://threatfox.abuse.ch/export/json/recent/',
    intervalSeconds: HOUR,
    terms: ABUSE_CH,
  },
  {
    name: 'feodo',
    about: 'Feodo Tracker: botnet controllers (BCL)',
    format: 'feodo-json',
    url: 'https://feodotracker.abuse.ch/downloads/ipblocklist.json',
    intervalSeconds: HOUR,
    terms: ABUSE_CH,
  },
  {
    name: 'drop',
    about: 'Spamhaus DROP: IPv4 networks under hostile control (DROP)',
    format: 'drop-json',
    url: 'https://www.spamhaus.org/drop/drop_v4.json',
    intervalSeconds: 24 * HOUR,
    terms: 'free for any use with credit to The Spamhaus Project; at most once an hour, once a day is enough',
  },
  {
    name: 'blocklist-de',
    about: 'blocklist.de: addresses that attacked servers in the last two days (XBL)',
    format: 'ip-list',
    url: 'https://lists.blocklist.de/lists/all.txt',
    intervalSeconds: HOUR,
    dataset: 'XBL',
    trustPermille: 600,
    terms: 'free of charge, without warranty',
  },
  {
    name: 'cins',
    about: 'CINS Army: addresses with a bad score at sensors of Sentinel IPS (XBL)',
    format: 'ip-list',
    url: 'https://cinsscore.com/list/ci-badguys.txt',
    intervalSeconds: 4 * HOUR,
    dataset: 'XBL',
    trustPermille: 600,
    terms: 'free of charge for your own protection; ask before you pass it on',
  },
  {
    name: 'et-compromised',
    about: 'Emerging Threats: compromised hosts (XBL)',
    format: 'ip-list',
    url: 'https://rules.emergingthreats.net/blockrules/compromised-ips.txt',
    intervalSeconds: 12 * HOUR,
    dataset: 'XBL',
    trustPermille: 600,
    terms: 'free for any use (BSD license)',
  },
  {
    name: 'tor-exits',
    about: 'Tor Project: exit addresses, which many people share; lists nothing, sets `shared`',
    format: 'ip-list',
    url: 'https://check.torproject.org/torbulkexitlist',
    intervalSeconds: HOUR,
    listKind: 'shared',
    terms: 'free for any use',
  },
  {
    name: 'openphish',
    about: 'OpenPhish: hosts of phishing pages',
    format: 'domain-list',
    url: 'https://openphish.com/feed.txt',
    intervalSeconds: 12 * HOUR,
    evidenceKind: 'phishing',
    trustPermille: 800,
    terms: 'non-commercial and internal business use only',
  },
];

/** The header for the key of abuse.ch. */
export const KEY_HEADER = 'Auth-Key';
