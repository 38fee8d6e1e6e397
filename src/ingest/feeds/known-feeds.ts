/** Defaults of `urlwarden feed add NAME` for a public feed. */
export type KnownFeed = {
  name: string;
  /** Shown in the help of `feed add`. */
  about: string;
  format: string;
  /** Public address that needs no key. */
  url: string;
  /** Address for users with a key; {Auth-Key} is replaced by the key. */
  keyedUrl?: string;
  intervalSeconds: number;
  /** Each fetch lists everything that is online. */
  isComplete: boolean;
};

const MINUTE = 60;
const HOUR = 3_600;

/**
 * The dumps of abuse.ch. They are generated every five minutes, and abuse.ch asks not to fetch them more often. It asks
 * users to have a key, free of charge (https://auth.abuse.ch/), and may close the public addresses. Larger dumps have
 * longer intervals.
 */
export const KNOWN_FEEDS: readonly KnownFeed[] = [
  {
    name: 'urlhaus',
    about: 'URLhaus: all URLs that are online now',
    format: 'urlhaus-csv',
    url: 'https://urlhaus.abuse.ch/downloads/csv_online/',
    intervalSeconds: 5 * MINUTE,
    isComplete: true,
  },
  {
    name: 'urlhaus-recent',
    about: 'URLhaus: URLs of the last 30 days, online and offline',
    format: 'urlhaus-csv',
    url: 'https://urlhaus.abuse.ch/downloads/csv_recent/',
    keyedUrl: 'https://urlhaus-api.abuse.ch/v2/files/exports/{Auth-Key}/recent.csv',
    intervalSeconds: 5 * MINUTE,
    isComplete: false,
  },
  {
    name: 'urlhaus-full',
    about: 'URLhaus: URLs of the last 90 days, and all that are online',
    format: 'urlhaus-csv',
    url: 'https://urlhaus.abuse.ch/downloads/csv/',
    intervalSeconds: 24 * HOUR,
    isComplete: false,
  },
  {
    name: 'urlhaus-payloads',
    about: 'URLhaus: files that URLs served, with their malware families',
    format: 'urlhaus-payloads',
    url: 'https://urlhaus.abuse.ch/downloads/payloads/',
    intervalSeconds: 24 * HOUR,
    isComplete: false,
  },
  {
    name: 'malwarebazaar',
    about: 'MalwareBazaar: details of files of the last days',
    format: 'malwarebazaar-csv',
    url: 'https://bazaar.abuse.ch/export/csv/recent/',
    keyedUrl: 'https://mb-api.abuse.ch/v2/files/exports/{Auth-Key}/recent.csv',
    intervalSeconds: HOUR,
    isComplete: false,
  },
];

/** The header for the key of abuse.ch. */
export const KEY_HEADER = 'Auth-Key';
