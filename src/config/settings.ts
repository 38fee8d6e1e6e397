import { resolve } from 'node:path';
import type { Setting, SettingValues } from './read-settings.ts';
import { parseRedisUrl, type RedisAddress } from './redis-url.ts';
import {
  integerBetween,
  isLoopback,
  readHost,
  readHttpUrl,
  readNetworks,
  readPath,
  readPostgresUrl,
  readPostgresUrls,
  readShare,
  readSwitch,
} from './setting-values.ts';

/** Below 24 days, because timers of many clients overflow at 2^31 milliseconds (24.8 days). */
const TOKEN_LIFE_MAX_SECONDS = 24 * 86_400 - 1;

/** docs/operating.md lists what each level logs. */
const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** How queries are handled while Redis is down. */
const WHEN_REDIS_IS_DOWN = ['local', 'refuse'] as const;

/** The memory that threads share has a place for each of them (`limits/count-cells.ts`). */
export const MAX_THREADS = 64;

const ACCEPTED_HOSTS = 'an IP address such as 127.0.0.1, 0.0.0.0 or ::, or localhost';

// What settings of one kind have in common.

const SWITCH = { fallback: false, read: readSwitch, accepts: 'true or false' };

const OPTIONAL_FILE = { fallback: null, read: readPath, resolveIn: resolve, accepts: 'the path of a file' };

function wholeNumber(least: number, greatest: number, unit = '') {
  const number = unit === '' ? 'a whole number' : `a whole number of ${unit}`;
  return { read: integerBetween(least, greatest), accepts: `${number} from ${least} to ${greatest}` };
}

function oneOf<const Word extends string>(words: readonly Word[]) {
  const read = (text: string) => words.find((word) => word === text) ?? null;
  return { read, accepts: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`, values: words };
}

/** Every setting of the server. */
export const SETTINGS = {
  host: {
    flag: 'host',
    argument: 'ADDRESS',
    meaning: 'address to listen on',
    fallback: '127.0.0.1',
    read: readHost,
    accepts: ACCEPTED_HOSTS,
  } satisfies Setting<string>,
  port: {
    flag: 'port',
    argument: 'PORT',
    meaning: 'port to listen on; 0 chooses a free port',
    fallback: 8080,
    ...wholeNumber(0, 65_535),
  } satisfies Setting<number>,
  dataDir: {
    flag: 'data',
    argument: 'DIR',
    meaning: 'folder of the embedded database, created if missing',
    fallback: './data',
    read: readPath,
    resolveIn: resolve,
    accepts: 'the path of a folder',
  } satisfies Setting<string>,
  databaseUrl: {
    flag: 'database-url',
    argument: 'URL',
    meaning: 'store the data in PostgreSQL instead; with several hosts, the one that accepts writes is used',
    fallback: null,
    read: readPostgresUrl,
    accepts: 'like postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE, with special characters percent-encoded',
    isSecret: true,
  } satisfies Setting<string | null>,
  databaseReadUrls: {
    flag: 'database-read-url',
    argument: 'URL,…',
    meaning: 'replicas of that database, used for lookups',
    fallback: [],
    read: readPostgresUrls,
    accepts: 'URLs of PostgreSQL databases separated by commas, with special characters percent-encoded',
    isSecret: true,
  } satisfies Setting<readonly string[]>,
  databaseConnections: {
    flag: 'database-connections',
    argument: 'NUMBER',
    meaning: 'maximum number of connections to each PostgreSQL database',
    fallback: 10,
    ...wholeNumber(1, 1_000),
  } satisfies Setting<number>,
  threads: {
    flag: 'threads',
    argument: 'NUMBER',
    meaning: 'threads that answer requests (default one per core, at most 8; one with --demo)',
    fallback: null,
    ...wholeNumber(1, MAX_THREADS),
  } satisfies Setting<number | null>,
  demo: {
    flag: 'demo',
    meaning: 'serve demo data from a separate folder, DIR/demo',
    ...SWITCH,
  } satisfies Setting<boolean>,
  noPortal: {
    flag: 'no-portal',
    meaning: 'serve the API only, without pages for people',
    ...SWITCH,
  } satisfies Setting<boolean>,
  tokenLifeSeconds: {
    flag: 'token-life-seconds',
    argument: 'SECONDS',
    meaning: 'how long a login token is valid; below 3600, PyOTI and similar clients log in again for every query',
    fallback: 86_400,
    read: integerBetween(60, TOKEN_LIFE_MAX_SECONDS),
    accepts: `a whole number from 60 to ${TOKEN_LIFE_MAX_SECONDS} (below 24 days)`,
  } satisfies Setting<number>,
  queryBudgetMs: {
    flag: 'query-budget-ms',
    argument: 'MS',
    meaning: 'time limit for finding the first record of a response; after it the query fails with 408',
    fallback: 10_000,
    ...wholeNumber(1, 3_600_000, 'milliseconds'),
  } satisfies Setting<number>,
  stopGraceSeconds: {
    flag: 'stop-grace-seconds',
    argument: 'SECONDS',
    meaning:
      'how long requests are still answered after SIGTERM, so that proxies and clients can change to another server',
    fallback: 5,
    ...wholeNumber(0, 3_600, 'seconds'),
  } satisfies Setting<number>,
  tlsCertFile: {
    flag: 'tls-cert',
    argument: 'FILE',
    meaning: 'certificate chain (PEM); enables HTTPS, requires --tls-key',
    ...OPTIONAL_FILE,
  } satisfies Setting<string | null>,
  tlsKeyFile: {
    flag: 'tls-key',
    argument: 'FILE',
    meaning: 'private key of the certificate (PEM)',
    ...OPTIONAL_FILE,
  } satisfies Setting<string | null>,
  trustedProxies: {
    flag: 'trust-proxy',
    argument: 'CIDR,…',
    meaning: 'addresses of proxies whose X-Forwarded-For header is trusted',
    fallback: [],
    read: readNetworks,
    accepts: 'addresses or networks separated by commas, such as 10.0.0.0/8,2001:db8::1, without /0',
  } satisfies Setting<readonly string[]>,
  signingKeyFile: {
    flag: 'signing-key-file',
    argument: 'FILE',
    meaning:
      'secrets for signing tokens, one per line, the first for new tokens; without it the server creates its own',
    ...OPTIONAL_FILE,
  } satisfies Setting<string | null>,
  metricsHost: {
    flag: 'metrics-host',
    argument: 'ADDRESS',
    meaning: 'address on which /metrics is served',
    fallback: '127.0.0.1',
    read: readHost,
    accepts: ACCEPTED_HOSTS,
  } satisfies Setting<string>,
  metricsPort: {
    flag: 'metrics-port',
    argument: 'PORT',
    meaning: 'port on which /metrics is served; 0 chooses a free port, off disables /metrics',
    fallback: 9464,
    read: (text) => (text === 'off' ? text : integerBetween(0, 65_535)(text)),
    accepts: 'a whole number from 0 to 65535, or off',
  } satisfies Setting<number | 'off'>,
  redis: {
    flag: 'redis-url',
    argument: 'URL',
    meaning: 'Redis or Valkey for the counters that several servers share; without it each server counts separately',
    fallback: null,
    read: parseRedisUrl,
    accepts: 'redis://HOST:PORT, redis+sentinel://HOST:PORT,…/NAME or redis+cluster://HOST:PORT,… (rediss for TLS)',
    isSecret: true,
  } satisfies Setting<RedisAddress | null>,
  redisPrefix: {
    flag: 'redis-prefix',
    argument: 'NAME',
    meaning: 'prefix of every key in Redis, so that several installations can share one Redis',
    fallback: 'urlwarden',
    read: (text) => (/^[A-Za-z0-9_.:-]{1,64}$/.test(text) ? text : null),
    accepts: 'up to 64 letters, digits and . _ : -',
  } satisfies Setting<string>,
  limitsWhenRedisIsDown: {
    flag: 'limits-when-redis-is-down',
    argument: 'WORD',
    meaning: 'while Redis is down, local: each server uses its own counters; refuse: queries fail with 503',
    fallback: 'local',
    ...oneOf(WHEN_REDIS_IS_DOWN),
  } satisfies Setting<(typeof WHEN_REDIS_IS_DOWN)[number]>,
  asnDb: {
    flag: 'asn-db',
    argument: 'FILE',
    meaning: 'table that maps IP addresses to networks (ASN): an MMDB file, or npm for the package @ip-location-db/asn',
    fallback: null,
    read: readPath,
    resolveIn: (folder, path) => (path === 'npm' ? path : resolve(folder, path)),
    accepts: 'the path of a file or folder, or npm',
  } satisfies Setting<string | null>,
  listedExact: {
    flag: 'listed-exact',
    meaning: 'listed/… for one address returns only its own listings, not those of wider networks around it',
    ...SWITCH,
  } satisfies Setting<boolean>,
  resolvesHosts: {
    flag: 'resolve',
    meaning: 'resolve the hosts of URLs that feeds report as currently online, by DNS at a limited rate',
    ...SWITCH,
  } satisfies Setting<boolean>,
  allowReserved: {
    flag: 'allow-reserved',
    meaning: 'list private, documentation and other reserved networks too, for tests; --demo implies it',
    ...SWITCH,
  } satisfies Setting<boolean>,
  feedsAllowPrivate: {
    flag: 'feeds-allow-private',
    argument: 'CIDR,…',
    meaning: 'private networks from which feeds added with --private may be downloaded',
    fallback: [],
    read: readNetworks,
    accepts: 'addresses or networks separated by commas, such as 10.0.0.0/8,fd12::/16, without /0',
  } satisfies Setting<readonly string[]>,
  maxUnpackedBytes: {
    flag: 'max-unpacked-bytes',
    argument: 'BYTES',
    meaning: 'maximum unpacked size of an import source',
    fallback: 16 * 2 ** 30,
    read: integerBetween(1, 2 ** 50),
    accepts: 'a whole number of bytes',
  } satisfies Setting<number>,
  maxUnpackRatio: {
    flag: 'max-unpack-ratio',
    argument: 'RATIO',
    meaning: 'maximum ratio of unpacked to packed size of an import source',
    fallback: 200,
    read: integerBetween(1, 2_000),
    accepts: 'a whole number from 1 to 2000 (deflate reaches 1032)',
  } satisfies Setting<number>,
  maxLineBytes: {
    flag: 'max-line-bytes',
    argument: 'BYTES',
    meaning: 'maximum length of a line, or of a JSON record, in an import source',
    fallback: 2 ** 20,
    ...wholeNumber(1_024, 2 ** 28),
  } satisfies Setting<number>,
  logLevel: {
    flag: 'log-level',
    argument: 'LEVEL',
    meaning: 'least severe level that is logged to standard error: error, warn, info or debug',
    fallback: 'warn',
    ...oneOf(LOG_LEVELS),
  } satisfies Setting<LogLevel>,
  familiesFile: {
    flag: 'families',
    argument: 'FILE',
    meaning:
      'names of malware families, one per line, in addition to the built-in and stored ones: a tag with such a name is a family',
    ...OPTIONAL_FILE,
  } satisfies Setting<string | null>,
  usageMonths: {
    flag: 'usage-months',
    argument: 'NUMBER',
    meaning: 'how many months before the current one the usage of accounts is kept',
    fallback: 24,
    ...wholeNumber(1, 1_200),
  } satisfies Setting<number>,
  changeDays: {
    flag: 'change-days',
    argument: 'DAYS',
    meaning: 'how long entries of the change feed are kept; a reader that was away longer has to load a full list',
    fallback: 30,
    ...wholeNumber(1, 3_650),
  } satisfies Setting<number>,
  auditMonths: {
    flag: 'audit-months',
    argument: 'MONTHS',
    meaning: 'how long entries of the audit log are kept; older ones are deleted once a day',
    fallback: 24,
    ...wholeNumber(1, 1_200),
  } satisfies Setting<number>,
  softLimitWebhookUrl: {
    flag: 'soft-limit-webhook-url',
    argument: 'URL',
    meaning: 'where a POST request is sent when an account passes its soft limit; requires a secret to sign it',
    fallback: null,
    read: readHttpUrl,
    accepts: 'an http or https URL without user and password',
    isSecret: true,
  } satisfies Setting<string | null>,
  softLimitWebhookSecretFile: {
    flag: 'soft-limit-webhook-secret-file',
    argument: 'FILE',
    meaning: 'file whose first line is the secret that signs those requests, 32 characters or more',
    ...OPTIONAL_FILE,
  } satisfies Setting<string | null>,
  softLimitWebhookAllowPrivate: {
    flag: 'soft-limit-webhook-allow-private',
    argument: 'CIDR,…',
    meaning: 'private networks in which the receiver of those requests may be',
    fallback: [],
    read: readNetworks,
    accepts: 'addresses or networks separated by commas, such as 10.0.0.0/8,fd12::/16, without /0',
  } satisfies Setting<readonly string[]>,
  accessLogSample: {
    flag: 'access-log-sample',
    argument: 'SHARE',
    meaning: 'share of requests that are logged, one line each, at every log level; 0 logs none',
    fallback: 0,
    read: readShare,
    accepts: 'a number from 0 to 1, such as 0.01',
  } satisfies Setting<number>,
  accessLogQueries: {
    flag: 'access-log-queries',
    meaning: 'log with such a request also the URL, host, address or domain that was asked for',
    ...SWITCH,
  } satisfies Setting<boolean>,
};

export type Settings = SettingValues<typeof SETTINGS>;

/** The value of every setting without flags and variables. */
export const DEFAULT_SETTINGS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback]),
) as unknown as Settings;

/** Errors in the combination of settings. */
export function conflictsOf(settings: Settings): string[] {
  const { host, demo, tlsCertFile, tlsKeyFile, databaseUrl, databaseReadUrls } = settings;
  const conflicts: string[] = [];
  if (demo && !isLoopback(host)) {
    conflicts.push('--demo uses a publicly known password: use it only with a loopback --host');
  }
  if ((tlsCertFile === null) !== (tlsKeyFile === null)) {
    conflicts.push('--tls-cert and --tls-key belong together: set both or neither');
  }
  if (demo && databaseUrl !== null) {
    conflicts.push('--demo stores its data in a folder: use it without --database-url');
  }
  if ((settings.softLimitWebhookUrl === null) !== (settings.softLimitWebhookSecretFile === null)) {
    conflicts.push(
      '--soft-limit-webhook-url and --soft-limit-webhook-secret-file belong together: set both or neither',
    );
  }
  if (databaseUrl === null && databaseReadUrls.length > 0) {
    conflicts.push('--database-read-url lists replicas of --database-url: set --database-url too');
  }
  return conflicts;
}
