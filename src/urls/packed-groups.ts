import { IP_BYTES } from '../core/ip/address.ts';
import type { Observation, ObservedPayload, StatusObservation } from '../core/observation.ts';
import { createUrlGroups, type GroupOf, groupByUrl, URL_KEY_BYTES, type UrlGroup } from './url-group.ts';

/**
 * A batch for the writer thread: the values of its groups one after the other, and their keys and addresses as bytes. As
 * objects, every property would be sent with its name: reading them took the writer 5.3 µs per URL of URLhaus, with two or
 * three statuses, and takes 1.8. `texts`: what many groups share, such as reporters and tags; the values have their indexes
 * there. So the writer gets one string for each, which it also finds faster in its dictionaries.
 */
export type PackedGroups = {
  values: (string | number | null)[];
  texts: string[];
  bytes: Uint8Array;
};

/** What a store applies. */
export type UrlBatch = readonly Observation[] | PackedGroups;

/** Collects the observations of an import; `take` returns the collected batch, already packed, and starts the next one. */
export function createUrlBatcher() {
  const groups = createUrlGroups();
  return { add: groups.add, take: (): UrlBatch => packGroups(groups.take()) };
}

export const packBatch = (batch: UrlBatch): PackedGroups => (isPacked(batch) ? batch : packGroups(groupByUrl(batch)));

const isPacked = (batch: UrlBatch): batch is PackedGroups => 'bytes' in batch;

export function packGroups(groups: readonly UrlGroup[]): PackedGroups {
  const values: PackedGroups['values'] = [];
  const addressCount = groups.reduce((sum, { addresses }) => sum + addresses.length, 0);
  const bytes = Buffer.alloc(groups.length * URL_KEY_BYTES + addressCount * IP_BYTES);
  const texts = new Map<string, number>();
  const indexOf = (text: string): number => {
    const index = texts.get(text) ?? texts.size;
    if (index === texts.size) texts.set(text, index);
    return index;
  };
  let at = 0;
  for (const { key, url, host, statuses, payloads, addresses, tags } of groups) {
    at += bytes.write(key, at, 'latin1');
    values.push(url, host, payloads.length, tags.length, statuses.length, addresses.length);
    for (const { ts, sha256, family, mimeType, fileType, fileExt, fileSize, fileName } of payloads) {
      values.push(
        ts,
        sha256,
        family === null ? null : indexOf(family),
        mimeType,
        fileType,
        fileExt,
        fileSize,
        fileName,
      );
    }
    for (const tag of tags) values.push(indexOf(tag));
    for (const { ts, status, removal, reporter } of statuses) {
      values.push(ts, indexOf(status), indexOf(removal), indexOf(reporter));
    }
    for (const [ts, ip, asn] of addresses) {
      at += bytes.write(ip, at, 'latin1');
      values.push(ts, asn);
    }
  }
  return { values, texts: [...texts.keys()], bytes };
}

/** The functions below are those of the module, not of a call: V8 compiles a function again after its last closure is gone. */
type Cursor<Bytes> = PackedGroups & {
  at: number;
  byteAt: number;
  slice: (bytes: Uint8Array, from: number, to: number) => Bytes;
};

/** `slice`: keys and addresses in the form that the engine takes. */
export function* unpackGroups<Bytes>(
  { values, texts, bytes }: PackedGroups,
  slice: Cursor<Bytes>['slice'],
): Generator<GroupOf<Bytes>> {
  const cursor: Cursor<Bytes> = { values, texts, bytes, slice, at: 0, byteAt: 0 };
  while (cursor.at < values.length) yield nextGroup(cursor);
}

function nextGroup<Bytes>(cursor: Cursor<Bytes>): GroupOf<Bytes> {
  const key = nextBytes(cursor, URL_KEY_BYTES);
  const [url, host] = [next<string>(cursor), next<string>(cursor)];
  const [payloadCount, tagCount] = [next<number>(cursor), next<number>(cursor)];
  const [statusCount, addressCount] = [next<number>(cursor), next<number>(cursor)];
  const payloads = nextList(cursor, payloadCount, nextPayload);
  const tags = nextList(cursor, tagCount, nextText<string>);
  const statuses = nextList(cursor, statusCount, nextStatus);
  const addresses = nextList(cursor, addressCount, nextAddress<Bytes>);
  return { key, url, host, statuses, payloads, addresses, tags };
}

/** With no places to spare: V8 reserves 17 for a list that `push` has begun. Most have one or two, and live as long as the batch. */
function nextList<T, Bytes>(cursor: Cursor<Bytes>, length: number, nextOf: (cursor: Cursor<Bytes>) => T): T[] {
  const list = new Array<T>(length);
  for (let i = 0; i < length; i++) list[i] = nextOf(cursor);
  return list;
}

function nextPayload(cursor: Cursor<unknown>): ObservedPayload {
  const [ts, sha256, family] = [next<number>(cursor), next<string | null>(cursor), next<number | null>(cursor)];
  const [mimeType, fileType] = [next<string | null>(cursor), next<string | null>(cursor)];
  const [fileExt, fileSize] = [next<string | null>(cursor), next<number | null>(cursor)];
  const fileName = next<string | null>(cursor);
  const named = family === null ? null : (cursor.texts[family] as string);
  return { ts, sha256, family: named, mimeType, fileType, fileExt, fileSize, fileName };
}

function nextStatus(cursor: Cursor<unknown>): StatusObservation {
  return { ts: next(cursor), status: nextText(cursor), removal: nextText(cursor), reporter: nextText(cursor) };
}

function nextAddress<Bytes>(cursor: Cursor<Bytes>): [ts: number, ip: Bytes, asn: number | null] {
  return [next(cursor), nextBytes(cursor, IP_BYTES), next(cursor)];
}

function nextText<T extends string>(cursor: Cursor<unknown>): T {
  return cursor.texts[next<number>(cursor)] as T;
}

function next<T>(cursor: Cursor<unknown>): T {
  return cursor.values[cursor.at++] as T;
}

function nextBytes<Bytes>(cursor: Cursor<Bytes>, length: number): Bytes {
  cursor.byteAt += length;
  return cursor.slice(cursor.bytes, cursor.byteAt - length, cursor.byteAt);
}
