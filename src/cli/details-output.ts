import { formatIp } from '../core/ip/address.ts';
import type { ConfirmedEvent, Payload, UrlAddress, UrlDetails } from '../urls/store.ts';
import { SHOWN_STATUS } from '../urls/timeline.ts';
import { EVENT, toWireEvent, toWirePayload, URL_RESPONSE } from '../urls/wire.ts';
import { fieldList, table, timeText } from './output.ts';
import { counted } from './progress.ts';
import { spanText } from './time.ts';

type Field = readonly [name: string, value: string];

/** For programs: the keys of the API, and `confirmed`, `addresses` and `tags`. */
export function detailsJson(details: UrlDetails, isHistory: boolean): object {
  const { id, url, events, payloads, addresses, tags } = details;
  const [event] = events;
  const [payload] = payloads;
  const records = isHistory
    ? { [URL_RESPONSE.events]: events.map(eventJson), [URL_RESPONSE.payloads]: payloads.map(toWirePayload) }
    : {
        [URL_RESPONSE.status]: event === undefined ? null : statusJson(event),
        [URL_RESPONSE.payload]: payload === undefined ? null : toWirePayload(payload),
      };
  return {
    [URL_RESPONSE.id]: id,
    [URL_RESPONSE.url]: url,
    ...records,
    addresses: addresses.map(({ ip, asn, ts }) => ({ ip: formatIp(ip), asn, ts })),
    tags,
  };
}

function eventJson(event: ConfirmedEvent) {
  return { ...toWireEvent(event), confirmed: event.confirmedTs };
}

function statusJson(event: ConfirmedEvent) {
  return { ...eventJson(event), [EVENT.status]: SHOWN_STATUS[event.kind] };
}

/** For people: one line per field, below the URL. */
export function detailsText(details: UrlDetails, isHistory: boolean, nowTs: number): string {
  const { events, payloads, addresses, tags } = details;
  const [event] = events;
  const fields: Field[] = [
    ...(event === undefined ? NO_STATUS : statusFields(event, nowTs)),
    ...(isHistory && event !== undefined ? column('events', eventLines(events)) : []),
    ...column(payloads.length > 1 ? 'payloads' : 'payload', payloads.flatMap(payloadLines)),
    ...column(addresses.length > 1 ? 'addresses' : 'address', addressLines(addresses)),
    ...column('tags', tags.length === 0 ? [] : [tags.join(', ')]),
  ];
  return fieldList(fields.map(([name, value]) => [`  ${name.padEnd(NAME_COLUMNS)}`, value]));
}

/** So that the fields of several URLs are below each other. */
const NAME_COLUMNS = 'confirmed'.length;

/** The name stands before the first value only. */
function column(name: string, values: readonly string[]): Field[] {
  return values.map((value, i) => [i === 0 ? name : '', value]);
}

const NO_STATUS: Field[] = [['status', 'unknown: nobody reported one']];

function statusFields(event: ConfirmedEvent, nowTs: number): Field[] {
  const { kind, ts, removal, reporter } = event;
  return [
    ['status', `${SHOWN_STATUS[kind]} since ${timeText(ts)}${kind === 'removed' ? ' (removed)' : ''}`],
    ['confirmed', confirmedText(event, nowTs)],
    ...(removal === '' ? [] : [['reason', removal] as const]),
    ...(reporter === '' ? [] : [['reporter', reporter] as const]),
  ];
}

/** A newest event that nobody saw is an implied offline, and its reporter is the feed. */
function confirmedText({ confirmedTs, reporter }: ConfirmedEvent, nowTs: number): string {
  if (confirmedTs === null) return `by nobody: missing from a complete listing of ${reporter}`;
  return `${timeText(confirmedTs)}${confirmedTs < nowTs ? `, ${spanText(nowTs - confirmedTs)} ago` : ''}`;
}

function eventLines(events: readonly ConfirmedEvent[]): string[] {
  const rows = events.map(({ ts, kind, confirmedTs, reporter, removal }) => [
    timeText(ts),
    kind,
    confirmedTs === null ? '' : timeText(confirmedTs),
    reporter,
    removal,
  ]);
  const hasReasons = events.some(({ removal }) => removal !== '');
  return linesOf(table(['TIME', 'STATUS', 'CONFIRMED', 'REPORTER', hasReasons ? 'REASON' : ''], rows));
}

/** The hash has a line to itself: it fills most of one. */
function payloadLines(payload: Payload): string[] {
  const { ts, family, fileType, mimeType, fileExt, fileSize, fileName, sha256 } = payload;
  const known = [
    family,
    fileType ?? fileExt ?? mimeType,
    fileSize === null ? null : counted(fileSize, 'byte'),
    fileName,
  ].filter((detail) => detail !== null);
  return [`${timeText(ts)}  ${known.join(', ')}`.trimEnd(), ...(sha256 === null ? [] : [sha256])];
}

/** Without headings: an address, a network and a time need none. */
function addressLines(addresses: readonly UrlAddress[]): string[] {
  const rows = addresses.map(({ ip, asn, ts }) => [timeText(ts), formatIp(ip), asn === null ? '' : `AS${asn}`]);
  return linesOf(table(['', '', ''], rows)).slice(1);
}

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
