// The JSON of the API. These types import nothing, so that programs without the types of Node.js can use them. A test compares
// them with the types and schemas of the server.

/** Unix time in seconds. */
export type Timestamp = number;

/** A file that a URL served. Unknown values are null. */
export type Payload = {
  ts: Timestamp;
  mime_type: string | null;
  file_type: string | null;
  file_ext: string | null;
  file_size: number | null;
  file_name: string | null;
  sha256_hash: string | null;
  'malware-family': string | null;
};

/** A change of the status of a URL. */
export type UrlEvent = {
  ts: Timestamp;
  status: 'added' | 'removed' | 'online' | 'offline';
  /** The reason for the removal; empty if there is none. */
  removal: string;
  /** The nickname of the reporter. */
  reporter: string;
};

/** The current status of a URL. */
export type UrlStatus = Omit<UrlEvent, 'status'> & { status: 'online' | 'offline' };

export type UrlLast = {
  id: number;
  /** The normalized URL. */
  url: string;
  /** Null if only payloads, addresses or tags of the URL were reported. */
  status: UrlStatus | null;
  payload: Payload | null;
};

/** The newest hundred of both, newest first. */
export type UrlHistory = { id: number; url: string; events: UrlEvent[]; payloads: Payload[] };

type Without<Keys extends string> = { [Key in Keys]?: never };

/** Exactly one key. */
export type SearchKey =
  /** An address or a subnet, IPv4 or IPv6. */
  | ({ ip: string } & Without<'host' | 'asn' | 'malware_family' | 'sha256'>)
  /** A host name or an IP literal; subdomains do not match. */
  | ({ host: string } & Without<'ip' | 'asn' | 'malware_family' | 'sha256'>)
  /** 64500, '64500' or 'AS64500'. */
  | ({ asn: number | string } & Without<'ip' | 'host' | 'malware_family' | 'sha256'>)
  | ({ malware_family: string } & Without<'ip' | 'host' | 'asn' | 'sha256'>)
  | ({ sha256: string } & Without<'ip' | 'host' | 'asn' | 'malware_family'>);

export type SearchRecord = { ts: Timestamp; id: number; url: string };

/** `ref` is anything by which the caller recognizes the line. */
export type BulkInput = string | URL | BulkRow;
export type BulkRow = { url: string | URL; ref?: string | number | undefined };

export type BulkView = 'last' | 'status';

type BulkPlace = {
  /** The position in the list, from 1. */
  n: number;
  /** The URL as it was given. */
  input: string;
  ref?: string | number;
};

export type BulkFound<View extends BulkView = 'last'> = BulkPlace & {
  found: true;
  error?: undefined;
} & (View extends 'status' ? Omit<UrlLast, 'payload'> : UrlLast);
export type BulkUnknown = BulkPlace & { found: false; error?: undefined };
/** The text is not a URL. */
export type BulkInvalid = BulkPlace & { found?: undefined; error: { code: number; message: string } };
export type BulkLine<View extends BulkView = 'last'> = BulkFound<View> | BulkUnknown | BulkInvalid;

export type AddressDataset = 'XBL' | 'CSS' | 'BCL' | 'DROP';

/** A listing of an address or a network. A key whose value is unknown is absent. */
export type AddressRecord = {
  /** The listed address, or the network as CIDR. */
  ipaddress: string;
  dataset: AddressDataset;
  /** When the listing began. */
  listed: Timestamp;
  /** The newest evidence. */
  seen: Timestamp;
  /** When the listing expires unless it is seen again. */
  valid_until: Timestamp;
  /** The malware family; always present for XBL and BCL. */
  botname?: string;
  /** XBL: identifies the source. */
  rule?: string;
  /** XBL: how the address was found. */
  heuristic?: string;
  /** The AS number, in digits. */
  asn?: string;
  /** The country code. */
  cc?: string;
  lat?: number;
  lon?: number;
  /** BCL: the port of the controller. */
  dstport?: number;
  /** The address that was contacted. */
  dstip?: string;
  /** The address that made contact. */
  srcip?: string;
  srcport?: number;
  protocol?: string;
  helo?: string;
  subject?: string;
  domain?: string;
  detection?: string;
  /** BCL: a legitimate host that was broken into. */
  abused?: boolean;
  /** BCL: many use the address, as in a cloud or CDN. */
  shared?: boolean;
  /** When the operator removed it. */
  remove_timestamp?: Timestamp;
};

/** Newest first; empty if nothing is listed. */
export type AddressRecords = { results: AddressRecord[] };

export type DomainTag =
  | 'malware'
  | 'botnetcc'
  | 'phishing'
  | 'compromised'
  | 'popular'
  | 'shared'
  | 'shortener'
  | 'dyndns';

export type Domain = {
  domain: string;
  'last-seen': Timestamp;
  tags: DomainTag[];
  /** A good site that somebody misused. */
  abused: boolean;
  whois: { created?: number; expires?: number; registrar?: string };
  /** The sum of the dimensions. −10 or less: listed. */
  score: number;
};

export type DomainDimension = 'human' | 'identity' | 'infra' | 'malware' | 'smtp';
export type DomainDimensions = Record<DomainDimension, number>;
export type DomainOverview = Domain & { dimensions: DomainDimensions };

export type DomainListing = {
  'is-listed': boolean;
  /** The newest evidence. */
  ts: Timestamp;
  /** When it ends without new evidence; only if it is listed. */
  'listed-until'?: Timestamp;
};

export type DomainReason = {
  dimension: DomainDimension;
  points: number;
  text: string;
  /** The source of the evidence. */
  feed: string;
  ts: Timestamp;
};

/** The points of the reasons add up to the score. */
export type DomainExplanation = {
  domain: string;
  score: number;
  dimensions: DomainDimensions;
  'is-listed': boolean;
  reasons: DomainReason[];
};

export type DomainContextName = 'urls' | 'osint' | 'pdns' | 'helo' | 'whois' | 'popularity';
export type DomainContext = { context: DomainContextName; 'last-seen': Timestamp };
/** `counter` is the number of days on which it was seen. */
export type DomainAddress = { ip: string; 'last-seen': Timestamp; score: number; counter: number };
export type DomainNameServer = { ns: string; 'last-seen': Timestamp; score: number; counter: number };
/** `helo` is empty if it is unknown. */
export type DomainSender = { ip: string; helo: string; 'last-seen': Timestamp; score: number };
export type DomainHostname = { hostname: string; 'last-seen': Timestamp; 'is-listed': boolean; abused: boolean };
/** `botname` is the malware family, or "unknown". */
export type DomainUrl = { url: string; botname: string; 'last-seen': Timestamp };
export type DomainFile = { type: 'sha256'; hash: string; botname: string; 'last-seen': Timestamp };

/** q: queries, m: month, s and h: soft and hard limit, rl: rate limit, qp: queries per. */
export type Limits = {
  status: 200;
  code: 200;
  account: {
    /** The subscription number. */
    sub: string;
    usr: string;
  };
  limits: {
    /** The datasets that may be queried, separated by commas. */
    ads: string;
    trs: string;
    qms: number;
    qmh: number;
    rl_qph: number;
    rl_qpm: number;
    rl_qps: number;
  };
  current: { qpm: number; qpd: number; rl_qph: number; rl_qpm: number; rl_qps: number };
};

/** What the RateLimit headers of a response say. */
export type Rate = {
  /** The limit of which the smallest share is left. */
  limit: string;
  /** Queries that are left of it. */
  remaining: number;
  /** Seconds until its window ends. */
  resetSeconds: number;
  /** All limits: queries in a window of this many seconds. */
  policies: { limit: string; queries: number; windowSeconds: number }[];
};
