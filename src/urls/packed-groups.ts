import { IP_BYTES } from '../core/ip/address.ts';
import type { ObservedPayload, StatusObservation } from '../core/observation.ts';
import { URL_KEY_BYTES, type UrlGroup } from './url-group.ts';

/**
 * A batch for the writer thread: the values of its groups one after the other, and their keys and addresses as bytes. As
 * objects, every property would be sent with its name: reading them took the writer 5.3 µs per URL of URLhaus, with two or
 * three statuses, and takes 1.8.
 */
export type PackedGroups = { values: (string | number | null | ObservedPayload[] | string[])[]; bytes: Uint8Array };

/** A group with its bytes as the database takes them. */
export type UnpackedGroup = Omit<UrlGroup, 'key' | 'addresses'> & {
  key: Uint8Array;
  addresses: [ts: number, ip: Uint8Array, asn: number | null][];
};

export function packGroups(groups: readonly UrlGroup[]): PackedGroups {
  const values: PackedGroups['values'] = [];
  const addressCount = groups.reduce((sum, { addresses }) => sum + addresses.length, 0);
  const bytes = Buffer.alloc(groups.length * URL_KEY_BYTES + addressCount * IP_BYTES);
  let at = 0;
  for (const { key, url, host, statuses, payloads, addresses, tags } of groups) {
    at += bytes.write(key, at, 'latin1');
    // Most groups have no payload, and those of many sources have no tags.
    values.push(url, host, payloads.length === 0 ? null : payloads, tags.length === 0 ? null : tags);
    values.push(statuses.length, addresses.length);
    for (const { ts, status, removal, reporter } of statuses) values.push(ts, status, removal, reporter);
    for (const [ts, ip, asn] of addresses) {
      at += bytes.write(ip, at, 'latin1');
      values.push(ts, asn);
    }
  }
  return { values, bytes };
}

export function* unpackGroups({ values, bytes }: PackedGroups): Generator<UnpackedGroup> {
  let [at, byteAt] = [0, 0];
  const next = <T>() => values[at++] as T;
  const nextBytes = (length: number) => {
    byteAt += length;
    return bytes.subarray(byteAt - length, byteAt);
  };
  while (at < values.length) {
    const key = nextBytes(URL_KEY_BYTES);
    const [url, host] = [next<string>(), next<string>()];
    const payloads = next<ObservedPayload[] | null>() ?? [];
    const tags = next<string[] | null>() ?? [];
    const [statusCount, addressCount] = [next<number>(), next<number>()];
    const statuses: StatusObservation[] = [];
    for (let i = 0; i < statusCount; i++) {
      statuses.push({ ts: next(), status: next(), removal: next(), reporter: next() });
    }
    const addresses: UnpackedGroup['addresses'] = [];
    for (let i = 0; i < addressCount; i++) addresses.push([next(), nextBytes(IP_BYTES), next()]);
    yield { key, url, host, statuses, payloads, addresses, tags };
  }
}
