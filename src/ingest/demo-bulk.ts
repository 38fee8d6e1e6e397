import { dice } from '../core/dice.ts';
import type { Observation, ObservationInput } from '../core/observation.ts';
import { DAY_SECONDS as DAY } from '../core/time.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { demoFile, requireObservation } from './demo.ts';

/**
 * Many more invented URLs in addition to those of `demo.ts`, so that every page and chart has something to show: a /24 with hundreds
 * of URLs, a host with hundreds, histories of every shape. Everything is reserved for documentation, as there. The same
 * `now` gives the same data, in pages that are applied one after the other: all of it at once would need 40 MB. URLs are in the
 * order of their first times, so that those that are added last are the newest.
 *
 * Documents and tests compare answers about the URLs of `demo.ts`. So nothing here is in 198.51.100.0/25, at 203.0.113.7, 192.0.2.1 or
 * on example.org, and nothing serves Gafgyt.
 */
export function* demoBulk(now: number): Generator<Observation[]> {
  const roll = dice(15);
  const fileOf = createFiles();
  const sites = sitesOf(roll)
    .map((site) => ({ ...site, steps: site.url === DEMO_BULK_FIRST ? firstSteps(now) : stepsOf(now, roll) }))
    .sort((a, b) => (a.steps[0]?.ts ?? 0) - (b.steps[0]?.ts ?? 0));
  while (sites.length > 0) {
    // The store sorts the URLs of a page by their keys, so the last pages are short.
    const page = sites.splice(0, Math.min(PAGE_URLS, Math.ceil(sites.length / 2)));
    yield page.flatMap((site) => {
      const url = normalizeUrl(site.url);
      return sightingsOf(site, roll, fileOf).map((input) => requireObservation(input, url));
    });
  }
}

/** One of the URLs that are online, and seen within the last hours. */
export const DEMO_BULK_FIRST = 'http://203.0.113.20:8080/bin.sh';

type Roll = (n: number) => number;

type DemoSite = {
  url: string;
  kind: Kind;
  /** Addresses of a host name; empty if the host is an address itself. */
  ips: string[];
  /** The AS number of the addresses. */
  asn: number;
};

type Kind = keyof typeof KINDS;

/** Inside the default search window of twelve months. */
const OLDEST_DAYS = 350;
const RECENT_DAYS = 30;
/** Days before now on which campaigns began: peaks in the charts. */
const CAMPAIGNS = [4, 12, 13, 47, 160];

/** Some hundred observations. */
const PAGE_URLS = 200;

const IN_NETWORK = 520;
const ON_HOST = 300;
const ON_NAMES = 480;
const BROADBAND = 170;
const OVER_IPV6 = 40;
const NAMES = 150;

const FILES_PER_FAMILY = 6;

const REPORTERS = ['nightwatch', 'honeybee', 'sixwatch', 'mailguard', 'webwatch', 'greylag', 'sandbox-7', 'abuse-desk'];
const REMOVALS = ['takedown', 'abuse complaint', 'cleaned', 'account suspended', 'domain suspended'];

const KINDS = {
  device: {
    families: ['Mirai', 'Mirai', 'Mirai', 'Mozi', 'Mozi', 'Hajime', 'Tsunami', 'XorDDoS'],
    tags: ['elf', 'mips', 'arm', '32-bit', 'iot'],
    mimeType: 'application/x-executable',
    fileType: 'elf',
    size: 60_000,
  },
  document: {
    families: ['Emotet', 'Emotet', 'Dridex', 'QakBot', 'IcedID'],
    tags: ['doc', 'macro', 'malspam', 'epoch4'],
    mimeType: 'application/msword',
    fileType: 'doc',
    size: 90_000,
  },
  program: {
    families: ['AgentTesla', 'RedLineStealer', 'LummaStealer', 'FormBook', 'RemcosRAT', 'AsyncRAT', 'Amadey'],
    tags: ['exe', 'stealer', 'rat', 'opendir', 'dropped-by-Amadey'],
    mimeType: 'application/x-dosexec',
    fileType: 'exe',
    size: 700_000,
  },
  script: {
    families: ['SocGholish', 'ClearFake', 'GootLoader'],
    tags: ['js', 'fake-update', 'compromised'],
    mimeType: 'application/javascript',
    fileType: 'js',
    size: 20_000,
  },
} as const;

const DEVICE_PATHS = [
  'bin.sh',
  'i',
  'mozi.m',
  'Mozi.a',
  '.i',
  'mips',
  'arm7',
  'x86',
  'bins/sora.arm7',
  'bins/boatnet.mips',
];
const PORTS = ['', '', '', ':8080', ':8081', ':37215', ':52869'];
const WORDS = [
  'garden',
  'bakery',
  'school',
  'travel',
  'studio',
  'clinic',
  'archive',
  'forum',
  'music',
  'harbor',
  'photo',
];
const ENDINGS = ['example', 'example', 'example', 'test', 'invalid', 'example.com', 'example.net'];

function sitesOf(roll: Roll): DemoSite[] {
  const names = Array.from({ length: NAMES }, (_, i) => nameOf(i, roll));
  const sites = [
    device(DEMO_BULK_FIRST, 64500),
    ...times(IN_NETWORK, () => device(deviceUrl(`203.0.113.${20 + roll(40)}`, roll), 64500)),
    ...times(IN_NETWORK / 4, () => device(deviceUrl(`203.0.113.${140 + roll(110)}`, roll), 64500)),
    ...times(BROADBAND, () => {
      const port = 30_000 + roll(35_000);
      const path = DEVICE_PATHS[roll(5)];
      return device(`http://198.51.100.${128 + roll(72)}:${port}/${path}`, 64501);
    }),
    ...times(OVER_IPV6, () => {
      const net = roll(4);
      const asn = [65536, 65537, 65538, 65551][net] ?? 65536;
      return device(deviceUrl(`[2001:db8:${100 + net}::${(1 + roll(200)).toString(16)}]`, roll), asn);
    }),
    ...times(ON_HOST, (i) => ({
      url: `https://cdn.filedrop.example/dl/${(4_096 + i * 613).toString(16)}/${pick(SETUPS, roll)}`,
      kind: 'program' as const,
      ips: ['192.0.2.150', '192.0.2.151', '192.0.2.152'].slice(0, 1 + roll(3)),
      asn: 64497,
    })),
    ...times(ON_NAMES, () => onName(pick(names, roll), roll)),
  ];
  // Small numbers of addresses and paths give some URLs twice.
  return [...new Map(sites.map((one) => [one.url, one])).values()];
}

const SETUPS = [
  'setup.exe',
  'installer.exe',
  'update-x64.exe',
  'player.exe',
  'keygen.exe',
  'invoice.exe',
  'driver.exe',
];

type DemoName = { name: string; ips: string[]; asn: number };

function nameOf(i: number, roll: Roll): DemoName {
  const name = `${pick(WORDS, roll)}-${i + 1}.${pick(ENDINGS, roll)}`;
  if (roll(8) === 0) return { name, ips: [`2001:db8:100::${i + 1}`, `2001:db8:100:1::${i + 1}`], asn: 65536 };
  // 192.0.2.0 to .95 are in AS 64496, up to .191 in 64497, the others in 64498: as in demo.ts.
  const block = roll(3);
  const ips = times(1 + roll(3), () => `192.0.2.${block * 96 + 4 + roll(block === 2 ? 56 : 88)}`);
  return { name, ips: [...new Set(ips)], asn: 64496 + block };
}

function onName({ name, ips, asn }: DemoName, roll: Roll): DemoSite {
  const number = 1_000 + roll(9_000);
  const month = `${1 + roll(12)}`.padStart(2, '0');
  const [kind, path] = pick(
    [
      ['document', `wp-content/uploads/2026/${month}/invoice-${number}.doc`],
      ['document', `wp-includes/docs/${number}/Rechnung_${number}.doc`],
      ['program', `wp-content/plugins/cache/${pick(SETUPS, roll)}`],
      ['program', `files/${number}/${pick(SETUPS, roll)}`],
      ['script', `wp-content/themes/base/js/jquery.min.js?ver=${number}`],
      ['script', `assets/update-${number}.js`],
    ] as const,
    roll,
  );
  return { url: `${roll(3) === 0 ? 'http' : 'https'}://${name}/${path}`, kind, ips, asn };
}

function deviceUrl(host: string, roll: Roll): string {
  return `http://${host}${pick(PORTS, roll)}/${pick(DEVICE_PATHS, roll)}`;
}

function device(url: string, asn: number): DemoSite {
  return { url, kind: 'device', ips: [], asn };
}

type Step = { ts: number; status: 'online' | 'offline' | 'removed' };

/** Everything that was seen of a URL, oldest first. */
function sightingsOf(
  { url, kind, ips, asn, steps }: DemoSite & { steps: Step[] },
  roll: Roll,
  fileOf: ReturnType<typeof createFiles>,
): ObservationInput[] {
  const reporter = pick(REPORTERS, roll);
  const family = pick(KINDS[kind].families, roll);
  const tags = [family.toLowerCase(), ...KINDS[kind].tags.filter(() => roll(3) === 0)];
  return steps.flatMap(({ ts, status }, i) => {
    const base = { ts, url, reporter: roll(4) === 0 ? pick(REPORTERS, roll) : reporter };
    const served = status === 'online' && roll(5) > 0 ? { payload: fileOf(kind, family, roll(FILES_PER_FAMILY)) } : {};
    const removal = status === 'removed' ? { removal: pick(REMOVALS, roll) } : {};
    const network = ips.length === 0 ? { asn } : {};
    const seen = i === 0 ? ips : roll(3) === 0 ? ips.slice(-1) : [];
    const addresses = seen.map((ip) => ({ ...base, status: null, ip, asn }));
    return [{ ...base, status, ...network, ...served, ...removal, ...(i === 0 && { tags }) }, ...addresses];
  });
}

/** Online, offline, online, offline, and online twice. */
const firstSteps = (now: number): Step[] =>
  [20, 12, 11, 4, 3, 0.1].map((daysAgo, i) => ({
    ts: now - Math.floor(daysAgo * DAY),
    status: i % 2 === 0 || i === 5 ? 'online' : 'offline',
  }));

function stepsOf(now: number, roll: Roll): Step[] {
  const first = firstSeen(now, roll);
  const days = (most: number) => 3_600 + roll(most * DAY);
  const shape = roll(20);
  if (shape === 0) return [{ ts: first, status: 'offline' }];
  const steps: Step[] = [{ ts: first, status: 'online' }];
  let ts = first;
  const add = (seconds: number, status: Step['status']) => {
    ts += seconds;
    steps.push({ ts, status });
  };
  if (shape < 11) add(days(6), 'offline');
  else if (shape < 14) add(days(4), 'removed');
  else if (shape < 18) {
    // It goes offline and comes back, up to three times.
    for (let times = 1 + roll(3); times > 0; times--) {
      add(days(8), 'offline');
      add(days(20), 'online');
    }
    add(days(10), roll(3) === 0 ? 'removed' : 'offline');
  } else {
    // It stays online until now: long after its first day only if it was seen again.
    for (const part of [0.3, 0.7]) steps.push({ ts: Math.floor(first + (now - first) * part), status: 'online' });
    steps.push({ ts: now - roll(DAY / 2), status: 'online' });
  }
  return steps.filter((step) => step.ts <= now);
}

/** One in five in the last thirty days, one in five in a campaign, the others at any time. */
function firstSeen(now: number, roll: Roll): number {
  const fifth = roll(5);
  const days = fifth === 0 ? roll(RECENT_DAYS) : fifth === 1 ? pick(CAMPAIGNS, roll) : roll(OLDEST_DAYS);
  return now - days * DAY - roll(DAY);
}

/** The same file at every URL that serves it. Kept, because hashes and objects of thousands of payloads take time. */
function createFiles() {
  const files = new Map<string, ReturnType<typeof demoFile>>();
  return (kind: Kind, family: string, number: number) => {
    const label = `${family} ${number}`;
    const known = files.get(label);
    if (known !== undefined) return known;
    const { mimeType, fileType, size } = KINDS[kind];
    const name = `${family.toLowerCase()}-${number}${fileType === 'elf' ? '' : `.${fileType}`}`;
    const bytes = size + family.length * 1_717 + number * 4_321;
    const file = demoFile(label, mimeType, fileType, bytes, name, family);
    files.set(label, file);
    return file;
  };
}

function pick<Value>(values: readonly Value[], roll: Roll): Value {
  return values[roll(values.length)] as Value;
}

function times<Value>(count: number, make: (i: number) => Value): Value[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
