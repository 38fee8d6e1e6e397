/** Where a Redis is and how it is asked for its keys. */
export type RedisAddress = {
  kind: 'standalone' | 'sentinel' | 'cluster';
  isTls: boolean;
  /** The server; of Sentinel and Cluster some of the nodes, which tell of the others. */
  hosts: readonly { host: string; port: number }[];
  username: string | null;
  password: string | null;
  db: number;
  /** With Sentinel: the name that the watched server has there. */
  masterName: string | null;
  /** With Sentinel: what the sentinels themselves ask for. */
  sentinelPassword: string | null;
};

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

const FORM =
  /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?sentinel_password=([^&#]*))?$/;
const HOST = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?$/;

/**
 * `redis://[[user]:password@]host[:port][/db]`,
 * `redis+sentinel://[[user]:password@]host[:port],…/name[/db][?sentinel_password=…]`,
 * `redis+cluster://[[user]:password@]host[:port],…`; `rediss` for TLS. Null for any other text.
 */
export function parseRedisUrl(text: string): RedisAddress | null {
  const match = FORM.exec(text);
  if (match === null) return null;
  const [, tls, suffix, login = '', hostList = '', path = '', sentinelPassword] = match;
  const kind = (suffix ?? 'standalone') as RedisAddress['kind'];
  const hosts = hostList.split(',').map((host) => readHost(host, kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT));
  const place = readPlace(kind, path);
  const credentials = readLogin(login);
  if (place === null || credentials === null || !hosts.every((host) => host !== null)) return null;
  if (kind === 'standalone' && hosts.length > 1) return null;
  const secret = sentinelPassword === undefined ? null : decoded(sentinelPassword);
  if (sentinelPassword !== undefined && (kind !== 'sentinel' || !secret)) return null;
  return { kind, isTls: tls === 's', hosts, ...credentials, ...place, sentinelPassword: secret };
}

function readHost(text: string, fallbackPort: number): { host: string; port: number } | null {
  const [, v6, name, digits] = HOST.exec(text) ?? [];
  const host = v6 ?? name;
  const port = digits === undefined ? fallbackPort : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

/** Behind the hosts: the database; with Sentinel the name before it. A Cluster has one database only. */
function readPlace(kind: RedisAddress['kind'], path: string): Pick<RedisAddress, 'masterName' | 'db'> | null {
  const parts = path === '' ? [] : path.split('/');
  const masterName = kind === 'sentinel' ? decoded(parts.shift() ?? '') : null;
  const [db = '0', ...others] = parts;
  if ((kind === 'sentinel' && !masterName) || others.length > 0 || !/^[0-9]{1,5}$/.test(db)) return null;
  return kind === 'cluster' && parts.length > 0 ? null : { masterName, db: Number(db) };
}

function readLogin(text: string): Pick<RedisAddress, 'username' | 'password'> | null {
  if (text === '') return { username: null, password: null };
  const colon = text.indexOf(':');
  const [username, password] = [decoded(text.slice(0, Math.max(colon, 0))), decoded(text.slice(colon + 1))];
  if (colon === -1 || username === null || !password) return null;
  return { username: username || null, password };
}

/** Null when the text escapes nothing that is text. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
