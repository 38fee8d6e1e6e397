// What the server can import. The list of the server has the parsers, which the pages must not load; a test compares both.

type FormatInfo = {
  name: string;
  text: string;
  /** Which of "dataset", "kind" and "as" can be given. */
  takesDataset?: true;
  takesKind?: true;
  listKinds?: readonly string[];
  /** Exactly one of them must be given. */
  needsMeaning?: true;
};

export const FORMATS: readonly FormatInfo[] = [
  { name: 'urlhaus-csv', text: 'URLhaus, URLs as CSV' },
  { name: 'urlhaus-json', text: 'URLhaus, URLs as JSON' },
  { name: 'urlhaus-payloads', text: 'URLhaus, files that URLs served' },
  { name: 'malwarebazaar-csv', text: 'MalwareBazaar, details of files' },
  { name: 'threatfox-json', text: 'ThreatFox as JSON' },
  { name: 'threatfox-csv', text: 'ThreatFox as CSV' },
  { name: 'feodo-json', text: 'Feodo Tracker as JSON' },
  { name: 'feodo-csv', text: 'Feodo Tracker as CSV' },
  { name: 'drop-json', text: 'Spamhaus DROP' },
  { name: 'misp', text: 'MISP event or feed', takesDataset: true, takesKind: true },
  { name: 'stix', text: 'STIX 2.1 bundle', takesDataset: true, takesKind: true },
  { name: 'url-list', text: 'List of URLs, one per line' },
  {
    name: 'ip-list',
    text: 'List of addresses and networks',
    takesDataset: true,
    listKinds: ['allow', 'shared'],
    needsMeaning: true,
  },
  { name: 'domain-list', text: 'List of host names', takesKind: true, needsMeaning: true },
  { name: 'top-list', text: 'Ranked list of popular sites' },
  {
    name: 'misp-warninglist',
    text: 'MISP warning list',
    listKinds: ['allow', 'shared', 'popular', 'shortener', 'dyndns'],
    needsMeaning: true,
  },
  { name: 'ndjson', text: 'Urlwarden’s own export (NDJSON)' },
];

export const formatOf = (name: string): FormatInfo | undefined => FORMATS.find((format) => format.name === name);

/** The texts of the fields of a form; an empty field is missing. */
export type FormTexts = Record<string, string>;

export type Option = { value: string; text: string };

export const FORMAT_OPTIONS: Option[] = FORMATS.map(({ name, text }) => ({ value: name, text: `${text} (${name})` }));

/** Keys as the API has them. */
export const DATASET_WORDS: Record<string, string> = {
  XBL: 'infected and attacking hosts',
  CSS: 'sources of spam',
  BCL: 'botnet controllers',
  DROP: 'networks under hostile control',
};

export const DATASET_OPTIONS: Option[] = Object.entries(DATASET_WORDS).map(([value, text]) => ({
  value,
  text: `${value}: ${text}`,
}));

const KIND_WORDS: Record<string, string> = {
  malware: 'distribute malware',
  botnetcc: 'control botnets',
  phishing: 'are used for phishing',
};

export const KIND_OPTIONS: Option[] = Object.entries(KIND_WORDS).map(([value, text]) => ({ value, text }));

const LIST_WORDS: Record<string, string> = {
  allow: 'are never listed',
  shared: 'are shared by many people',
  popular: 'are popular sites',
  shortener: 'shorten links',
  dyndns: 'are dynamic DNS',
};

/** What the entries of a list mean, for formats that do not say it: each value is `key:word` of the API. */
export function meaningOptions({ takesDataset, takesKind, listKinds = [] }: FormatInfo): Option[] {
  const datasets = Object.entries(DATASET_WORDS).map(([word, text]) => ({
    value: `dataset:${word}`,
    text: `are ${text} (${word})`,
  }));
  const kinds = Object.entries(KIND_WORDS).map(([word, text]) => ({ value: `kind:${word}`, text }));
  const lists = listKinds.map((word) => ({ value: `as:${word}`, text: LIST_WORDS[word] ?? word }));
  return [...(takesDataset ? datasets : []), ...(takesKind ? kinds : []), ...lists];
}

type Meaning = { dataset?: string; kind?: string; as?: string };

/** From the fields that FormatFields shows. */
export function readMeaning({ meaning, dataset, kind }: FormTexts): Meaning {
  const [key, word] = (meaning ?? '').split(':');
  return { ...(dataset && { dataset }), ...(kind && { kind }), ...(key && word && { [key]: word }) };
}
