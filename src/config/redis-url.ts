import { percentDecoded } from '../core/text.ts';

/** The address of a Redis, and how to connect to it. */
export type RedisAddress = {
  kind: 'standalone' | 'sentinel' | 'cluster';
  isTls: boolean;
  /** The server; for Sentinel and Cluster some of the nodes, from which the driver discovers the others. */
  hosts: readonly { host: string; port: number }[];
  username: string | null;
  password: string | null;
  db: number;
  /** With Sentinel: the name of the monitored primary. */
  masterName: string | null;
  /** With Sentinel: the password of the sentinels themselves. */
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
  const target = readTarget(kind, path);
  const credentials = readLogin(login);
  if (target === null || credentials === null || !hosts.every((host) => host !== null)) return null;
  if (kind === 'standalone' && hosts.length > 1) return null;
  const secret = sentinelPassword === undefined ? null : percentDecoded(sentinelPassword);
  if (sentinelPassword !== undefined && (kind !== 'sentinel' || !secret)) return null;
  return { kind, isTls: tls === 's', hosts, ...credentials, ...target, sentinelPassword: secret };
}

function readHost(text: string, fallbackPort: number): { host: string; port: number } | null {
  const [, v6, name, digits] = HOST.exec(text) ?? [];
  const host = v6 ?? name;
  const port = digits === undefined ? fallbackPort : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

/** The path after the hosts: the database, with Sentinel after the name. A Cluster has only one database. */
function readTarget(kind: RedisAddress['kind'], path: string): Pick<RedisAddress, 'masterName' | 'db'> | null {
  const parts = path === '' ? [] : path.split('/');
  const masterName = kind === 'sentinel' ? percentDecoded(parts.shift() ?? '') : null;
  const [db = '0', ...others] = parts;
  if ((kind === 'sentinel' && !masterName) || others.length > 0 || !/^[0-9]{1,5}$/.test(db)) return null;
  return kind === 'cluster' && parts.length > 0 ? null : { masterName, db: Number(db) };
}

function readLogin(text: string): Pick<RedisAddress, 'username' | 'password'> | null {
  if (text === '') return { username: null, password: null };
  const colon = text.indexOf(':');
  const [username, password] = [
    percentDecoded(text.slice(0, Math.max(colon, 0))),
    percentDecoded(text.slice(colon + 1)),
  ];
  if (colon === -1 || username === null || !password) return null;
  return { username: username || null, password };
}
