import { parseIp } from '../../core/ip.ts';
import type { FileReport } from '../../core/records.ts';
import { jsonText, objectsOf } from '../json.ts';
import { parseIsoTime, parseSeconds, toSha256, toText } from '../values.ts';
import { distinctFamilies } from './families.ts';
import { familiesOf } from './misp-family.ts';

/** Attributes that belong together: those of an object, or one that stands alone. */
export type MispGroup = {
  line: number;
  text: string;
  urls: MispUrl[];
  /** `ip-dst`: addresses of something in the group. */
  ips: string[];
  /** `domain|ip`: an address of that host. */
  resolutions: { host: string; ip: string }[];
  files: FileReport[];
  families: string[];
  /** Why it is rejected; null when it can be read. */
  fault: string | null;
};

/** Times are null where the event's counts. */
export type MispUrl = { url: string; ts: number | null; lastTs: number | null };

type Attribute = Record<string, unknown>;

/** Reads an attribute, or an object with its attributes. Types that tell nothing about URLs or files are passed over. */
export function readMispGroup(element: Attribute, line: number): MispGroup {
  const isObject = 'Attribute' in element;
  const attributes = (isObject ? objectsOf(element.Attribute) : [element]).filter(({ deleted }) => deleted !== true);
  const group: MispGroup = {
    line,
    text: jsonText(element),
    urls: [],
    ips: [],
    resolutions: [],
    files: [],
    families: distinctFamilies([element, ...(isObject ? attributes : [])].flatMap(familiesOf)),
    fault: null,
  };
  if (element.deleted === true) return group;
  const details = fileDetails(isObject ? attributes : []);
  for (const attribute of attributes) group.fault ??= take(group, attribute, element, details);
  return group;
}

type Details = Pick<FileReport, 'mimeType' | 'fileSize' | 'fileName'>;

/** What an object says of its file, beside the hash. */
function fileDetails(attributes: Attribute[]): Details {
  const textOf = (type: string) => toText(attributes.find((attribute) => attribute.type === type)?.value);
  const size = textOf('size-in-bytes');
  return {
    mimeType: textOf('mime-type'),
    fileSize: size !== null && /^\d{1,15}$/.test(size) ? Number(size) : null,
    fileName: textOf('filename'),
  };
}

function take(group: MispGroup, attribute: Attribute, owner: Attribute, details: Details): string | null {
  const { type, value } = attribute;
  if (typeof type !== 'string' || typeof value !== 'string') return 'an attribute needs a type and a value';
  switch (type) {
    case 'url':
      group.urls.push({ url: value, ...timesOf(attribute, owner) });
      return null;
    case 'ip-dst':
      if (parseIp(value) === null) return 'ip-dst: no IP address';
      group.ips.push(value);
      return null;
    case 'domain|ip': {
      const [host = '', ip = ''] = value.split('|');
      if (parseIp(ip) === null) return 'domain|ip: no IP address';
      group.resolutions.push({ host: host.toLowerCase(), ip });
      return null;
    }
    case 'sha256':
      return takeFile(group, value, details);
    case 'filename|sha256': {
      const [, name, hash] = /^(.*)\|(.*)$/s.exec(value) ?? [];
      return takeFile(group, hash, { ...details, fileName: toText(name) ?? details.fileName });
    }
    default:
      return null;
  }
}

function takeFile(group: MispGroup, hash: unknown, details: Details): string | null {
  const sha256 = toSha256(hash) ?? null;
  if (sha256 === null) return 'sha256: 64 hexadecimal digits are needed';
  group.files.push({ sha256, fileType: null, fileExt: null, family: null, ...details });
  return null;
}

/** When it was seen, where that is told; else when it was written down. */
function timesOf(attribute: Attribute, owner: Attribute): Omit<MispUrl, 'url'> {
  const seen = parseIsoTime(attribute.first_seen) ?? parseIsoTime(owner.first_seen);
  const ts = seen ?? parseSeconds(attribute.timestamp) ?? parseSeconds(owner.timestamp);
  return { ts, lastTs: parseIsoTime(attribute.last_seen) ?? parseIsoTime(owner.last_seen) };
}
