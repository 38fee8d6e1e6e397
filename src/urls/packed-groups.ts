import { IP_BYTES } from '../core/ip/address.ts';
import type { ObservedPayload, StatusObservation } from '../core/observation.ts';
import { type GroupOf, URL_KEY_BYTES, type UrlGroup } from './url-group.ts';

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

/** `slice`: keys and addresses in the form that the engine takes. */
export function* unpackGroups<Bytes>(
  { values, texts, bytes }: PackedGroups,
  slice: (bytes: Uint8Array, from: number, to: number) => Bytes,
): Generator<GroupOf<Bytes>> {
  let [at, byteAt] = [0, 0];
  const next = <T>() => values[at++] as T;
  const nextText = <T extends string>() => texts[values[at++] as number] as T;
  const nextBytes = (length: number) => {
    byteAt += length;
    return slice(bytes, byteAt - length, byteAt);
  };
  const nextPayload = (): ObservedPayload => {
    const [ts, sha256, family] = [next<number>(), next<string | null>(), next<number | null>()];
    const [mimeType, fileType, fileExt] = [next<string | null>(), next<string | null>(), next<string | null>()];
    const [fileSize, fileName] = [next<number | null>(), next<string | null>()];
    const named = family === null ? null : (texts[family] as string);
    return { ts, sha256, family: named, mimeType, fileType, fileExt, fileSize, fileName };
  };
  const nextStatus = (): StatusObservation => {
    return { ts: next(), status: nextText(), removal: nextText(), reporter: nextText() };
  };
  const nextAddress = (): [number, Bytes, number | null] => [next(), nextBytes(IP_BYTES), next()];
  while (at < values.length) {
    const key = nextBytes(URL_KEY_BYTES);
    const [url, host] = [next<string>(), next<string>()];
    const [payloadCount, tagCount] = [next<number>(), next<number>()];
    const [statusCount, addressCount] = [next<number>(), next<number>()];
    const payloads = listOf(payloadCount, nextPayload);
    const tags = listOf(tagCount, nextText<string>);
    const statuses = listOf(statusCount, nextStatus);
    const addresses = listOf(addressCount, nextAddress);
    yield { key, url, host, statuses, payloads, addresses, tags };
  }
}

/** With no places to spare: V8 reserves 17 for a list that `push` has begun. Most have one or two, and live as long as the batch. */
function listOf<T>(length: number, next: () => T): T[] {
  const list = new Array<T>(length);
  for (let i = 0; i < length; i++) list[i] = next();
  return list;
}
