import { parseIp } from '../../core/ip/address.ts';
import { parseKeyNetwork } from '../../core/ip/key-network.ts';
import type { FileReport } from '../../core/observation.ts';
import { jsonText, objectsOf } from '../sources/json.ts';
import { distinctFamilies, parseIsoTime, parseSeconds, toSha256, toText } from './values.ts';

/** The attributes of one object, or one attribute outside of an object. */
export type MispGroup = {
  line: number;
  text: string;
  isObject: boolean;
  /** Without those with `to_ids: false`, such as links to reports. */
  urls: MispUrl[];
  /** It has a URL or a name, also one with `to_ids: false`. */
  hasHost: boolean;
  /** From `ip-dst`. */
  ips: string[];
  /** From `domain|ip`. */
  resolutions: { host: string; ip: string }[];
  files: FileReport[];
  families: string[];
  /** Attributes that are evidence: not those with `to_ids: false`. */
  indicators: MispIndicator[];
  /** Of the object and its attributes. */
  tags: string[];
  /** Tags and comments, which may say what the indicators are. */
  labels: string[];
  /** Why the group is rejected, or null. */
  fault: string | null;
};

/** If a time is null, the time of the event is used. */
type MispTimes = { ts: number | null; lastTs: number | null };
export type MispUrl = MispTimes & { url: string };

/** An address that something was sent to or came from, or a name with the address that it had. */
export type MispIndicator = MispTimes &
  (
    | { kind: 'destination' | 'origin'; network: string; port: number | null }
    | { kind: 'name'; name: string; ip: string | null }
  );

type Attribute = Record<string, unknown>;

/** Reads an attribute, or an object with its attributes. Ignores types that are not about URLs, hosts or files. */
export function readMispGroup(element: Attribute, line: number): MispGroup {
  const isObject = 'Attribute' in element;
  const attributes = (isObject ? objectsOf(element.Attribute) : [element]).filter(({ deleted }) => deleted !== true);
  const group: MispGroup = {
    line,
    text: jsonText(element),
    isObject,
    urls: [],
    hasHost: false,
    ips: [],
    resolutions: [],
    files: [],
    indicators: [],
    tags: [element, ...(isObject ? attributes : [])].flatMap(tagsOf),
    labels: [element, ...(isObject ? attributes : [])].flatMap(labelsOf),
    families: distinctFamilies([element, ...(isObject ? attributes : [])].flatMap(familiesOf)),
    fault: null,
  };
  if (element.deleted === true) return group;
  const details = fileDetails(isObject ? attributes : []);
  for (const attribute of attributes) group.fault ??= addAttribute(group, attribute, element, details);
  return group;
}

type Details = Pick<FileReport, 'mimeType' | 'fileSize' | 'fileName'>;

/** File details of an object, without the hash. */
function fileDetails(attributes: Attribute[]): Details {
  const textOf = (type: string) => toText(attributes.find((attribute) => attribute.type === type)?.value);
  const size = textOf('size-in-bytes');
  return {
    mimeType: textOf('mime-type'),
    fileSize: size !== null && /^\d{1,15}$/.test(size) ? Number(size) : null,
    fileName: textOf('filename'),
  };
}

function addAttribute(group: MispGroup, attribute: Attribute, owner: Attribute, details: Details): string | null {
  const { type, value } = attribute;
  if (typeof type !== 'string' || typeof value !== 'string') return 'an attribute must have a type and a value';
  const times = timesOf(attribute, owner);
  switch (type) {
    case 'url':
      group.hasHost = true;
      if (isForDetection(attribute)) group.urls.push({ url: value, ...times });
      return null;
    case 'ip-dst':
    case 'ip-src':
    case 'ip-dst|port':
    case 'ip-src|port':
      return addAddress(group, attribute, type, value, times);
    case 'domain':
    case 'hostname':
    case 'hostname|port': {
      const [name = ''] = value.split('|');
      addIndicator(group, attribute, { kind: 'name', name, ip: null, ...times });
      return null;
    }
    case 'domain|ip': {
      const [host = '', ip = ''] = value.split('|');
      if (parseIp(ip) === null) return 'domain|ip: must end with an IP address';
      group.resolutions.push({ host: host.toLowerCase(), ip });
      addIndicator(group, attribute, { kind: 'name', name: host, ip, ...times });
      return null;
    }
    case 'sha256':
      return addFile(group, value, details);
    case 'filename|sha256': {
      const [, name, hash] = /^(.*)\|(.*)$/s.exec(value) ?? [];
      return addFile(group, hash, { ...details, fileName: toText(name) ?? details.fileName });
    }
    default:
      return null;
  }
}

/** `198.51.100.4`, `198.51.100.0/24`, `198.51.100.4|443` */
function addAddress(group: MispGroup, attribute: Attribute, type: string, value: string, times: MispTimes) {
  const [network = '', port = ''] = value.split('|');
  if (parseKeyNetwork(network) === null) return `${type}: must be an IP address`;
  if (!/^\d{0,5}$/.test(port)) return `${type}: must end with a port`;
  const isDestination = type.startsWith('ip-dst');
  if (isDestination && parseIp(network) !== null) group.ips.push(network);
  const kind = isDestination ? 'destination' : 'origin';
  addIndicator(group, attribute, { kind, network, port: port === '' ? null : Number(port), ...times });
  return null;
}

function addIndicator(group: MispGroup, attribute: Attribute, indicator: MispIndicator): void {
  if (indicator.kind === 'name') group.hasHost = true;
  if (isForDetection(attribute)) group.indicators.push(indicator);
}

function isForDetection({ to_ids }: Attribute): boolean {
  return to_ids !== false && to_ids !== 0 && to_ids !== '0';
}

function addFile(group: MispGroup, hash: unknown, details: Details): string | null {
  const sha256 = toSha256(hash) ?? null;
  if (sha256 === null) return 'sha256: must be 64 hexadecimal digits';
  group.files.push({ sha256, fileType: null, fileExt: null, family: null, ...details });
  return null;
}

/** The time of observation if given, else the time of the last edit. */
function timesOf(attribute: Attribute, owner: Attribute): MispTimes {
  const seen = parseIsoTime(attribute.first_seen) ?? parseIsoTime(owner.first_seen);
  const ts = seen ?? parseSeconds(attribute.timestamp) ?? parseSeconds(owner.timestamp);
  return { ts, lastTs: parseIsoTime(attribute.last_seen) ?? parseIsoTime(owner.last_seen) };
}

/** Addresses per host in an event: each URL and each name of an object gets all of them. */
const MAX_ADDRESSES = 100;

export function firstAddresses<T>(list: T[]): T[] {
  return list.length > MAX_ADDRESSES ? list.slice(0, MAX_ADDRESSES) : list;
}

/** The names of tags, and the comment. */
export function labelsOf(tagged: Attribute): string[] {
  const { comment } = tagged;
  return typeof comment === 'string' ? [...tagsOf(tagged), comment] : tagsOf(tagged);
}

function tagsOf({ Tag }: Attribute): string[] {
  return objectsOf(Tag)
    .map(({ name }) => name)
    .filter((name) => typeof name === 'string');
}

/** MISP galaxies whose clusters are malware families, not actors, techniques or countries. */
const GALAXIES = new Set([
  'android',
  'backdoor',
  'banker',
  'botnet',
  'cryptominers',
  'malpedia',
  'mitre-enterprise-attack-malware',
  'mitre-malware',
  'mitre-mobile-attack-malware',
  'ransomware',
  'rat',
  'stealer',
  'tool',
]);

/** `misp-galaxy:malpedia="Mirai"`, `ms-caro-malware:malware-family="Zbot"` */
const GALAXY_TAG = /^misp-galaxy:([a-z-]+)="([^"]+)"$/i;
const FAMILY_TAG = /:malware-family="([^"]+)"$/i;
/** MITRE appends its number to the name: `Emotet - S0367`. */
const MITRE_NUMBER = / - S\d{4}$/;

/** Distinct malware families in the tags and galaxies of an event, an object or an attribute. */
export function familiesOf(tagged: Record<string, unknown>): string[] {
  const tags = objectsOf(tagged.Tag).map(({ name }) => familyOfTag(name));
  const clusters = objectsOf(tagged.Galaxy).flatMap(({ type, GalaxyCluster }) =>
    objectsOf(GalaxyCluster).map(({ value }) => (isFamilyGalaxy(type) ? familyName(value) : null)),
  );
  return distinctFamilies([...tags, ...clusters]);
}

function familyOfTag(tag: unknown): string | null {
  if (typeof tag !== 'string') return null;
  const [, galaxy, cluster] = GALAXY_TAG.exec(tag) ?? [];
  return isFamilyGalaxy(galaxy) ? familyName(cluster) : familyName(FAMILY_TAG.exec(tag)?.[1]);
}

function isFamilyGalaxy(type: unknown): boolean {
  return typeof type === 'string' && GALAXIES.has(type.toLowerCase());
}

function familyName(value: unknown): string | null {
  return toText(value)?.replace(MITRE_NUMBER, '') ?? null;
}
