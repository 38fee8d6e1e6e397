import type { AddedListing, RemovalResponse } from '../src/admin/listings.ts';
import { parseKeyNetwork } from '../src/core/ip/key-network.ts';
import { mistake } from './api.ts';
import { counted, DAY, dateText } from './format.ts';
import type { FormTexts, Option } from './formats.ts';

// What the page "Lists by hand" computes.

/** The name of the source of what people enter (OPERATOR_SOURCE). */
export const BY_HAND = 'operator';
export const isByHand = ({ source }: { source: string }): boolean => source === BY_HAND;

/** `+25`, `−10`, `0`. */
export function humanText(points: number): string {
  return points > 0 ? `+${points}` : points < 0 ? `−${-points}` : '0';
}

export function abusedText(abused: boolean | null): string {
  return abused === null ? 'by the data' : abused ? 'yes' : 'no';
}

/** `keep`: for a domain of which the page does not know what is set. */
export function abusedOptions(canKeep: boolean): Option[] {
  const words = [null, true, false].map((abused) => ({ value: String(abused), text: abusedText(abused) }));
  return canKeep ? [{ value: 'keep', text: 'as it is' }, ...words] : words;
}

const ABUSED: Record<string, boolean | null> = { null: null, true: true, false: false };

/** Points with any minus sign. An empty field is not sent: what is set stays. */
export function readDomain({ domain, human, abused = 'keep', reason }: FormTexts): object {
  const isKept = !(abused in ABUSED);
  if (human === undefined && isKept) throw mistake('Enter points, or choose whether the domain is abused.');
  const points = readWhole(human, 'Points', -50, 50);
  return { domain, reason, ...(points !== null && { human: points }), ...(!isKept && { abused: ABUSED[abused] }) };
}

function readWhole(text: string | undefined, label: string, min: number, max: number): number | null {
  if (text === undefined) return null;
  const plain = text.trim().replace(/^[−–]/, '-');
  if (/^[+-]?\d{1,6}$/.test(plain) && Number(plain) >= min && Number(plain) <= max) return Number(plain);
  throw mistake(`${label}: write a whole number from ${min} to ${max}.`);
}

const PORT_MAX = 65_535;

export function readListing({ cidr, dataset, botname, port, abused, reason }: FormTexts): object {
  const number = readWhole(port, 'Port', 0, PORT_MAX);
  return {
    cidr,
    dataset,
    reason,
    ...(botname && { botname }),
    ...(number !== null && { port: number }),
    ...(abused === 'on' && { abused: true }),
  };
}

export const listedAs = ({ cidr, dataset, valid_until_ts: ts }: AddedListing): string =>
  `${cidr} is in ${dataset} until ${dateText(ts)}.`;

/** The first is the default of the server. */
export const REMOVAL_OPTIONS: Option[] = [1, 7, 30, 90, 365].map((days) => ({
  value: String(days * DAY),
  text: counted(days, 'day'),
}));

export function readRemoval({ cidr, dataset, seconds, reason }: FormTexts): object {
  return { cidr, reason, ...(dataset && { dataset }), ...(seconds && { for_seconds: Number(seconds) }) };
}

export function removalText({ cidr, removed, still_covered_by: wider }: RemovalResponse): string {
  const datasets = [...new Set(removed.map(({ dataset }) => dataset))].join(', ');
  const rest = wider.length === 0 ? '' : ` It is still covered by ${wider.join(', ')}.`;
  return `${cidr} is removed from ${datasets}.${rest}`;
}

/** For tables: by number, 9.0.0.0/8 before 10.0.0.0/8, and IPv4 before IPv6. Any other text stays as it is. */
export function networkOrder(cidr: string): string {
  const network = parseKeyNetwork(cidr);
  if (network === null) return cidr;
  const bytes = [...network.ip, network.prefix];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
