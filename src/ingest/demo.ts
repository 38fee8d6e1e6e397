import { hash } from 'node:crypto';
import { type FileDetails, type Observation, type ObservationInput, toObservation } from '../core/observation.ts';
import { DAY_SECONDS as DAY } from '../core/time.ts';
import { normalizeUrl } from '../core/url/normalize.ts';

/**
 * Invented sample data: every kind of event, several payloads, IPv4 and IPv6. All host names (RFC 2606, 6761), addresses
 * (RFC 5737, 3849) and AS numbers (RFC 5398) are reserved for documentation. The hashes are hashes of short texts, not
 * of files.
 *
 * Times are relative to today: fixed times would leave the default search window of twelve months.
 */
export function demoObservations(now: number): Observation[] {
  const today = now - (now % DAY);
  return DEMO_URLS.flatMap((demoUrl) => toInputs(demoUrl, today)).map((input) => requireObservation(input));
}

type DemoUrl = {
  url: string;
  reporter: string;
  /** Addresses of a host name, each with its AS number. */
  at?: Record<string, number>;
  /** The AS number of a host that is an address. */
  asn?: number;
  /** Days before today, the status, and the served file or the reason of the removal. */
  seen: Sighting[];
};

type Sighting =
  | [daysAgo: number, status: 'online' | 'offline', served?: keyof typeof FILES]
  | [daysAgo: number, status: 'removed', removal: string];

/** Names for the AS numbers of the demo data, which no table of networks has: RFC 5398 reserves them for documentation. */
export const DEMO_NETWORKS: readonly { asn: number; name: string }[] = [
  { asn: 64496, name: 'Example Web Hosting' },
  { asn: 64497, name: 'Example Cloud' },
  { asn: 64498, name: 'Sample Servers' },
  { asn: 64500, name: 'Example Hosting' },
  { asn: 64501, name: 'Example Broadband' },
  { asn: 64511, name: 'Documentation Mobile' },
  { asn: 65536, name: 'Example Fibre' },
  { asn: 65537, name: 'Sample Data Centers' },
  { asn: 65538, name: 'Documentation Networks' },
  { asn: 65551, name: 'Example University' },
];

const FILES = {
  loader: demoFile('loader', 'text/x-shellscript', 'sh', 1_842, 'bin.sh', null),
  miraiArm: demoFile('mirai arm', 'application/x-executable', 'elf', 97_312, 'arm7', 'Mirai'),
  miraiMips: demoFile('mirai mips', 'application/x-executable', 'elf', 102_440, 'mips', 'Mirai'),
  gafgyt: demoFile('gafgyt', 'application/x-executable', 'elf', 130_988, 'x86_64', 'Gafgyt'),
  invoice: demoFile('invoice', 'application/vnd.ms-excel', 'xls', 233_472, 'invoice-4711.xls', 'Emotet'),
  stealer: demoFile('stealer', 'application/x-dosexec', 'exe', 1_249_280, 'setup.exe', 'AgentTesla'),
  script: demoFile('script', 'application/javascript', 'js', 48_211, 'update.js', 'GootLoader'),
  unknown: demoFile('unknown', null, 'unknown', null, null, null),
};

const DEMO_URLS: DemoUrl[] = [
  {
    url: 'http://203.0.113.7/bin.sh',
    reporter: 'nightwatch',
    asn: 64500,
    seen: [
      [62, 'online', 'loader'],
      [55, 'offline'],
      [41, 'online', 'loader'],
      [40, 'online', 'miraiArm'],
      [12, 'offline'],
      [9, 'removed', 'takedown'],
      [2, 'online', 'miraiMips'],
    ],
  },
  {
    url: 'http://203.0.113.7/arm7',
    reporter: 'nightwatch',
    asn: 64500,
    seen: [
      [40, 'online', 'miraiArm'],
      [12, 'offline'],
    ],
  },
  {
    url: 'http://203.0.113.7/mips',
    reporter: 'nightwatch',
    asn: 64500,
    seen: [
      [40, 'online', 'miraiMips'],
      [12, 'offline'],
    ],
  },
  {
    url: 'http://203.0.113.61:8080/x86_64',
    reporter: 'honeybee',
    asn: 64500,
    seen: [
      [30, 'online', 'gafgyt'],
      [1, 'online', 'gafgyt'],
    ],
  },
  {
    url: 'http://198.51.100.23:52451/i',
    reporter: 'honeybee',
    asn: 64501,
    seen: [
      [5, 'online', 'miraiMips'],
      [4, 'offline'],
    ],
  },
  {
    url: 'http://198.51.100.24:60905/bin.sh',
    reporter: 'honeybee',
    asn: 64501,
    seen: [
      [5, 'online', 'loader'],
      [3, 'online', 'loader'],
    ],
  },
  { url: 'http://198.51.100.200/.i', reporter: 'honeybee', asn: 64501, seen: [[90, 'offline']] },
  {
    url: 'http://[2001:db8:66::bad]/arm7',
    reporter: 'sixwatch',
    asn: 64511,
    seen: [
      [20, 'online', 'miraiArm'],
      [3, 'offline'],
    ],
  },
  { url: 'http://[2001:db8:66::bad]:8443/x86_64', reporter: 'sixwatch', asn: 64511, seen: [[20, 'online', 'gafgyt']] },
  {
    url: 'https://files.example.com/download/invoice-4711.xls',
    reporter: 'mailguard',
    at: { '192.0.2.44': 64496 },
    seen: [
      [120, 'online', 'invoice'],
      [118, 'removed', 'abuse complaint'],
    ],
  },
  {
    url: 'https://files.example.com/download/setup.exe',
    reporter: 'mailguard',
    at: { '192.0.2.44': 64496, '2001:db8:44::10': 64496 },
    seen: [
      [14, 'online', 'stealer'],
      [7, 'online', 'stealer'],
      [6, 'offline'],
    ],
  },
  {
    url: 'https://cdn.example.net/js/update.js?v=3',
    reporter: 'webwatch',
    at: { '192.0.2.99': 64497 },
    seen: [
      [33, 'online', 'script'],
      [21, 'offline'],
      [20, 'online', 'script'],
    ],
  },
  {
    url: 'http://blog.example.org/wp-content/plugins/setup.exe',
    reporter: 'webwatch',
    at: { '192.0.2.140': 64497 },
    seen: [
      [200, 'online', 'stealer'],
      [180, 'removed', 'cleaned'],
    ],
  },
  {
    url: 'http://xn--bcher-kva.example/update.js',
    reporter: 'webwatch',
    at: { '192.0.2.141': 64497 },
    seen: [[11, 'online', 'script']],
  },
  {
    url: 'http://dropper.test/payload',
    reporter: 'webwatch',
    at: { '192.0.2.200': 64498 },
    seen: [[8, 'online', 'unknown']],
  },
];

export function demoFile(
  label: string,
  mimeType: string | null,
  fileType: string | null,
  fileSize: number | null,
  fileName: string | null,
  family: string | null,
): FileDetails & { sha256: string } {
  const fileExt = fileType === 'elf' || fileType === 'unknown' ? null : fileType;
  return {
    sha256: hash('sha256', `urlwarden demo: ${label}`),
    mimeType,
    fileType,
    fileExt,
    fileSize,
    fileName,
    family,
  };
}

function toInputs({ url, reporter, at, asn, seen }: DemoUrl, today: number): ObservationInput[] {
  return seen.flatMap((sighting) => {
    const base = { ts: today - sighting[0] * DAY, url, reporter };
    const network = asn === undefined ? {} : { asn };
    const addresses = Object.entries(at ?? {}).map(([ip, asn]) => ({ ...base, status: null, ip, asn }));
    return [{ ...base, ...network, ...statusAndDetail(sighting) }, ...addresses];
  });
}

function statusAndDetail([, status, detail]: Sighting): Partial<ObservationInput> {
  if (detail === undefined) return { status };
  return status === 'removed' ? { status, removal: detail } : { status, payload: FILES[detail] };
}

export function requireObservation(input: ObservationInput, url = normalizeUrl(input.url)): Observation {
  const result = toObservation(input, url);
  if (!result.ok) throw new Error(`demo data: ${input.url}: ${result.reason}`);
  return result.observation;
}
