import { hash } from 'node:crypto';
import { type ByteText, toBytes, toByteText } from '../core/byte-text.ts';
import { byTime, type Observation, type ObservedPayload, type StatusObservation } from '../core/observation.ts';
import { flatText } from '../core/text.ts';

/** The observations of one URL in a batch. `Bytes`: the form of keys and addresses. */
export type GroupOf<Bytes> = {
  key: Bytes;
  url: string;
  host: string;
  /** In order of time. */
  statuses: StatusObservation[];
  payloads: ObservedPayload[];
  addresses: [ts: number, ip: Bytes, asn: number | null][];
  /** May have duplicates. */
  tags: string[];
};

export type UrlGroup = GroupOf<ByteText>;

export function groupByUrl(observations: readonly Observation[]): UrlGroup[] {
  const groups = createUrlGroups();
  for (const observation of observations) groups.add(observation);
  return groups.take();
}

/**
 * A batch for the writer, in order of key: neighbours in the index are written together, and several writers lock URLs in
 * one order. Most feeds have two or three observations per URL; grouped, the URL, its host and its address are sent to the
 * writer thread once. Hashing and sorting happen here because the writer is the bottleneck.
 */
export function createUrlGroups() {
  const bytesOf = createByteTexts();
  let groups = new Map<string, UrlGroup>();
  let texts = new Map<string, string>();
  let last: UrlGroup | undefined;

  return {
    add(observation: Observation): void {
      const { url, host } = observation;
      if (last?.url !== url) last = groups.get(url);
      if (last === undefined) {
        last = { key: urlKeyText(url), url, host, statuses: NONE, payloads: NONE, addresses: NONE, tags: NONE };
        groups.set(url, last);
      }
      addTo(last, observation, texts, bytesOf);
    },

    /** Returns the groups and begins the next batch. */
    take(): UrlGroup[] {
      const taken = [...groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
      for (const { statuses } of taken) if (!isInOrder(statuses)) statuses.sort(byTime);
      groups = new Map();
      texts = new Map();
      last = undefined;
      return taken;
    },
  };
}

/** The observations of a row share the bytes of an address. */
function createByteTexts(): (bytes: Uint8Array) => ByteText {
  let last: { bytes: Uint8Array; text: ByteText } = { bytes: new Uint8Array(), text: '' };
  return (bytes) => {
    if (last.bytes !== bytes) last = { bytes, text: toByteText(bytes) };
    return last.text;
  };
}

/** Skips an address that repeats the last one: a row of a feed with two observations of one time has it twice. */
function addTo(
  group: UrlGroup,
  observation: Observation,
  texts: Map<string, string>,
  bytesOf: (bytes: Uint8Array) => ByteText,
): void {
  const { ts, status, payload } = observation;
  if (status !== null) {
    const removal = sharedText(texts, observation.removal);
    const reporter = sharedText(texts, observation.reporter);
    group.statuses = withItem(group.statuses, { ts, status, removal, reporter });
  }
  if (payload !== null) group.payloads = withItem(group.payloads, payload);
  for (const tag of observation.tags) group.tags = withItem(group.tags, sharedText(texts, tag));
  for (const address of observation.addresses) {
    const [ip, asn] = [bytesOf(address.ip), address.asn];
    const last = group.addresses.at(-1);
    if (last === undefined || last[0] !== ts || last[1] !== ip || last[2] !== asn)
      group.addresses = withItem(group.addresses, [ts, ip, asn]);
  }
}

/** Equal texts are one in memory. It is a copy: a part of a row would keep the whole row. */
function sharedText(texts: Map<string, string>, text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  const copy = flatText(text);
  texts.set(copy, copy);
  return copy;
}

/** The list of groups that have none; never changed. */
const NONE: never[] = [];

/** Most lists have one or two items. */
const EXACT_LENGTH = 4;

/** Returns the list, or a longer one without places to spare: `push` reserves 17, and a batch has thousands of lists. */
function withItem<T>(list: T[], item: T): T[] {
  const { length } = list;
  if (length >= EXACT_LENGTH) {
    list.push(item);
    return list;
  }
  const longer = new Array<T>(length + 1);
  for (let i = 0; i < length; i++) longer[i] = list[i] as T;
  longer[length] = item;
  return longer;
}

/** Sorting a list takes memory even if nothing changes. */
function isInOrder(statuses: readonly StatusObservation[]): boolean {
  for (let i = 1; i < statuses.length; i++) {
    if (byTime(statuses[i - 1] as StatusObservation, statuses[i] as StatusObservation) > 0) return false;
  }
  return true;
}

/** Bytes of SHA-256 that identify a URL. At 10^9 URLs the probability that two have one key is 10^-20. */
export const URL_KEY_BYTES = 16;

/**
 * The key of a URL, the same on every engine: an index on the text would double the table. The hash is computed as a
 * string, because a buffer from the hash does not use pooled memory: 0.5 µs instead of 2.2.
 */
const urlKeyText = (url: string): ByteText => hash('sha256', url, 'binary').slice(0, URL_KEY_BYTES);

export const urlKey = (url: string): Uint8Array => toBytes(urlKeyText(url));

export const urlKeyHex = (url: string): string => hash('sha256', url).slice(0, 2 * URL_KEY_BYTES);
