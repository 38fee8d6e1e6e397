import type { ExplainResponse, OwnListItem } from '../src/exports/page-routes.ts';
import type { ExclusionItem, KeyItem } from '../src/exports/wire.ts';
import { mistake } from './api.ts';
import { counted, DAY, nowTs, numberText, spanText, visible } from './format.ts';
import type { FormTexts, Option } from './formats.ts';

// What the page of lists for devices computes. The responses are in src/exports.

export type { ExclusionItem, ExplainResponse };
export type DeviceList = OwnListItem;
/** `username` only for administrators; null: the account was removed. */
export type DeviceKey = KeyItem & { username?: string | null };

export const LISTS_API = '/api/portal/v1/lists';
export const OWN_KEYS_API = '/api/portal/v1/list-keys';

export const listPath = (name: string): string => `/lists/${encodeURIComponent(name)}`;
/** Entries of the preview: a screen. */
const PREVIEW_ENTRIES = 20;
export const filePath = (name: string, format: string): string => `/api/lists/v1/${name}.${format}`;
export const previewPath = (name: string, format: string): string => `${filePath(name, format)}?max=${PREVIEW_ENTRIES}`;

export const KIND_WORDS: Record<DeviceList['kind'], string> = {
  urls: 'URLs',
  hosts: 'Host names',
  addresses: 'Addresses',
};

/** `200 entries`, `1 entry`. */
const entriesText = (count: number): string => counted(count, 'entry', 'entries');

const STATUS_WORDS: Record<DeviceList['status'], string> = {
  online: 'Online',
  offline: 'Offline',
  any: 'Online and offline',
};

/** What the filter lets through, for people. Null: it does not restrict. */
export function filterFacts(list: DeviceList): Record<string, string | null> {
  const names = (texts: readonly string[]) => (texts.length === 0 ? null : brief(texts.join(', ')));
  return {
    'What is on it': list.listed_domains ? 'Domains listed by their score' : KIND_WORDS[list.kind],
    Status: list.kind === 'addresses' || list.listed_domains ? null : STATUS_WORDS[list.status],
    'Seen in the last': spanText(list.age_seconds),
    Datasets: names(list.datasets),
    Families: names(list.families),
    'Reported by': names(list.reporters),
    'Score of the domain': list.max_score === null ? null : `${scoreText(list.max_score)} or lower`,
  };
}

const scoreText = (score: number): string => String(score).replace('-', '−');

/** Why something that fits the filter is not on a list. */
const LEFT_OUT_WORDS: Record<string, string> = {
  address: 'Addresses, on a list of names',
  'shared-site': 'Sites that many people share',
  'abused-domain': 'Good sites that somebody misused',
  'shared-address': 'Addresses that many people share',
  reserved: 'Private and reserved ranges inside wider networks',
  allowed: 'On an allow list',
  excluded: 'Excluded by the operator',
  'over-limit': 'Oldest entries of a very long list',
};
const REASON_WORDS: Record<string, string> = {
  ...LEFT_OUT_WORDS,
  address: 'An address',
  'shared-site': 'A site that many people share',
  'abused-domain': 'A good site that somebody misused',
  'shared-address': 'An address that many people share',
  reserved: 'In a private or reserved range',
  kind: 'Another kind of list',
  unknown: 'Unknown',
  filter: 'Does not fit the filter',
  covered: 'A name above it is on the list',
};

export const leftOutText = (reason: string): string => LEFT_OUT_WORDS[reason] ?? visible(reason);
export const reasonText = (reason: string): string => REASON_WORDS[reason] ?? visible(reason);

type LeftOut = Readonly<Record<string, number | undefined>>;

/** The most frequent reason first. */
export const leftOutRows = (leftOut: LeftOut): [reason: string, count: number][] =>
  Object.entries(leftOut)
    .map(([reason, count = 0]): [string, number] => [reason, count])
    .toSorted(([, a], [, b]) => b - a);

export const leftOutSum = (leftOut: LeftOut): number => leftOutRows(leftOut).reduce((sum, [, count]) => sum + count, 0);

/** The beginning of a list in a format, and what its headers say about all of it. */
export type Preview = {
  lines: string[];
  entries: number;
  leftOut: LeftOut;
  changedTs: number | null;
  /** The server could not build it again: seconds since the last good copy. */
  staleSeconds: number | null;
};

/** Longer texts are cut: a URL can have 8,000 characters. */
const MAX_SHOWN = 400;

export const brief = (text: string): string => visible(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

export function readPreview(headers: Pick<Headers, 'get'>, text: string): Preview {
  const changedMs = Date.parse(headers.get('last-modified') ?? '');
  const reasons = (headers.get('x-list-left-out') ?? '').matchAll(/([a-z-]+)=(\d+)/g);
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return {
    lines: lines.map(brief),
    entries: Number(headers.get('x-list-entries') ?? 0),
    leftOut: Object.fromEntries([...reasons].map(([, reason = '', count]) => [reason, Number(count)])),
    changedTs: Number.isNaN(changedMs) ? null : changedMs / 1_000,
    staleSeconds: headers.get('warning') === null ? null : Number(headers.get('age') ?? 0),
  };
}

/** `20 of 1,234 entries, the newest first`. */
export function previewText({ entries }: Preview): string {
  if (entries === 0) return 'The list is empty. Devices get an empty list, not an error.';
  if (entries <= PREVIEW_ENTRIES) return `${entriesText(entries)}, the newest first`;
  return `The newest ${PREVIEW_ENTRIES} of ${numberText(entries)} entries`;
}

export const STATUS_OPTIONS: Option[] = (['online', 'offline', 'any'] as const).map((value) => ({
  value,
  text: STATUS_WORDS[value],
}));

/** Kinds that a person can choose; the last one is a list of hosts as well. */
const DEFINED_KINDS = ['urls', 'hosts', 'addresses', 'domains'] as const;
export type DefinedKind = (typeof DEFINED_KINDS)[number];

export const DEFINED_KIND_OPTIONS: Option[] = DEFINED_KINDS.map((value) => ({
  value,
  text: value === 'domains' ? 'Domains listed by their score' : KIND_WORDS[value],
}));

export const definedKind = ({ kind, listed_domains: isDomains }: DeviceList): DefinedKind =>
  isDomains ? 'domains' : kind;

export const DATASETS = ['XBL', 'BCL', 'CSS', 'DROP'] as const;

/** `Mirai, Mozi`. */
const readNames = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

function readNumber(text: string, label: string): number {
  const number = Number(text.trim().replace(/^[−–]/, '-'));
  if (text.trim() === '' || !Number.isFinite(number)) throw mistake(`${label}: write a number.`);
  return number;
}

/** AGE_MIN_SECONDS and AGE_MAX_SECONDS of the server. */
const [AGE_MIN, AGE_MAX_DAYS] = [3_600, 3_660];

function readAge(days: string): number {
  const seconds = Math.round(readNumber(days, AGE_LABEL) * DAY);
  if (seconds >= AGE_MIN && seconds <= AGE_MAX_DAYS * DAY) return seconds;
  throw mistake(
    `${AGE_LABEL}: write a number up to ${numberText(AGE_MAX_DAYS)}, and at least 0.05, which is about an hour.`,
  );
}

export const AGE_LABEL = 'Seen in the last days';

/** What the server takes for a kind. An empty field does not restrict. */
export function readFilter(kind: DefinedKind, texts: FormTexts): object {
  const { description = '', age = '', status, families, reporters, max_score: score } = texts;
  return {
    description,
    age_seconds: readAge(age),
    families: readNames(families),
    ...((kind === 'urls' || kind === 'hosts') && { status, reporters: readNames(reporters) }),
    ...((kind === 'hosts' || kind === 'domains') && {
      max_score: score === undefined ? null : readNumber(score, 'Score of the domain'),
    }),
    ...(kind === 'addresses' && { datasets: DATASETS.filter((name) => texts[`dataset-${name}`] === 'on') }),
  };
}

export function readDefinition(texts: FormTexts): object {
  const kind = texts.kind as DefinedKind;
  const isDomains = kind === 'domains';
  return {
    name: texts.name?.trim(),
    kind: isDomains ? 'hosts' : kind,
    ...readFilter(kind, texts),
    ...(isDomains && { listed_domains: true }),
  };
}

export const END_OPTIONS: Option[] = [
  ...[1, 7, 30, 90, 365].map((days) => ({ value: String(days * DAY), text: `after ${counted(days, 'day')}` })),
  { value: '', text: 'never' },
];

export function readExclusion({ value, subdomains, list, reason, seconds }: FormTexts): object {
  return {
    value,
    reason,
    ...(subdomains === 'on' && { subdomains: true }),
    ...(list && { list }),
    ...(seconds && { until_ts: nowTs() + Number(seconds) }),
  };
}

/** In a configuration, until the key is made. */
export const KEY_PLACEHOLDER = 'uwk_YOUR_KEY';
