import { parseIp } from '../core/ip.ts';
import type { Setting, SettingValues } from './read-settings.ts';

/** Every setting of the server. */
export const SETTINGS = {
  host: {
    flag: 'host',
    argument: 'ADDRESS',
    meaning: 'address to listen on',
    fallback: '127.0.0.1',
    read: (text) => (isLoopback(text) ? text : null),
    accepts: 'a loopback address such as 127.0.0.1, ::1 or localhost, as long as there are no accounts',
  } satisfies Setting<string>,
  port: {
    flag: 'port',
    argument: 'PORT',
    meaning: 'port to listen on; 0 takes any free one',
    fallback: 8080,
    read: integerUpTo(65_535),
    accepts: 'a whole number from 0 to 65535',
  } satisfies Setting<number>,
  dataDir: {
    flag: 'data',
    argument: 'DIR',
    meaning: 'folder of the database, made when missing',
    fallback: './data',
    read: (text) => text || null,
    accepts: 'the path of a folder',
  } satisfies Setting<string>,
  demo: {
    flag: 'demo',
    meaning: 'serve made-up data from a folder of its own, DIR/demo',
    fallback: false,
    read: readSwitch,
    accepts: 'true or false',
  } satisfies Setting<boolean>,
  queryBudgetMs: {
    flag: 'query-budget-ms',
    argument: 'MS',
    meaning: 'how long a query may look for its first record before it is answered with 408',
    fallback: 10_000,
    read: integerUpTo(3_600_000),
    accepts: 'a whole number of milliseconds up to 3600000',
  } satisfies Setting<number>,
};

export type Settings = SettingValues<typeof SETTINGS>;

function integerUpTo(greatest: number) {
  return (text: string): number | null => (/^\d{1,9}$/.test(text) && Number(text) <= greatest ? Number(text) : null);
}

function readSwitch(text: string): boolean | null {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

/** 127.0.0.0/8, ::1, or the name that stands for them. */
function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const key = parseIp(host);
  if (key === null) return false;
  return LOOPBACKS.some((prefix) => prefix.every((byte, i) => key[i] === byte));
}

const LOOPBACKS = [
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127],
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
];
