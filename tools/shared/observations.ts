import { formatIp, IP_BYTES, ipv4Key } from '../../src/core/ip/address.ts';
import type { Observation, ObservedPayload } from '../../src/core/observation.ts';
import { dice } from './urlhaus-dump.ts';

// The made-up world of the benchmarks, the same for the same number: two thirds of the hosts are addresses with high
// ports, few hosts have very many URLs, one family has a third of the payloads, and one URL in a thousand has a long
// life. Addresses and names that nobody has: 10.0.0.0/8, 2001:db8::/32, .example.

/** The third of all payloads. */
export const GREATEST_FAMILY = 'Mirai';
const FAMILIES = ['Mozi', 'Hajime', 'Emotet', 'RedLineStealer', 'SocGholish', 'AgentTesla', 'Formbook', 'Gafgyt'];

/** 2024-01-01T00:00:00Z */
const FIRST_TS = 1_704_067_200;
/** All URLs are first seen within so long, whatever their number. */
const SPAN_SECONDS = 2 * 365 * 86_400;
const HOUR_SECONDS = 3_600;

/** Every so many URLs one is seen to come and go, with another file each time. */
const LONG_LIFE_EVERY = 1_000;
/** As many events and payloads as a history shows. */
const LONG_LIFE_CHANGES = 100;

const SEED = 0x5eed;
const REPORTERS = 300;
const FIRST_PRIVATE_ASN = 64_512;
const ASNS = 1_000;
const FILES_PER_URL = 1 / 50;
const PATHS = ['i', 'bin.sh', 'Mozi.m', '.i', 'mips', 'arm7', 'bins/sora.x86', 'a/b/update.exe'];

type Roll = (n: number) => number;
type Host = { host: string; ip: Uint8Array; asn: number };

/** Of how many URLs the world is made, and which one of them, from 0. */
export type Place = { i: number; urls: number };

export const hasLongLife = (i: number): boolean => i % LONG_LIFE_EVERY === 0;

/** The URLs with a long life: those whose history is as long as an answer can be. */
export function* longLives(urls: number): Generator<string> {
  for (let i = 0; i < urls; i += LONG_LIFE_EVERY) yield urlAt({ i, urls });
}

export function urlAt(place: Place): string {
  const roll = rollOf(place.i);
  return urlOf(place.i, hostOf(roll), roll);
}

/** One that is never seen, but looks like the others. */
export function unknownUrlAt(place: Place): string {
  return `${urlAt(place)}~`;
}

/** All that is ever seen of one URL, in order of time. */
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
    reporter: `reporter${tailed(roll, REPORTERS)}`,
    addresses: [{ ip: host.ip, asn: host.asn }],
    payload,
  });
  if (!hasLongLife(i)) {
    const first = seen(firstTs, 'online', roll(4) < 3 ? payloadOf(firstTs, tailed(roll, files)) : null);
    return roll(30) === 0 ? [first] : [first, seen(firstTs + HOUR_SECONDS * (1 + roll(400)), 'offline', null)];
  }
  return Array.from({ length: LONG_LIFE_CHANGES }, (_, change) => {
    const ts = firstTs + change * HOUR_SECONDS;
    return seen(ts, change % 2 === 0 ? 'online' : 'offline', payloadOf(ts, (roll(files) + change) % files));
  });
}

function rollOf(i: number): Roll {
  return dice(Math.imul(i + 1, 0x9e3779b1) ^ SEED);
}

/** Small numbers far more often than great ones. */
function tailed(roll: Roll, n: number): number {
  const share = roll(65_536) / 65_536;
  return Math.floor(share * share * n);
}

function hostOf(roll: Roll): Host {
  const kind = roll(12);
  if (kind < 8) {
    const [a, b, c] = [tailed(roll, 256), tailed(roll, 256), roll(256)];
    const ip = ipv4Key(0x0a000000 + a * 65_536 + b * 256 + c);
    return { host: formatIp(ip), ip, asn: asnOf(a * 256 + b) };
  }
  const number = tailed(roll, 200_000);
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

/** The same file is told the same way each time. */
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
    family: file % 3 === 0 ? GREATEST_FAMILY : (FAMILIES[file % FAMILIES.length] ?? null),
  };
}
