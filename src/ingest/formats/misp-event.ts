import type { DomainKind } from '../../core/evidence.ts';
import { isObject } from '../../core/json-object.ts';
import type { ObservationInput, ObservedPayload } from '../../core/observation.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import { type EvidenceChoices, type Item, reject, truncated } from '../sources/format.ts';
import type { JsonFind } from '../sources/json.ts';
import { indicatorItems, NO_TIME } from './misp-evidence.ts';
import { familiesOf, firstAddresses, labelsOf, type MispGroup, type MispUrl, readMispGroup } from './misp-group.ts';
import { kindOf, onlyFamily, parseIsoTime, parseSeconds, toTags, toText } from './values.ts';

/** Paths below `Event` that are read. */
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
 * Collects the parts of an event. Families and addresses may come last, so `items` is called at the end of the event.
 * `label` is a prefix for the texts of the items, used when several events are read.
 */
export function createMispEvent(label: string, choices: EvidenceChoices) {
  const groups: MispGroup[] = [];
  const families: string[] = [];
  const labels: string[] = [];
  let reporter = '';
  const times: Record<string, number | null> = {};

  function add({ path, value, line }: JsonFind, part: string): void {
    if (part === 'Attribute' || part === 'Object') {
      if (isObject(value)) groups.push(readMispGroup(value, line));
    } else if (part === 'Tag' || part === 'Galaxy') {
      families.push(...familiesOf({ [part]: [value] }));
      labels.push(...labelsOf({ [part]: [value] }));
    } else if (part === 'Orgc') {
      reporter = toText(value) ?? '';
    } else {
      times[String(path.at(-1))] = part === 'date' ? parseIsoTime(`${value}T00:00:00Z`) : parseSeconds(value);
    }
  }

  function items(): Item[] {
    const eventTs = times.timestamp ?? times.date ?? null;
    const publishedTs = times.publish_timestamp ?? times.timestamp ?? null;
    const context: Context = {
      eventTs,
      family: onlyFamily(families),
      reporter,
      ipsOf: createAddressLookup(groups),
      tags: toTags(labels),
      kind: kindOf(labels),
      choices,
    };
    const all = groups.flatMap((group) => groupItems(group, context)).map((item) => labelled(item, label));
    return publishedTs === null ? all : [{ kind: 'time', ts: publishedTs }, ...all];
  }

  return { add, items };
}

type Context = {
  eventTs: number | null;
  family: string | null;
  reporter: string;
  ipsOf(url: string, group: MispGroup): string[];
  /** Of the event, read once: an event may have a hundred thousand, and as many URLs. */
  tags: readonly string[];
  kind: DomainKind;
  choices: EvidenceChoices;
};

/** If an object has a URL and several files, the URL's payload is unknown. */
function groupItems(group: MispGroup, context: Context): Item[] {
  const { line, text, urls, files } = group;
  if (group.fault !== null) return [reject(line, text, group.fault)];
  const family = onlyFamily(group.families) ?? (group.families.length === 0 ? context.family : null);
  const [file] = files.length === 1 ? files : [];
  const unlinked = urls.length > 0 && file !== undefined ? [] : files;
  const items: Item[] = [];
  for (const details of unlinked) items.push({ kind: 'file', line, text, file: { ...details, family } });
  items.push(...indicatorItems(group, family, context));
  if (urls.length === 0) return items;
  const payload = file !== undefined ? { ...file, family } : family === null ? null : { family };
  const tags = toTags([...group.tags, ...context.tags]);
  const inputs = urls.map((url) => urlInputs(url, group, payload, tags, context));
  if (inputs.includes(null)) return [reject(line, text, NO_TIME)];
  return [...items, { kind: 'observations', line, text, inputs: inputs.flatMap((urlInput) => urlInput ?? []) }];
}

/** null if there is no time. */
function urlInputs(
  { url, ts: ownTs, lastTs }: MispUrl,
  group: MispGroup,
  payload: Partial<ObservedPayload> | null,
  tags: readonly string[],
  { eventTs, reporter, ipsOf }: Context,
): ObservationInput[] | null {
  const ts = ownTs ?? eventTs;
  if (ts === null) return null;
  const ip = ipsOf(url, group);
  const first = {
    ts,
    url,
    reporter,
    ...(ip.length > 0 && { ip }),
    ...(payload !== null && { payload }),
    ...(tags.length > 0 && { tags }),
  };
  return lastTs !== null && lastTs > ts ? [first, { ts: lastTs, url, reporter }] : [first];
}

/**
 * Finds the addresses of a URL's host. An `ip-dst` in an object belongs to the URLs of that object. An `ip-dst` outside
 * an object belongs to the event's host if the event has exactly one. A `domain|ip` contains its host.
 */
function createAddressLookup(groups: MispGroup[]): Context['ipsOf'] {
  const readable = groups.filter(({ fault }) => fault === null);
  const byHost = Map.groupBy(
    readable.flatMap(({ resolutions }) => resolutions),
    ({ host }) => host,
  );
  const hosts = new Set(readable.flatMap(({ urls }) => urls.map(({ url }) => hostNameOf(url))));
  const standalone = hosts.size === 1 ? readable.flatMap(({ isObject, ips }) => (isObject ? [] : ips)) : [];
  return (url, group) => {
    const host = hostNameOf(url);
    if (host === null) return [];
    const resolved = firstAddresses(byHost.get(host) ?? []).map(({ ip }) => ip);
    return [...new Set([...firstAddresses(group.ips), ...resolved, ...firstAddresses(standalone)])];
  };
}

/** The host if it is a name, not an address. */
function hostNameOf(url: string): string | null {
  const normalized = normalizeUrl(url);
  return normalized.ok && normalized.ip === null ? normalized.host : null;
}

function labelled(item: Item, label: string): Item {
  return !('text' in item) || label === '' ? item : { ...item, text: truncated(`${label}: ${item.text}`) };
}
