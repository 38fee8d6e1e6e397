import type { ObservationInput, ObservedPayload } from '../../core/observation.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import { beginning, type Item, reject } from '../sources/format.ts';
import { isObject, type JsonFind } from '../sources/json.ts';
import { familiesOf, type MispGroup, type MispUrl, readMispGroup } from './misp-group.ts';
import { onlyFamily, parseIsoTime, parseSeconds, toText } from './values.ts';

/** The parts of an event that are read, below `Event`. */
export const MISP_EVENT_PARTS = [
  'Attribute.*',
  'Object.*',
  'Tag.*',
  'Galaxy.*',
  'Orgc.name',
  'timestamp',
  'publish_timestamp',
  'date',
];

/**
 * Collects an event; what it tells is known at its end, where its families and addresses are. `label` names it in the
 * texts of its items, where several events are read.
 */
export function createMispEvent(label: string) {
  const groups: MispGroup[] = [];
  const families: string[] = [];
  let reporter = '';
  const times: Record<string, number | null> = {};

  function add({ path, value, line }: JsonFind, part: string): void {
    if (part === 'Attribute' || part === 'Object') {
      if (isObject(value)) groups.push(readMispGroup(value, line));
    } else if (part === 'Tag' || part === 'Galaxy') {
      families.push(...familiesOf({ [part]: [value] }));
    } else if (part === 'Orgc') {
      reporter = toText(value) ?? '';
    } else {
      times[String(path.at(-1))] = part === 'date' ? parseIsoTime(`${value}T00:00:00Z`) : parseSeconds(value);
    }
  }

  function items(): Item[] {
    const eventTs = times.timestamp ?? times.date ?? null;
    const publishedTs = times.publish_timestamp ?? times.timestamp ?? null;
    const context: Context = { eventTs, family: onlyFamily(families), reporter, ipsOf: addressBook(groups) };
    const told = groups.flatMap((group) => groupItems(group, context)).map((item) => labelled(item, label));
    return publishedTs === null ? told : [{ kind: 'time', ts: publishedTs }, ...told];
  }

  return { add, items };
}

type Context = {
  eventTs: number | null;
  family: string | null;
  reporter: string;
  ipsOf(url: string, group: MispGroup): string[];
};

/** Of several files in an object with a URL, nobody knows which one the URL served. */
function groupItems(group: MispGroup, context: Context): Item[] {
  const { line, text, urls, files } = group;
  if (group.fault !== null) return [reject(line, text, group.fault)];
  const family = onlyFamily(group.families) ?? (group.families.length === 0 ? context.family : null);
  const [file] = files.length === 1 ? files : [];
  const alone = urls.length > 0 && file !== undefined ? [] : files;
  const items: Item[] = alone.map((one) => ({ kind: 'file', line, text, file: { ...one, family } }));
  if (urls.length === 0) return items;
  const payload = file !== undefined ? { ...file, family } : family === null ? null : { family };
  const inputs = urls.map((url) => urlInputs(url, group, payload, context));
  if (inputs.includes(null)) return [reject(line, text, 'neither the attribute nor the event has a time')];
  return [...items, { kind: 'observations', line, text, inputs: inputs.flatMap((one) => one ?? []) }];
}

/** null without any time. */
function urlInputs(
  { url, ts: ownTs, lastTs }: MispUrl,
  group: MispGroup,
  payload: Partial<ObservedPayload> | null,
  { eventTs, reporter, ipsOf }: Context,
): ObservationInput[] | null {
  const ts = ownTs ?? eventTs;
  if (ts === null) return null;
  const ip = ipsOf(url, group);
  const first = { ts, url, reporter, ...(ip.length > 0 && { ip }), ...(payload !== null && { payload }) };
  return lastTs !== null && lastTs > ts ? [first, { ts: lastTs, url, reporter }] : [first];
}

/**
 * Which addresses a URL's host had. An `ip-dst` in an object belongs to the object's URLs; one that stands alone belongs
 * to the event's host where it has a single one, else nobody knows whose it is. A `domain|ip` names its host.
 */
function addressBook(groups: MispGroup[]): Context['ipsOf'] {
  const readable = groups.filter(({ fault }) => fault === null);
  const byHost = Map.groupBy(
    readable.flatMap(({ resolutions }) => resolutions),
    ({ host }) => host,
  );
  const hosts = new Set(readable.flatMap(({ urls }) => urls.map(({ url }) => nameOf(url))));
  const alone = hosts.size === 1 ? readable.flatMap(({ urls, ips }) => (urls.length === 0 ? ips : [])) : [];
  return (url, group) => {
    const host = nameOf(url);
    if (host === null) return [];
    const resolved = few(byHost.get(host) ?? []).map(({ ip }) => ip);
    return [...new Set([...few(group.ips), ...resolved, ...few(alone)])];
  };
}

/** Of how many addresses of a host an event may tell: each of its URLs gets them all. */
const MAX_ADDRESSES = 100;

function few<T>(list: T[]): T[] {
  return list.length > MAX_ADDRESSES ? list.slice(0, MAX_ADDRESSES) : list;
}

/** The host, where it is a name: an address has no other. */
function nameOf(url: string): string | null {
  const normalized = normalizeUrl(url);
  return normalized.ok && normalized.ip === null ? normalized.host : null;
}

function labelled(item: Item, label: string): Item {
  return item.kind === 'time' || label === '' ? item : { ...item, text: beginning(`${label}: ${item.text}`) };
}
