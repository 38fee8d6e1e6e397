import type { Setting, SettingValues } from './read-settings.ts';
import { parseRedisUrl, type RedisAddress } from './redis-url.ts';
import {
  integerBetween,
  isLoopback,
  readHost,
  readNetworks,
  readPath,
  readPostgresUrl,
  readPostgresUrls,
  readSwitch,
} from './setting-values.ts';

/** Tokens live below 24 days: 2^31 milliseconds, where timers of many clients overflow. */
const TOKEN_LIFE_MAX_SECONDS = 24 * 86_400 - 1;

/** What each one writes is in docs/operating.md. */
const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What becomes of queries while Redis is away. */
const WHEN_REDIS_IS_DOWN = ['local', 'refuse'] as const;

const ACCEPTED_HOSTS = 'an IP address such as 127.0.0.1, 0.0.0.0 or ::, or localhost';

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
    meaning: 'port to listen on; 0 takes any free one',
    fallback: 8080,
    read: integerBetween(0, 65_535),
    accepts: 'a whole number from 0 to 65535',
  } satisfies Setting<number>,
  dataDir: {
    flag: 'data',
    argument: 'DIR',
    meaning: 'folder of the database, made when missing',
    fallback: './data',
    read: readPath,
    accepts: 'the path of a folder',
  } satisfies Setting<string>,
  databaseUrl: {
    flag: 'database-url',
    argument: 'URL',
    meaning: 'keep the data in PostgreSQL instead; of several hosts, in the one that accepts writes',
    fallback: null,
    read: readPostgresUrl,
    accepts: 'like postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE',
    isSecret: true,
  } satisfies Setting<string | null>,
  databaseReadUrls: {
    flag: 'database-read-url',
    argument: 'URL,…',
    meaning: 'replicas of that database, which answer lookups',
    fallback: [],
    read: readPostgresUrls,
    accepts: 'URLs of PostgreSQL databases separated by commas',
    isSecret: true,
  } satisfies Setting<readonly string[]>,
  databaseConnections: {
    flag: 'database-connections',
    argument: 'NUMBER',
    meaning: 'connections to each of these databases at most',
    fallback: 10,
    read: integerBetween(1, 1_000),
    accepts: 'a whole number from 1 to 1000',
  } satisfies Setting<number>,
  demo: {
    flag: 'demo',
    meaning: 'serve made-up data from a folder of its own, DIR/demo',
    fallback: false,
    read: readSwitch,
    accepts: 'true or false',
  } satisfies Setting<boolean>,
  tokenLifeSeconds: {
    flag: 'token-life-seconds',
    argument: 'SECONDS',
    meaning: 'how long a token is valid',
    fallback: 86_400,
    read: integerBetween(60, TOKEN_LIFE_MAX_SECONDS),
    accepts: `a whole number from 60 to ${TOKEN_LIFE_MAX_SECONDS} (below 24 days)`,
  } satisfies Setting<number>,
  queryBudgetMs: {
    flag: 'query-budget-ms',
    argument: 'MS',
    meaning: 'how long a query may look for its first record before it is answered with 408',
    fallback: 10_000,
    read: integerBetween(1, 3_600_000),
    accepts: 'a whole number of milliseconds from 1 to 3600000',
  } satisfies Setting<number>,
  tlsCertFile: {
    flag: 'tls-cert',
    argument: 'FILE',
    meaning: 'certificate and chain (PEM): answer over HTTPS; with --tls-key',
    fallback: null,
    read: readPath,
    accepts: 'the path of a file',
  } satisfies Setting<string | null>,
  tlsKeyFile: {
    flag: 'tls-key',
    argument: 'FILE',
    meaning: 'private key of the certificate (PEM)',
    fallback: null,
    read: readPath,
    accepts: 'the path of a file',
  } satisfies Setting<string | null>,
  trustedProxies: {
    flag: 'trust-proxy',
    argument: 'CIDR,…',
    meaning: 'addresses of proxies whose X-Forwarded-For is believed',
    fallback: [],
    read: readNetworks,
    accepts: 'addresses or networks separated by commas, such as 10.0.0.0/8,2001:db8::1, and not everyone (/0)',
  } satisfies Setting<readonly string[]>,
  signingKeyFile: {
    flag: 'signing-key-file',
    argument: 'FILE',
    meaning: 'secrets that sign tokens, one a line, the first signs; without it they are made and kept in DIR',
    fallback: null,
    read: readPath,
    accepts: 'the path of a file',
  } satisfies Setting<string | null>,
  metricsHost: {
    flag: 'metrics-host',
    argument: 'ADDRESS',
    meaning: 'address on which /metrics answers',
    fallback: '127.0.0.1',
    read: readHost,
    accepts: ACCEPTED_HOSTS,
  } satisfies Setting<string>,
  metricsPort: {
    flag: 'metrics-port',
    argument: 'PORT',
    meaning: 'port of /metrics; 0 takes any free one, off has none',
    fallback: 9464,
    read: (text) => (text === 'off' ? text : integerBetween(0, 65_535)(text)),
    accepts: 'a whole number from 0 to 65535, or off',
  } satisfies Setting<number | 'off'>,
  redis: {
    flag: 'redis-url',
    argument: 'URL',
    meaning: 'Redis or Valkey in which several servers count queries and logins together; without it each counts alone',
    fallback: null,
    read: parseRedisUrl,
    accepts: 'redis://HOST:PORT, redis+sentinel://HOST:PORT,…/NAME or redis+cluster://HOST:PORT,… (rediss for TLS)',
    isSecret: true,
  } satisfies Setting<RedisAddress | null>,
  redisPrefix: {
    flag: 'redis-prefix',
    argument: 'NAME',
    meaning: 'what every key in Redis begins with, so that several installations can share one',
    fallback: 'urlwarden',
    read: (text) => (/^[A-Za-z0-9_.:-]{1,64}$/.test(text) ? text : null),
    accepts: 'up to 64 letters, digits and . _ : -',
  } satisfies Setting<string>,
  limitsWhenRedisIsDown: {
    flag: 'limits-when-redis-is-down',
    argument: 'WORD',
    meaning: 'local: each server goes by its own counts meanwhile; refuse: queries are answered with 503',
    fallback: 'local',
    read: (text) => WHEN_REDIS_IS_DOWN.find((word) => word === text) ?? null,
    accepts: 'local or refuse',
  } satisfies Setting<(typeof WHEN_REDIS_IS_DOWN)[number]>,
  asnDb: {
    flag: 'asn-db',
    argument: 'FILE',
    meaning: 'table of networks (IP → ASN): an MMDB file, or npm for the package @ip-location-db/asn',
    fallback: null,
    read: readPath,
    accepts: 'the path of a file or folder, or npm',
  } satisfies Setting<string | null>,
  resolvesHosts: {
    flag: 'resolve',
    meaning: 'look up by DNS, at a bounded rate, the hosts of URLs that feeds report as online now',
    fallback: false,
    read: readSwitch,
    accepts: 'true or false',
  } satisfies Setting<boolean>,
  feedsAllowPrivate: {
    flag: 'feeds-allow-private',
    argument: 'CIDR,…',
    meaning: 'networks of your own that feeds added with --private may be fetched from',
    fallback: [],
    read: readNetworks,
    accepts: 'addresses or networks separated by commas, such as 10.0.0.0/8,fd12::/16, and not everything (/0)',
  } satisfies Setting<readonly string[]>,
  maxUnpackedBytes: {
    flag: 'max-unpacked-bytes',
    argument: 'BYTES',
    meaning: 'how large a source of an import may be when unpacked',
    fallback: 16 * 2 ** 30,
    read: integerBetween(1, 2 ** 50),
    accepts: 'a whole number of bytes',
  } satisfies Setting<number>,
  maxUnpackRatio: {
    flag: 'max-unpack-ratio',
    argument: 'RATIO',
    meaning: 'how many bytes one packed byte of a source may become',
    fallback: 200,
    read: integerBetween(1, 2_000),
    accepts: 'a whole number from 1 to 2000 (deflate reaches 1032)',
  } satisfies Setting<number>,
  maxLineBytes: {
    flag: 'max-line-bytes',
    argument: 'BYTES',
    meaning: 'how long a line, or a record in JSON, of a source may be',
    fallback: 2 ** 20,
    read: integerBetween(1_024, 2 ** 28),
    accepts: `a whole number from 1024 to ${2 ** 28}`,
  } satisfies Setting<number>,
  logLevel: {
    flag: 'log-level',
    argument: 'LEVEL',
    meaning: 'what is logged to standard error: error, warn, info or debug',
    fallback: 'warn',
    read: (text) => LOG_LEVELS.find((level) => level === text) ?? null,
    accepts: 'error, warn, info or debug',
  } satisfies Setting<LogLevel>,
};

export type Settings = SettingValues<typeof SETTINGS>;

/** What a server has that was told nothing. */
export const DEFAULT_SETTINGS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback]),
) as unknown as Settings;

/** What single settings cannot tell. */
export function conflictsOf(settings: Settings): string[] {
  const { host, demo, tlsCertFile, tlsKeyFile, databaseUrl, databaseReadUrls } = settings;
  const conflicts: string[] = [];
  if (demo && !isLoopback(host)) {
    conflicts.push('--demo has a password that everyone knows: use it with a loopback --host only');
  }
  if ((tlsCertFile === null) !== (tlsKeyFile === null)) {
    conflicts.push('--tls-cert and --tls-key go together: give both or none');
  }
  if (demo && databaseUrl !== null) {
    conflicts.push('--demo keeps its data in a folder: use it without --database-url');
  }
  if (databaseUrl === null && databaseReadUrls.length > 0) {
    conflicts.push('--database-read-url names replicas of --database-url: give that too');
  }
  return conflicts;
}
