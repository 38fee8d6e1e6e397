import { randomBytes } from 'node:crypto';
import { openControl } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { DEFAULT_FILTER } from '../../src/exports/built-in.ts';
import { KEY_PREFIX, keyHash } from '../../src/exports/keys.ts';
import type { ListFilter } from '../../src/exports/store.ts';
import { Type } from '../../src/http/schema.ts';
import { LAST_FIRST_TS } from '../shared/observations.ts';
import { known, lookupMs } from './bulk.ts';
import { alternate, type Bench, type Figure, type Row } from './harness/figure.ts';
import { load, type Requests } from './harness/load.ts';
import { cpuSeconds } from './harness/measure.ts';
import { startUrlwarden, startYardstick, type Urlwarden } from './harness/servers.ts';
import { warmUp } from './lookups.ts';

const URLS = 1_000_000;
const DEVICES = 1_000;
/** The URLs of so many days: about 100,000, in any status. */
const DAYS = 65;
/** Lists with the same content. The first fetch of each one is a build; all of them are needed for ten rounds. */
const LISTS = 100;

/**
 * About 100,000 URLs of any age: none of them ends during a run, so the ETag stays. Of a list by age one ends every minute.
 */
const STABLE: Partial<ListFilter> = {
  maxAgeSeconds: 50 * 365 * 86_400,
  reporters: ['reporter0', 'reporter1', 'reporter2'],
};

const listName = (i: number): string => `bench-${i}`;
const fileOf = (i: number): string => `${listName(i)}.txt`;

/** Defines the lists, and a key of the first one for each device. Returns the keys. */
async function defineLists(dataDir: string): Promise<string[]> {
  const control = await openControl({ dataDir });
  const nowTs = Math.floor(Date.now() / 1000);
  const byAge: Partial<ListFilter> = { maxAgeSeconds: nowTs - LAST_FIRST_TS + DAYS * 86_400 };
  try {
    const [account] = await control.accounts();
    if (account === undefined) throw new Error('the first account is missing');
    for (let i = 0; i < LISTS; i++) {
      await control.removeListDefinition(listName(i)); // with the keys of an earlier run
      const filter = { ...DEFAULT_FILTER, status: 'any', ...(i === 0 ? STABLE : byAge) } as const;
      await control.addListDefinition({ name: listName(i), kind: 'urls', description: '', filter, changedTs: nowTs });
    }
    const keys = Array.from({ length: DEVICES }, () => `${KEY_PREFIX}${randomBytes(20).toString('hex')}`);
    for (const [i, key] of keys.entries()) {
      const made = { list: listName(0), device: `device ${i}`, sub: account.sub, createdTs: nowTs };
      await control.addListKey(made, keyHash(key));
    }
    return keys;
  } finally {
    await control.close();
  }
}

/** Without the body, which a client in this process could not read a thousand times. */
async function head({ url, authorization }: Urlwarden, i: number, encoding = 'identity'): Promise<Headers> {
  const response = await fetch(`${url}${paths.list.replace(':file', fileOf(i))}`, {
    method: 'HEAD',
    // By default as the load, which sends no Accept-Encoding: each encoding has an ETag of its own.
    headers: { authorization, 'accept-encoding': encoding },
  });
  if (response.status !== 200) throw new Error(`the list answers ${response.status}`);
  return response.headers;
}

type Fetched = { seconds: number; cpuSeconds: number };

/** What devices wait for when they fetch a list at once, and the processor time of the server meanwhile. */
async function firstFetch(server: Urlwarden, i: number, devices: number, encoding?: string): Promise<Fetched> {
  const before = cpuSeconds(server.child.pid);
  const startMs = performance.now();
  await Promise.all(Array.from({ length: devices }, () => head(server, i, encoding)));
  return { seconds: (performance.now() - startMs) / 1000, cpuSeconds: cpuSeconds(server.child.pid) - before };
}

/** Fetches that the server answers with 304, against a bare route that always does. */
async function compare304(bench: Bench, server: Urlwarden, keys: readonly string[], etag: string): Promise<Figure> {
  const { rounds, seconds } = bench;
  const yardstick = await startYardstick({
    engine: 'fastify',
    path: paths.listByKey,
    request: null,
    response: Type.String(),
    status: 304,
    body: '',
  });
  const requests: Requests = {
    method: 'GET',
    headers: { 'if-none-match': etag },
    paths: keys.map((key) => paths.listByKey.replace(':key', key).replace(':file', fileOf(0))),
    bodies: [],
    isRefused: false,
    status: 304,
  };
  try {
    const rate = (url: string) => async (forSeconds: number) => (await load(url, requests, forSeconds)).perSecond;
    const [bare, ours] = [rate(yardstick.url), rate(server.url)];
    await warmUp(bare, ours);
    const rates = await alternate(
      rounds,
      () => bare(seconds),
      () => ours(seconds),
    );
    const name = `lists, 304 to ${DEVICES.toLocaleString('en')} devices / bare Fastify`;
    return { name, unit: '/s', ...rates, mark: { of: 'ratio', atLeast: 0.5 } };
  } finally {
    await yardstick.stop();
  }
}

/** Lists for devices: what is unchanged, what is built, and lookups meanwhile. */
export const lists: Row = {
  name: 'lists',
  async measure(bench: Bench) {
    const { dataDir, rounds, seconds } = bench;
    const folder = dataDir(URLS);
    await (await startUrlwarden(folder)).stop(); // the first start creates the account
    const keys = await defineLists(folder);
    const server = await startUrlwarden(folder);
    try {
      const headers = await head(server, 0);
      const unchanged = await compare304(bench, server, keys, headers.get('etag') ?? '');
      let next = 1;
      const first = await alternate(
        rounds,
        async () => {
          const one = await firstFetch(server, next, 1);
          return { ...one, devicesCpuSeconds: (await firstFetch(server, next++, DEVICES)).cpuSeconds };
        },
        async () => ({ ...(await firstFetch(server, next++, DEVICES)), devicesCpuSeconds: 0 }),
      );
      const gzip: Fetched[] = [];
      for (let round = 0; round < rounds; round++) gzip.push(await firstFetch(server, next++, 1, 'gzip'));
      const count = (await head(server, 1)).get('x-list-entries');
      const urls = known();
      const beside = await alternate(
        rounds,
        () => lookupMs(server, urls, seconds),
        async () => {
          let isDone = false;
          const building = async () => {
            while (!isDone && next < LISTS) await head(server, next++);
          };
          const running = building();
          const ms = await lookupMs(server, urls, seconds);
          isDone = true;
          await running;
          return ms;
        },
      );
      const entries = `${Number(count).toLocaleString('en')} entries`;
      const cpu = (fetched: readonly Fetched[]) => fetched.map(({ cpuSeconds: used }) => used);
      const build = (name: string, fetched: readonly Fetched[]): Figure[] => {
        const built = { unit: 's', yardstick: null };
        const waited = fetched.map(({ seconds: elapsed }) => elapsed);
        return [
          { name: `lists, building ${entries}, ${name}`, ...built, ours: waited, mark: { of: 'ours', atMost: 1 } },
          { name: `lists, building ${entries}, ${name}, CPU`, ...built, ours: cpu(fetched), mark: null },
        ];
      };
      const allowed = beside.yardstick.map((ms) => Math.max(2 * ms, ms + 3));
      return [
        unchanged,
        ...build('plain text', first.yardstick),
        ...build('gzip', gzip),
        {
          name: `lists, first fetch by ${DEVICES.toLocaleString('en')} devices at once, CPU / by one, then by the others`,
          unit: 's',
          ours: cpu(first.ours),
          mark: { of: 'ratio', atMost: 2 },
          yardstick: first.yardstick.map((one) => one.cpuSeconds + one.devicesCpuSeconds),
        },
        { name: 'lists, p99 of url/last beside building / alone', unit: 'ms', ...beside, mark: null },
        {
          name: 'lists, the same / twice, or 3 ms more',
          unit: 'ms',
          ours: beside.ours,
          yardstick: allowed,
          mark: { of: 'ratio', atMost: 1 },
        },
      ];
    } finally {
      await server.stop();
    }
  },
};
