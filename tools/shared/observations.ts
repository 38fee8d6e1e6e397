import { dice } from '../../src/core/dice.ts';
import { formatIp, IP_BYTES, ipv4Key } from '../../src/core/ip/address.ts';
import { NO_TAGS, type Observation, type ObservedPayload } from '../../src/core/observation.ts';

// Generated data for the benchmarks, always the same for the same number of URLs: two thirds of the hosts are addresses
// with high ports, few hosts have very many URLs, one family has a third of the payloads, and one URL in a thousand has
// a long history. Addresses and names are not in public use: 10.0.0.0/8, 2001:db8::/32, .example.

/** The family of a third of all payloads. */
export const LARGEST_FAMILY = 'Mirai';
const FAMILIES = ['Mozi', 'Hajime', 'Emotet', 'RedLineStealer', 'SocGholish', 'AgentTesla', 'Formbook', 'Gafgyt'];

/** 2024-01-01T00:00:00Z */
const FIRST_TS = 1_704_067_200;
/** All URLs are first seen within this time, regardless of their number. */
const SPAN_SECONDS = 2 * 365 * 86_400;
/** No URL is first seen later. */
export const LAST_FIRST_TS = FIRST_TS + SPAN_SECONDS;
const HOUR_SECONDS = 3_600;

/** One URL in this many goes online and offline repeatedly, with another file each time. */
const LONG_HISTORY_EVERY = 1_000;
/** The maximum number of events and payloads in the response of `history`. */
const LONG_HISTORY_CHANGES = 100;

const SEED = 0x5eed;
const REPORTERS = 300;
const FIRST_PRIVATE_ASN = 64_512;
const ASNS = 1_000;
const FILES_PER_URL = 1 / 50;
const PATHS = ['i', 'bin.sh', 'Mozi.m', '.i', 'mips', 'arm7', 'bins/sora.x86', 'a/b/update.exe'];

type Roll = (n: number) => number;
type Host = { host: string; ip: Uint8Array; asn: number };

/** The total number of URLs, and the index of one of them, from 0. */
type Place = { i: number; urls: number };

const hasLongHistory = (i: number): boolean => i % LONG_HISTORY_EVERY === 0;

/** The URLs whose history is as long as a response can be. */
export function* urlsWithLongHistory(urls: number): Generator<string> {
  for (let i = 0; i < urls; i += LONG_HISTORY_EVERY) yield urlAt({ i, urls });
}

export function urlAt(place: Place): string {
  const roll = rollOf(place.i);
  return urlOf(place.i, hostOf(roll), roll);
}

/** A URL that is not in the data, but looks like the others. */
export function unknownUrlAt(place: Place): string {
  return `${urlAt(place)}~`;
}

/** All observations of one URL, in order of time. */
export function observationsAt({ i, urls }: Place): Observation[] {
  const roll = rollOf(i);
  const host = hostOf(roll);
  const url = urlOf(i, host, roll);
  const firstTs = FIRST_TS + Math.floor((i / urls) * SPAN_SECONDS);
  const files = Math.max(1, Math.floor(urls * FILES_PER_URL));
  const seen = (ts: number, status: 'online' | 'offline', payload: ObservedPayload | null): Observation => ({
    ts,
    url,
    host: host.host,
    status,
    removal: '',
    reporter: `reporter${skewed(roll, REPORTERS)}`,
    addresses: [{ ip: host.ip, asn: host.asn }],
    payload,
    tags: NO_TAGS,
  });
  if (!hasLongHistory(i)) {
    const first = seen(firstTs, 'online', roll(4) < 3 ? payloadOf(firstTs, skewed(roll, files)) : null);
    return roll(30) === 0 ? [first] : [first, seen(firstTs + HOUR_SECONDS * (1 + roll(400)), 'offline', null)];
  }
  return Array.from({ length: LONG_HISTORY_CHANGES }, (_, change) => {
    const ts = firstTs + change * HOUR_SECONDS;
    return seen(ts, change % 2 === 0 ? 'online' : 'offline', payloadOf(ts, (roll(files) + change) % files));
  });
}

function rollOf(i: number): Roll {
  return dice(Math.imul(i + 1, 0x9e3779b1) ^ SEED);
}

/** Small numbers are far more frequent than large ones. */
function skewed(roll: Roll, n: number): number {
  const share = roll(65_536) / 65_536;
  return Math.floor(share * share * n);
}

function hostOf(roll: Roll): Host {
  const kind = roll(12);
  if (kind < 8) {
    const [a, b, c] = [skewed(roll, 256), skewed(roll, 256), roll(256)];
    const ip = ipv4Key(0x0a000000 + a * 65_536 + b * 256 + c);
    return { host: formatIp(ip), ip, asn: asnOf(a * 256 + b) };
  }
  const number = skewed(roll, 200_000);
  const ip = kind < 11 ? ipv4Key(0x0a000000 + ((number * 7_919) % 2 ** 24)) : ipv6Of(number % 16, number % 256, number);
  return { host: `cdn-${number}.example`, ip, asn: asnOf(number) };
}

/** 2001:db8:a:b::c */
function ipv6Of(a: number, b: number, c: number): Uint8Array {
  const ip = new Uint8Array(IP_BYTES);
  ip.set([0x20, 0x01, 0x0d, 0xb8, a >> 8, a, b >> 8, b]);
  ip.set([c >> 16, c >> 8, c], IP_BYTES - 3);
  return ip;
}

function asnOf(number: number): number {
  return FIRST_PRIVATE_ASN + (number % ASNS);
}

function urlOf(i: number, { host }: Host, roll: Roll): string {
  const tag = i.toString(36);
  if (host.startsWith('10.')) return `http://${host}:${1_024 + roll(64_000)}/${tag}/${PATHS[roll(PATHS.length)]}`;
  return `https://${host}/wp-content/uploads/${tag}/${PATHS[roll(PATHS.length)]}?id=${roll(1_000_000)}`;
}

/** A file always has the same details. */
function payloadOf(ts: number, file: number): ObservedPayload {
  const isScript = file % 7 === 0;
  return {
    ts,
    sha256: file.toString(16).padStart(8, '0').repeat(8),
    mimeType: isScript ? 'text/x-shellscript' : 'application/x-executable',
    fileType: isScript ? 'sh' : 'elf',
    fileExt: isScript ? 'sh' : null,
    fileSize: 10_000 + (file % 500_000),
    fileName: null,
    family: file % 3 === 0 ? LARGEST_FAMILY : (FAMILIES[file % FAMILIES.length] ?? null),
  };
}
